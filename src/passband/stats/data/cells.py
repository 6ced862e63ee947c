"""Cells of a table: names, scores as people write them, and what counts as nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from passband.errors import InvalidInput
from passband.stats.data.coded import CodedColumn
from passband.types import Floats, Ints

__all__ = [
    "ABSENT",
    "BOOLEAN",
    "distinct_labels",
    "is_absent",
    "is_nameless",
    "label",
    "listing",
    "number",
    "number_labels",
    "parse_scores",
    "shortened",
]

_YES = frozenset({"true", "yes", "pass", "passed", "correct", "success"})
_NO = frozenset({"false", "no", "fail", "failed", "incorrect", "wrong", "failure"})
ABSENT = frozenset({"", "na", "n/a", "nan", "none", "null", "missing", "<na>"})
BOOLEAN = _YES | _NO | {"0", "1"}
_CHUNK = 1024  # rows between two looks at how many labels there are


def label(value: object) -> str:
    """Write a value as a name; 3.0 and 3 are the same one.

    >>> label(3.0), label("a")
    ('3', 'a')
    """
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def is_absent(value: object) -> bool:
    """Return whether a cell that should hold a name is empty."""
    return value is None or str(value).strip() in ("", "nan", "<NA>")


def is_nameless(value: object) -> bool:
    """Return whether a cell that should name a problem is empty; "nan" as text is a name."""
    return not value.strip() if isinstance(value, str) else is_absent(value)


def number(value: Any) -> float:
    """Return a cell as a number, or raise an error; 1_0 is one in Python code and not in data."""
    if isinstance(value, str) and "_" in value:
        raise ValueError(value)
    return float(value)


def shortened(text: str) -> str:
    """Cut a text to 60 characters."""
    return text if len(text) <= 60 else text[:57] + "..."


def listing(names: Iterable[object], most: int = 12) -> str:
    """Write out names, the first dozen of them."""
    texts = [shortened(str(name)) for name in names]
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return ", ".join(texts[:most]) + more


def number_labels(values: Sequence[object]) -> tuple[Ints, list[str]]:
    """Return the number of each value's label, and the labels in order of first appearance."""
    if isinstance(values, CodedColumn):
        own, labels = number_labels(values.values)
        return own[values.codes], labels
    try:
        distinct = dict.fromkeys(values)
    except TypeError:  # lists and the like cannot be looked up
        values = [label(value) for value in values]
        distinct = dict.fromkeys(values)
    numbers: dict[str, int] = {}
    number_of = {v: numbers.setdefault(label(v), len(numbers)) for v in distinct}
    return np.fromiter(map(number_of.__getitem__, values), np.int64, len(values)), list(numbers)


def distinct_labels(values: Sequence[object], most: int) -> list[str] | None:
    """Return the labels of a column, or None if there are more than `most`.

    A column of long texts is left after its first rows.
    """
    if isinstance(values, CodedColumn):
        values = values.values
    labels: dict[str, None] = {}
    for start in range(0, len(values), _CHUNK):
        chunk = values[start : start + _CHUNK]
        try:
            distinct: Iterable[object] = dict.fromkeys(chunk)
        except TypeError:
            distinct = chunk
        labels.update(dict.fromkeys(map(label, distinct)))
        if len(labels) > most:
            return None
    return list(labels)


def parse_scores(name: str, column: Sequence[object]) -> Floats:
    """Read scores: numbers, booleans, words for yes and no, or nothing (NaN)."""
    if isinstance(column, CodedColumn):
        scores = np.array([_score(name, value, column) for value in column.values])
        return scores[column.codes]
    try:
        known = dict.fromkeys(column, np.nan)
    except TypeError:  # lists and the like cannot be looked up, though a few can be read
        return np.array([_score(name, value, column) for value in column])
    for value in known:
        known[value] = _score(name, value, column)
    return np.fromiter(map(known.__getitem__, column), np.float64, len(column))


def _score(name: str, value: object, column: Sequence[object]) -> float:
    text = "" if value is None else str(value).strip().lower()
    if text in ABSENT or text in _YES or text in _NO:
        return np.nan if text in ABSENT else float(text in _YES)
    try:
        score = number(value)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(
            f"column {name} must hold numbers, true/false, pass/fail or nothing; "
            f"{_row_with(value, column)}."
        ) from None
    if np.isinf(score):
        raise InvalidInput(f"column {name} must hold finite numbers; {_row_with(value, column)}.")
    return score


def _row_with(value: object, column: Sequence[object]) -> str:
    row = next(row for row, other in enumerate(column, start=1) if other is value)
    return f"row {row} has {shortened(repr(value))}"
