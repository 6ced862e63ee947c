"""Results of evalplus: one JSON document with the trials of each problem in a list.

    {"eval": {"HumanEval/0": [{"solution": "...", "base_status": "pass", "plus_status": "fail"}]}}

A trial has passed `base` if it passed the original tests, and `plus` if it passed these and the
additional ones. In older files a problem has two lists instead, `base` and `plus`, of a status and
details each. The document is read as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput
from passband.files import read_json
from passband.readers.file_head import head_of
from passband.readers.log import Log, Source
from passband.readers.log_builder import LogBuilder
from passband.readers.names import plain_name
from passband.readers.options import Options
from passband.readers.reader import register_reader
from passband.readers.records import Items
from passband.stats.data import UNIT

_STATUSES = {
    "pass": True, "success": True,
    "fail": False, "failed": False, "timeout": False, "timed out": False,
}  # fmt: skip


@register_reader("evalplus")
class EvalPlus:
    """Reads a file of `evalplus.evaluate`."""

    def sniff(self, path: Path) -> bool:
        head = head_of(path)
        problems = head.get("eval") if isinstance(head, dict) else None
        first = next(iter(problems.values()), None) if isinstance(problems, dict) else None
        if isinstance(first, list):
            return bool(first) and isinstance(first[0], dict) and "base_status" in first[0]
        return isinstance(first, dict) and isinstance(first.get("base"), list)

    def read(self, path: Path, options: Options) -> list[Log]:
        """Return the log; `plus` is the main score where the additional tests were run."""
        content = read_json(path)
        problems = content.get("eval") if isinstance(content, dict) else None
        if not isinstance(problems, dict):
            raise InvalidInput(f"{path}: has no object named eval, as results of evalplus do.")
        items = Items(path, options, list(_trials(problems)))
        has_plus = any(_plus(item) is not None for _, item in items)
        scorers = ("plus", "base") if has_plus else ("base",)
        source = Source.of("evalplus", path)
        builder = LogBuilder(
            _task(problems), plain_name(path, "_eval_results"), source, scorers, texts=options.texts
        )
        for place, item in items:
            with items.checking(place):
                scores = _scores(item)
                kept = {name: scores[name] for name in scorers}
                builder.add(item["problem"], scores=kept, text=item.get("solution"))
        scales = dict.fromkeys(scorers, UNIT)
        return [builder.log(remarks=items.remarks(), scales=scales)]


def _task(problems: Mapping[str, Any]) -> str:
    """Return the name in front of the problems' numbers, such as HumanEval or Mbpp."""
    return next(iter(problems), "").partition("/")[0] or "evalplus"


def _trials(problems: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the trials, each with its problem; what is none is yielded as it is."""
    for problem, trials in problems.items():
        for trial in _unfolded(trials) if isinstance(trials, dict) else _listed(trials):
            yield {**trial, "problem": problem} if isinstance(trial, dict) else trial


def _listed(trials: Any) -> list[Any]:
    return trials if isinstance(trials, list) else [trials]


def _unfolded(trials: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the trials of the older form."""
    base, plus = (_listed(trials.get(name) or []) for name in ("base", "plus"))
    if not base or (plus and len(plus) != len(base)):
        yield trials.get("base")
        return
    for number, status in enumerate(base):
        yield {
            "base_status": _first(status),
            "plus_status": _first(plus[number]) if plus else None,
        }


def _first(status: Any) -> Any:
    """Return the status of a pair of status and details."""
    return status[0] if isinstance(status, list) and status else status


def _plus(item: Mapping[str, Any]) -> Any:
    return item.get("plus_status")


def _scores(item: Mapping[str, Any]) -> dict[str, float | None]:
    base = _passed(item, "base_status")
    plus = _passed(item, "plus_status") if _plus(item) is not None else None
    if base is None:
        raise InvalidInput("the trial has no base_status.")
    if not base:
        plus = False  # whatever the additional tests say
    return {"plus": None if plus is None else float(plus), "base": float(base)}


def _passed(item: Mapping[str, Any], name: str) -> bool | None:
    status = item.get(name)
    if status is None:
        return None
    if not isinstance(status, str) or status not in _STATUSES:
        known = ", ".join(_STATUSES)
        raise InvalidInput(f"{name} must be one of {known}; got {status!r:.60}.")
    return _STATUSES[status]
