"""Read the cells of a table: names, scores as people write them, missing values.

A `CodedColumn` holds each distinct value once, and for every row the number of its value.
A table of a million trials has few distinct values in a column. What is read off a cell (a label, a
score) is then read off each value once, and spread over the rows by numpy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, overload

import numpy as np

from passband.errors import InvalidInput
from passband.types import Floats, Ints


class CodedColumn(Sequence[Any]):
    """A column as values, in order of first appearance, and codes: row i holds values[codes[i]].

    >>> column = CodedColumn(["a", "b"], np.array([0, 1, 0]))
    >>> list(column), column[1]
    (['a', 'b', 'a'], 'b')
    """

    def __init__(self, values: Sequence[Any], codes: Ints) -> None:
        self.values = list(values)
        self.codes = codes

    @classmethod
    def of_codes(cls, values: Sequence[Any], codes: Ints) -> CodedColumn:
        """Renumber values by their first appearance.

        >>> CodedColumn.of_codes(["x", "a", "b"], np.array([2, 1, 2])).values
        ['b', 'a']
        """
        first = np.full(len(values), len(codes))
        first[codes[::-1]] = np.arange(len(codes))[::-1]  # the last to be assigned is the first row
        order = np.argsort(first, kind="stable")
        number_of = np.empty(len(values), dtype=np.int64)
        number_of[order] = np.arange(len(values))
        used = int((first < len(codes)).sum())
        return cls([values[place] for place in order[:used].tolist()], number_of[codes])

    def __len__(self) -> int:
        return len(self.codes)

    @overload
    def __getitem__(self, row: int) -> Any: ...

    @overload
    def __getitem__(self, row: slice) -> list[Any]: ...

    def __getitem__(self, row: int | slice) -> Any:
        if isinstance(row, slice):
            return [self.values[code] for code in self.codes[row].tolist()]
        return self.values[self.codes[row]]

    def __iter__(self) -> Iterator[Any]:
        return map(self.values.__getitem__, self.codes.tolist())


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
