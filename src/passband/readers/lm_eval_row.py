"""A line of a file of samples of lm-eval: the numbers and texts of one document and filter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from passband.errors import InvalidInput

__all__ = ["Row", "read_row"]

_KEYS = {
    "doc_id", "problem_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter",
    "metrics", "statuses", "doc_hash", "prompt_hash", "target_hash",
}  # fmt: skip
_LARGEST = 1e300  # of a score that can be computed with
_NO_METRIC = "bypass"  # of a run that only generates


@dataclass(frozen=True)
class Row:
    """What a line says of a document under a filter."""

    key: str | int
    filter: str
    doc: Mapping[str, Any]
    values: dict[str, list[float | None]]  # by metric: of each repeat, or one of them all
    without_number: tuple[str, ...]  # metrics of a whole data set, such as BLEU
    texts: list[str | None]  # none where the responses are likelihoods
    has_repeats: bool
    prompt: str | None


def read_row(record: Mapping[str, Any]) -> Row:
    """Return the row of a line; raise `InvalidInput` if it is not one."""
    key, doc = record.get("problem_id", record.get("doc_id")), record.get("doc")
    if not isinstance(key, (str, int)) or isinstance(key, bool):
        raise InvalidInput(f"doc_id must be a whole number or text; got {key!r:.60}.")
    names = list(_metric_names(record))
    repeats = [name for name in names if isinstance(record.get(f"{name}_repeats"), list)]
    numeric = [name for name in names if name in repeats or _is_number(record.get(name))]
    return Row(
        key,
        str(record.get("filter", "none")),
        doc if isinstance(doc, dict) else {},
        {name: _scores(record, name, repeats) for name in numeric},
        tuple(name for name in names if name not in numeric),
        _texts(record.get("resps")),
        bool(repeats),
        _prompt(record.get("arguments")),
    )


def _metric_names(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield the metrics of a line: those that it lists, or else all other columns of numbers."""
    listed = record.get("metrics")
    if isinstance(listed, list):
        yield from (name for name in listed if isinstance(name, str) and name != _NO_METRIC)
        return
    for name, value in record.items():
        if name not in _KEYS and not name.endswith("_repeats") and _is_number(value):
            yield name


def _is_number(value: Any) -> bool:
    return value is None or isinstance(value, (int, float))


def _scores(record: Mapping[str, Any], name: str, repeats: list[str]) -> list[float | None]:
    scores: list[float | None] = (
        record[f"{name}_repeats"] if name in repeats else [record.get(name)]
    )
    for score in scores:
        if not _is_number(score):
            raise InvalidInput(f"{name}_repeats must list numbers; got {score!r:.60}.")
        if score is not None and abs(score) > _LARGEST:
            raise InvalidInput(f"a score of {name} is infinite; remove it, or write null.")
    return scores


def _texts(resps: Any) -> list[str | None]:
    """Return the responses to a request for text; there is one request per document."""
    responses = resps[0] if isinstance(resps, list) and len(resps) == 1 else []
    if not isinstance(responses, list):
        return []
    return responses if all(one is None or isinstance(one, str) for one in responses) else []


def _prompt(arguments: Any) -> str | None:
    first = arguments.get("gen_args_0") if isinstance(arguments, dict) else None
    if first is None and isinstance(arguments, list) and arguments:
        first = arguments[0]
    prompt = first.get("arg_0") if isinstance(first, dict) else None
    if prompt is None and isinstance(first, list) and first:
        prompt = first[0]
    return prompt if isinstance(prompt, str) else None
