"""Columns that hold each distinct value once, and for every row the number of its value.

A table of a million trials has few distinct values in a column. What is read off a cell (a label, a
score) is then read off each value once, and spread over the rows by numpy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np

from passband.types import Ints

__all__ = ["CodedColumn"]


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
        """Put values that are in any order into that of first appearance.

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
