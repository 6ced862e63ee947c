"""Counts per cell, a cell being the trials of one problem in one group.

A grid of groups by problems while that is small, and sorted arrays of the cells that occur where
it is not: each of a thousand tasks may have problems of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from passband.types import Ints

__all__ = ["CellCounts", "Cells", "pack", "problem_of_key"]

LARGEST_GRID = 20_000_000
_SCORED = 2  # states of a row: 0 and 1 are scores, 2 is none
_PENDING = 4_000_000  # cells that are collected before they are put in order


def pack(group: Any, problem: Any) -> Any:
    """Return the key of a cell."""
    return (np.asarray(group, dtype=np.int64) << 32) | problem


def problem_of_key(keys: Ints) -> Ints:
    """Return the problem of each cell; its group is ``keys >> 32``."""
    return keys & 0xFFFFFFFF


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
    def merged(cls, parts: list[CellCounts]) -> CellCounts:
        """Return the sums over parts, and the first of first rows."""
        if len(parts) == 1:
            return parts[0]
        keys = np.concatenate([part.keys for part in parts])
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])[: len(keys)])

        def reduced(name: str, ufunc: Any) -> Any:
            column = np.concatenate([getattr(part, name) for part in parts])[order]
            return ufunc.reduceat(column, starts) if len(starts) else column

        return cls(
            keys[starts],
            reduced("rows", np.add),
            reduced("trials", np.add),
            reduced("successes", np.add),
            reduced("first", np.minimum),
            reduced("prints", np.add),
        )


class Cells:
    """Collects counts, batch by batch in the order of rows."""

    def __init__(self, problems: int, *, prints: bool, rows: int = 0) -> None:
        self._has_prints = prints
        self._kind = np.int32 if rows < 1 << 31 else np.int64
        self._width, self._height = max(problems, 16), 1
        self._parts: list[CellCounts] = []
        self._is_grid = self._width <= LARGEST_GRID
        self._grid = self._new_grid()

    def _new_grid(self) -> _Grid:
        size = self._width * self._height if self._is_grid else 0
        rows, ones, missing = (np.zeros(size, dtype=self._kind) for _ in range(3))
        prints = np.zeros(size if self._has_prints else 0, dtype=np.uint64)
        return _Grid(rows, ones, missing, np.zeros(size, dtype=np.int64), prints)

    def add(self, groups: Ints | int, problems: Ints, states: Any, hashes: Any, row: int) -> None:
        """Add rows, of which the first has this number in the data set."""
        if not len(problems):
            return
        if self._is_grid:
            self._fit(int(np.max(groups)) + 1, int(problems.max()) + 1)
        if self._is_grid:
            cells = problems if self._height == 1 else groups * np.int64(self._width) + problems
            self._add_to_grid(cells, states, hashes, row)
        else:
            self._parts.append(_aggregated(pack(groups, problems), states, hashes, row))
            if sum(len(part.keys) for part in self._parts[1:]) > max(
                _PENDING, len(self._parts[0].keys)
            ):
                self._parts = [CellCounts.merged(self._parts)]

    def counts(self) -> CellCounts:
        """Return the counts of all cells that have rows."""
        return CellCounts.merged(self._parts) if self._parts else self._of_grid()

    def _add_to_grid(self, cells: Ints, states: Any, hashes: Any, row: int) -> None:
        low, high = int(cells.min()), int(cells.max()) + 1
        grid = self._grid
        if high - low <= len(cells) * 4:
            width = int(states.max()) + 1
            own = np.multiply(cells, width, dtype=np.int64)
            own += states
            if low:
                own -= low * width
            counts = np.bincount(own, minlength=(high - low) * width)
            rows = counts[0::width].copy()
            for state in range(1, width):
                rows += counts[state::width]
            if ((rows > 0) & (grid.rows[low:high] == 0)).any():
                self._set_first(cells, grid.rows[cells] == 0, row)
            grid.rows[low:high] += rows.astype(self._kind)
            for state, column in ((1, grid.ones), (_SCORED, grid.missing)):
                if state < width:
                    column[low:high] += counts[state::width].astype(self._kind)
        else:
            self._set_first(cells, grid.rows[cells] == 0, row)
            np.add.at(grid.rows, cells, self._kind(1))
            np.add.at(grid.ones, cells[states == 1], self._kind(1))
            np.add.at(grid.missing, cells[states == _SCORED], self._kind(1))
        if self._has_prints:
            np.add.at(grid.prints, cells, hashes)

    def _set_first(self, cells: Ints, is_new: Any, row: int) -> None:
        rows = np.flatnonzero(is_new)[::-1]  # the last to be assigned is the first row
        self._grid.first[cells[rows]] = row + rows

    def _fit(self, height: int, width: int) -> None:
        """Make the grid large enough, or give it up for sorted cells."""
        if height <= self._height and width <= self._width:
            return
        old, shape = self._grid, (self._height, self._width)
        self._height = self._height if height <= self._height else max(height, 2 * self._height)
        self._width = self._width if width <= self._width else max(width, 2 * self._width)
        if self._height * self._width > LARGEST_GRID:
            self._height, self._width = max(shape[0], height), max(shape[1], width)
        if self._height * self._width > LARGEST_GRID:
            self._height, self._width = shape
            self._parts = [self._of_grid()]
            self._is_grid = False
            self._grid = self._new_grid()
            return
        self._grid = self._new_grid()
        for name, column in vars(old).items():
            if len(column):
                grown = getattr(self._grid, name).reshape(self._height, self._width)
                grown[: shape[0], : shape[1]] = column.reshape(shape)

    def _of_grid(self) -> CellCounts:
        grid = self._grid
        cells = np.flatnonzero(grid.rows)
        rows = grid.rows[cells].astype(np.int64)
        prints = grid.prints[cells] if self._has_prints else np.zeros(len(cells), np.uint64)
        return CellCounts(
            pack(cells // self._width, cells % self._width),
            rows,
            rows - grid.missing[cells],
            grid.ones[cells].astype(np.int64),
            grid.first[cells],
            prints,
        )


@dataclass(frozen=True)
class _Grid:
    """Columns of the grid, a row of problems for each group."""

    rows: Any
    ones: Any
    missing: Any
    first: Any
    prints: Any


def _aggregated(keys: Ints, states: Any, hashes: Any, row: int) -> CellCounts:
    """Return the counts of the rows of a batch."""
    order = np.argsort(keys, kind="stable")
    keys, states = keys[order], states[order]
    starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    rows = np.diff(np.append(starts, len(keys)))
    missing = np.add.reduceat((states == _SCORED).astype(np.int64), starts)
    return CellCounts(
        keys[starts],
        rows,
        rows - missing,
        np.add.reduceat((states == 1).astype(np.int64), starts),
        row + order[starts],
        np.zeros(len(starts), dtype=np.uint64)
        if hashes is None
        else np.add.reduceat(hashes[order], starts),
    )
