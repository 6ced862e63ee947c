"""Keep scores in the order of asking: that of a numbered column, or of the rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from passband.errors import InvalidInput
from passband.stats.checks import as_whole
from passband.stats.data.cells import shortened
from passband.stats.data.values import ArrayValue, frozen, owned
from passband.types import Bools, Floats, Ints

_HARDLY_CHANCE = 0.001  # the probability of sorted scores below which they are taken to be sorted


@dataclass(frozen=True, eq=False)
class AskedScores(ArrayValue):
    """The scores of trials as they were asked, problem after problem.

    Problem i has ``values[offsets[i]:offsets[i + 1]]``; trials without a score are left out.

    >>> asked = AskedScores(np.array([0, 1, 1, 0, 0], np.uint8), np.array([0, 3, 5]))
    >>> asked.counts().tolist(), asked.first(2).values.tolist()
    ([3, 2], [0, 1, 0, 0])
    """

    values: Floats | NDArray[np.uint8]
    offsets: Ints  #: one more than problems

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", owned(self.values))
        object.__setattr__(self, "offsets", owned(self.offsets))

    @staticmethod
    def of_rows(values: Floats | NDArray[np.uint8], present: Bools) -> AskedScores:
        """Keep the present entries of a matrix with a row per problem, in their order."""
        offsets = np.concatenate([[0], np.cumsum(present.sum(axis=1))])
        return AskedScores(frozen(values[present]), frozen(offsets))

    def counts(self) -> Ints:
        """Return the number of trials of each problem."""
        return np.diff(self.offsets)

    def sums(self) -> Ints:
        """Return the sum of the scores of each problem, of 0s and 1s."""
        return np.diff(np.append(0, np.cumsum(self.values, dtype=np.int64))[self.offsets])

    def take(self, positions: Ints) -> AskedScores:
        """Return the scores of the problems at these positions.

        >>> asked = AskedScores(np.array([0, 1, 1]), np.array([0, 2, 3]))
        >>> asked.take(np.array([1, 0])).values.tolist()
        [1, 0, 1]
        """
        counts = self.counts()[positions]
        offsets = np.append(0, np.cumsum(counts))
        within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], counts)
        kept = self.values[np.repeat(self.offsets[:-1][positions], counts) + within]
        return AskedScores(frozen(kept), frozen(offsets))

    def mapped(self, change: Callable[[Floats], Floats | Bools]) -> AskedScores:
        """Return other scores of the same trials; 0s and 1s are kept as bytes."""
        values = change(np.asarray(self.values, dtype=np.float64))
        return AskedScores(frozen(compact(values)), self.offsets)

    def first(self, n: int, problems: Sequence[str] | None = None) -> AskedScores:
        """Keep the first n trials of each problem; one without any trial stays without.

        >>> AskedScores(np.zeros(5), np.array([0, 3, 5])).first(3)
        Traceback (most recent call last):
        ...
        passband.errors.InvalidInput: the first 3 trials of each problem need 3 of each; the \
problem in position 1 (from 0) has 2.
        """
        n, counts = as_whole("first", n), self.counts()
        is_short = (counts > 0) & (counts < n)
        if is_short.any():
            position = int(np.argmin(np.where(is_short, counts, n)))
            which = f"the problem in position {position} (from 0)"
            which = which if problems is None else f"problem {problems[position]!r:.80}"
            raise InvalidInput(
                f"the first {n} trials of each problem need {n} of each; {which} has "
                f"{counts[position]}."
            )
        starts = self.offsets[:-1][counts > 0]
        kept = self.values[starts[:, None] + np.arange(n)].ravel()
        return AskedScores(frozen(kept), frozen(np.append(0, np.cumsum(np.minimum(counts, n)))))

    def require_first(self, n: int) -> None:
        """Raise `InvalidInput` if sorted scores show that the first n were not asked first."""
        if self.is_sorted:
            raise InvalidInput(
                f"the scores of each problem are sorted, so that the first {n} are not those that "
                "were asked first."
            )

    @cached_property
    def neighbours(self) -> Bools:
        """Whether the trials at positions i and i + 1 belong to one problem."""
        is_same: Bools = np.ones(max(len(self.values) - 1, 0), dtype=bool)
        ends = self.offsets[1:-1]
        is_same[ends[(ends > 0) & (ends < len(self.values))] - 1] = False
        return is_same

    @cached_property
    def is_sorted(self) -> bool:
        """Whether the scores of each problem are sorted, all in one direction, and not by chance.

        Any order of n scores, of which m_1, m_2, ... are equal, is as likely as any other if the
        trials are alike, so that sorted ones have probability m_1! m_2! ... / n!. Where numbers of
        trials differ, the last trial is left out of it: that it is the first success, or the first
        failure, may be why it is the last.
        """
        before, after = self.values[:-1], self.values[1:]
        rises = bool(np.all((after >= before) | ~self.neighbours))
        falls = bool(np.all((after <= before) | ~self.neighbours))
        if rises == falls:  # in both directions: each problem's scores are equal
            return False
        return 2.0 * math.exp(self._log_chance_of_sorted()) <= _HARDLY_CHANCE

    def _log_chance_of_sorted(self) -> float:
        """Return log P(all are sorted) of scores that are, given how often each occurs."""
        counts = self.counts()
        changes = (self.values[1:] != self.values[:-1]) | ~self.neighbours
        ends = np.append(np.flatnonzero(changes) + 1, len(self.values))
        alike = np.diff(ends, prepend=0)
        ways = np.cumsum(np.log(np.arange(1, counts.max() + 1)))  # log n! at n - 1
        has_any = counts > 0
        total = float(ways[alike - 1].sum() - ways[counts[has_any] - 1].sum())
        if counts[has_any].min() == counts.max():
            return total
        last = alike[np.searchsorted(ends, self.offsets[1:][has_any])]
        return total - float(np.log(last / counts[has_any]).sum())


def compact(values: Floats | Bools) -> Floats | NDArray[np.uint8]:
    """Return scores as bytes if all are 0 or 1.

    >>> compact(np.array([1.0, 0.0])).dtype.name, compact(np.array([0.5])).dtype.name
    ('uint8', 'float64')
    """
    ones = values == 1
    return ones.view(np.uint8) if (ones | (values == 0)).all() else np.asarray(values, np.float64)


_SPREAD = 4  # numbers of trials are below this many times the most trials of a problem


@dataclass(frozen=True)
class RowOrder:
    """Order of each problem's trials."""

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
