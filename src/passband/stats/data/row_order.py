"""The order in which the rows of a table were asked: that of a number, or that of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from passband.errors import InvalidInput
from passband.stats.data.cells import shortened
from passband.types import Ints

__all__ = ["RowOrder", "row_order"]

_SPREAD = 4  # numbers of trials are below this many times the most trials of a problem


@dataclass(frozen=True)
class RowOrder:
    """How the trials of a problem follow each other."""

    numbers: Ints | None = None  #: of each row; None: as the rows stand
    unknown: str = ""  #: why the order is not known, if it is not
    remark: str = ""  #: what else a reader should know of it

    def positions(self, rows: Ints, problem_of: Ints) -> Ints:
        """Return the positions in `rows`, problem after problem, in the order of asking."""
        if self.numbers is None:
            return np.argsort(problem_of, kind="stable")
        return np.lexsort((self.numbers[rows], problem_of))

    def first(self, n: int, rows: Ints, problem_of: Ints, names: Sequence[str]) -> Ints:
        """Return the rows of the first n trials of each problem, in the order of the rows."""
        if self.unknown:
            raise InvalidInput(
                f"there are no first {n} trials of each problem, as the order in which they were "
                f"asked is not known: {self.unknown}."
            )
        position = self.positions(rows, problem_of)
        counts = np.bincount(problem_of)
        fewest = int(np.argmin(np.where(counts > 0, counts, len(rows) + 1)))
        if counts[fewest] < n:
            raise InvalidInput(
                f"the first {n} trials of each problem need {n} of each; problem "
                f"{shortened(names[fewest])!r} has {counts[fewest]}."
            )
        rank = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        return rows[np.sort(position[rank < n])]


def row_order(name: str | None, labels: tuple[Ints, Sequence[str]] | None, rows: Ints) -> RowOrder:
    """Return the order of rows, given the labels of trials in the column `name`, if there is one.

    `labels` are the number of each row's label, and the labels; `rows` the problem of each row.
    Whole numbers that count the trials of a problem order them. Others, such as seeds, do so only
    if rows are in that order too; words leave it to the rows.

    >>> row_order("trial", (np.array([0, 1]), ["2", "1"]), np.array([0, 0])).numbers.tolist()
    [2, 1]
    >>> row_order("seed", (np.array([0, 1]), ["812", "47"]), np.array([0, 0])).unknown
    'column seed does not number the trials of a problem, and rows are not in its order'
    """
    if labels is None:
        return RowOrder()
    if not all(map(_is_whole, labels[1])):
        text = f"column {name} holds words: trials are taken in the order of the rows"
        return RowOrder(remark=text)
    numbers = np.array([int(text) for text in labels[1]], dtype=np.int64)[labels[0]]
    if np.ptp(numbers) < _SPREAD * np.bincount(rows).max():
        return RowOrder(numbers)
    position = np.argsort(rows, kind="stable")
    falls = (np.diff(numbers[position]) < 0) & (np.diff(rows[position]) == 0)
    if not falls.any():
        return RowOrder()
    return RowOrder(
        unknown=f"column {name} does not number the trials of a problem, and rows are not in its "
        "order"
    )


def _is_whole(text: str) -> bool:
    return text.isdecimal() and len(text) < 18
