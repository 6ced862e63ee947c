"""Counts per cell, a cell being the trials of one problem in one group.

A grid of groups by problems while that is small: adding to it takes a thirtieth of the time that
Arrow's group-by takes for as many rows. Where the cells that occur are few among those of a grid,
as where each of a thousand tasks has problems of its own, Arrow groups each batch by cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from passband.readers.dataset.batches import numbers
from passband.types import Ints

LARGEST_GRID = 20_000_000
_LARGEST_TABLE = 20_000_000
_PENDING = 4_000_000  # cells that are collected before they are put in order
_CHUNK = 1 << 16  # rows that are added at a time, so that what is computed stays in the cache
SCORELESS = 2  # state of a row without a score; 0 and 1 are scores


def pack(group: Any, problem: Any) -> Any:
    """Return the key of a cell."""
    return (np.asarray(group, dtype=np.int64) << 32) | problem


def problem_of_key(keys: Ints) -> Ints:
    """Return the problem of each cell; its group is ``keys >> 32``."""
    return keys & 0xFFFFFFFF


def summed(tables: Sequence[Any], by: list[str]) -> Any:
    """Return the sums of columns by others, and the least of `first`."""
    import pyarrow as pa

    names = [name for name in tables[0].column_names if name not in by]
    how = [(name, "min" if name == "first" else "sum") for name in names]
    sums = (
        pa.concat_tables(tables, promote_options="permissive")
        .group_by(by, use_threads=False)
        .aggregate(how)
    )
    return sums.select([*by, *("_".join(each) for each in how)]).rename_columns([*by, *names])


@dataclass(frozen=True)
class CellCounts:
    """The cells that occur, in the order of their keys."""

    keys: Ints
    rows: Ints  #: all of them, without a score too
    trials: Ints  #: with a score
    successes: Ints
    first: Ints  #: the number of its first row
    prints: Any  #: sums of hashed trial numbers (uint64)

    @classmethod
    def merged(cls, parts: Sequence[CellCounts]) -> CellCounts:
        """Return the sums over parts, in each of which a cell may occur several times."""
        import pyarrow as pa

        table = summed([pa.table(vars(part)) for part in parts], ["keys"])
        columns = [numbers(table[name].combine_chunks()) for name in vars(parts[0])]
        order = np.argsort(columns[0])
        return cls(*(column[order] for column in columns))


class CellGrid:
    """Collects counts, batch by batch in the order of rows, in a grid as long as that is small."""

    def __init__(self, problems: int, *, prints: bool, rows: int = 0) -> None:
        self._has_prints = prints
        self._kind = np.int32 if rows < 1 << 31 else np.int64
        self._parts: list[CellCounts] = []  # instead of a grid
        self._allocate(1, max(problems, 16))

    def _allocate(self, height: int, width: int) -> None:
        self._shape = (height, width)
        self._states = np.zeros((height, width, 3), dtype=self._kind)
        self._first = np.zeros(self._shape, dtype=np.int64)  # one more, so that 0 is no row
        self._prints = np.zeros(self._shape if self._has_prints else (0, 0), dtype=np.uint64)

    def add(self, groups: Ints | int, problems: Ints, states: Any, hashes: Any, row: int) -> None:
        """Add rows, of which the first has this number in the data set."""
        if not len(problems):
            return
        if not self._parts:
            self._fit(int(np.max(groups)) + 1, int(problems.max()) + 1)
        if self._parts:
            self._add_sparse(pack(groups, problems), states, hashes, row)
            return
        for start in range(0, len(problems), _CHUNK):
            rows = slice(start, start + _CHUNK)
            own = None if hashes is None else hashes[rows]
            group = groups if isinstance(groups, int) else groups[rows]
            self._add_to_grid(group, problems[rows], states[rows], own, row + start)

    def _add_to_grid(
        self, groups: Ints | int, problems: Ints, states: Any, hashes: Any, row: int
    ) -> None:
        cells = np.add(problems, np.multiply(groups, self._shape[1]), dtype=np.int64)
        first = self._first.reshape(-1)
        new = np.flatnonzero(first[cells] == 0)[::-1]  # the last to be assigned is the first row
        first[cells[new]] = row + new + 1
        if hashes is not None:
            np.add.at(self._prints.reshape(-1), cells, hashes)
        cells *= 3
        cells += states
        np.add.at(self._states.reshape(-1), cells, self._kind(1))

    def counts(self) -> CellCounts:
        """Return the counts of all cells that have rows."""
        if self._parts:
            return CellCounts.merged(self._parts)
        cells = np.flatnonzero(self._first)
        states = self._states.reshape(-1, 3)
        trials, successes, rows = (states[cells, at].astype(np.int64) for at in range(3))
        trials += successes  # in place: cells may take most of the memory
        rows += trials
        return CellCounts(
            pack(cells // self._shape[1], cells % self._shape[1]),
            rows,
            trials,
            successes,
            self._first.reshape(-1)[cells] - 1,
            self._prints.reshape(-1)[cells] if self._has_prints else np.zeros(len(cells), "u8"),
        )

    def _add_sparse(self, keys: Ints, states: Any, hashes: Any, row: int) -> None:
        ones = np.ones(len(keys), dtype=np.int64)
        prints = np.zeros(len(keys), dtype=np.uint64) if hashes is None else hashes
        successes, trials = (states == 1).astype(np.int64), (states < SCORELESS).astype(np.int64)
        rows = CellCounts(keys, ones, trials, successes, np.arange(row, row + len(keys)), prints)
        self._parts.append(CellCounts.merged([rows]))
        if sum(len(part.keys) for part in self._parts[1:]) > max(
            _PENDING, len(self._parts[0].keys)
        ):
            self._parts = [CellCounts.merged(self._parts)]

    def _fit(self, height: int, width: int) -> None:
        """Make the grid large enough, or give it up for sorted cells."""
        old = self._shape
        if height <= old[0] and width <= old[1]:
            return
        # twice as large, so that it seldom grows, or else as large as it has to be
        twice = (
            old[0] if height <= old[0] else max(height, 2 * old[0]),
            old[1] if width <= old[1] else max(width, 2 * old[1]),
        )
        shape = twice if twice[0] * twice[1] <= LARGEST_GRID else np.maximum(old, (height, width))
        if shape[0] * shape[1] > LARGEST_GRID:
            self._parts = [self.counts()]
            self._allocate(0, 0)
            return
        columns = self._states, self._first, self._prints
        self._allocate(int(shape[0]), int(shape[1]))
        for grown, column in zip((self._states, self._first, self._prints), columns, strict=True):
            grown[: column.shape[0], : column.shape[1]] = column


class CellIndex:
    """Finds cells by their keys; through a table where groups by problems are few.

    >>> CellIndex(np.array([3, 7])).find(np.array([7, 5, 3])).tolist()
    [1, -1, 0]
    """

    def __init__(self, keys: Ints) -> None:
        self._keys = keys
        self._width = int(problem_of_key(keys).max(initial=0)) + 1
        self._height = int((keys >> 32).max(initial=0)) + 1
        self._table: Ints | None = None
        if self._width * self._height <= _LARGEST_TABLE:
            self._table = np.full(self._width * self._height + 1, -1, dtype=np.int64)
            self._table[self._flat(keys)] = np.arange(len(keys))

    def find(self, keys: Ints) -> Ints:
        """Return the place of each key; -1 for those that are not in the list."""
        if self._table is not None:
            return np.asarray(self._table[self._flat(keys)])
        places = np.searchsorted(self._keys, keys)
        places[places == len(self._keys)] = 0
        return np.where(self._keys[places] == keys, places, -1)

    def _flat(self, keys: Ints) -> Ints:
        groups, problems = keys >> 32, problem_of_key(keys)
        outside = (groups >= self._height) | (problems >= self._width)
        return np.where(outside, self._width * self._height, groups * self._width + problems)
