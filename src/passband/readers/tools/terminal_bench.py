"""Results of terminal-bench: `results.json` of a run, with one entry per trial.

    {"results": [{"trial_name": "hello.1-of-2.run1", "task_id": "hello", "is_resolved": true,
                  "failure_mode": "none", ...}], "n_resolved": 1, "accuracy": 0.5}

`run_metadata.json` beside it names the agent, the model, the data set and the planned attempts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput
from passband.files import read_json
from passband.readers.fields import flag, kept_text, key, text, values
from passband.readers.file_head import head_of
from passband.readers.groups import Remark
from passband.readers.log import Log, Source
from passband.readers.log_builder import Clash, LogBuilder
from passband.readers.names import UNKNOWN, label
from passband.readers.options import Options
from passband.readers.reader import register_reader
from passband.readers.records import Items
from passband.stats.data import UNIT
from passband.trials import Status

_SCORER = "is_resolved"
_METADATA = "run_metadata.json"
_ATTEMPT = re.compile(r"\.([1-9]\d{0,5})-of-([1-9]\d{0,5})\.")

#: How a trial ended where its score is kept: the tests ran on whatever the agent had done.
_STATUSES: Mapping[str | None, Status] = {
    "agent_timeout": "limit",
    "context_length_exceeded": "truncated",
    "output_length_exceeded": "truncated",
}
#: The agent's own code failed: the tests ran, but on the work of no model.
_FAULTS = ("unknown_agent_error", "agent_installation_failed")


@register_reader("terminal-bench")
class TerminalBench:
    """Reads the trials of one run."""

    def sniff(self, path: Path) -> bool:
        head = head_of(path)
        results = head.get("results") if isinstance(head, dict) else None
        first = results[0] if isinstance(results, list) and results else None
        return isinstance(first, dict) and first.keys() >= {"task_id", "trial_name", "is_resolved"}

    def read(self, path: Path, options: Options) -> list[Log]:
        """Return the trials, an entry each."""
        content = read_json(path, "json")
        if not isinstance(content, dict):
            raise InvalidInput(f"{path}: is not a results file of terminal-bench.")
        metadata = _metadata(path.with_name(_METADATA))
        task, model = _names(metadata)
        source = Source.of("terminal-bench", path)
        builder = LogBuilder(task, model, source, (_SCORER,), texts=options.texts)
        attempts = _Attempts()
        items = Items(path, options, values(content, "results"))
        for place, record in items:
            with items.checking(place):
                _add(builder, record)
                attempts.add(record)
        for task_id in _planned_tasks(metadata):
            builder.problem(task_id)
        remarks = [*items.remarks(), *attempts.remarks()]
        planned = attempts.planned(metadata)
        return [builder.log(remarks=remarks, planned=planned, scales={_SCORER: UNIT})]


class _Attempts:
    """Names and failures of the trials so far."""

    def __init__(self) -> None:
        self._names: set[tuple[Any, str]] = set()
        self._failures: Counter[str] = Counter()
        self._planned = 0

    def add(self, record: Mapping[str, Any]) -> None:
        """Note a trial that has been read; raise `Clash` where it is there already."""
        name = text(record, "trial_name")
        if name is not None:
            full_name = (record["task_id"], name)
            if full_name in self._names:
                raise Clash(f"the trial {name!r} is there twice; remove one of them.")
            self._names.add(full_name)
            if match := _ATTEMPT.search(name):
                self._planned = max(self._planned, int(match[2]))
        if _fault(record):
            self._failures[text(record, "failure_mode") or UNKNOWN] += 1

    def planned(self, metadata: Mapping[str, Any]) -> int | None:
        """Return the number of attempts at each task, where it is recorded."""
        number = metadata.get("n_attempts")
        if type(number) is int and 0 < number < 1_000_000:
            return number
        return self._planned or None

    def remarks(self) -> Iterator[Remark]:
        count = sum(self._failures.values())
        if count:
            modes = ", ".join(f"{mode} {number}" for mode, number in self._failures.items())
            yield Remark(
                f"{count} {'trial' if count == 1 else 'trials'} without a score ({modes}): the "
                "agent or the tests could not be run. terminal-bench counts them as unresolved, as "
                "--policy fail does",
                important=True,
            )


def _fault(record: Mapping[str, Any]) -> bool:
    """Return whether a trial has no score: of zeros alone to leave out would favour the model."""
    return flag(record, _SCORER) is None or text(record, "failure_mode") in _FAULTS


def _add(builder: LogBuilder, record: Mapping[str, Any]) -> None:
    mode, name = text(record, "failure_mode"), text(record, "trial_name")
    instruction = kept_text(record.get("instruction"))
    fault = _fault(record)
    builder.add(
        key(record, "task_id"),
        status="errored" if fault else _STATUSES.get(mode, "ok"),
        scores={} if fault else {_SCORER: flag(record, _SCORER)},
        messages=[("user", instruction)] if instruction else (),
        error=(mode or "no result") if fault else None,
        prompt_tokens=record.get("total_input_tokens"),
        completion_tokens=record.get("total_output_tokens"),
        request_id=name,
    )


def _metadata(path: Path) -> Mapping[str, Any]:
    try:
        content = read_json(path, "json")
    except InvalidInput:  # names alone rest on it, and the plan
        return {}
    return content if isinstance(content, dict) else {}


def _names(metadata: Mapping[str, Any]) -> tuple[str, str]:
    agent = label(metadata.get("agent_name"), "")
    model = label(metadata.get("model_name"), "")
    version = label(metadata.get("dataset_version"), "")
    task = label(metadata.get("dataset_name"), "terminal-bench")
    return f"{task} {version}".strip(), f"{agent} {model}".strip() or UNKNOWN


def _planned_tasks(metadata: Mapping[str, Any]) -> list[str]:
    tasks = metadata.get("task_ids")
    return [key for key in tasks if isinstance(key, str)] if isinstance(tasks, list) else []
