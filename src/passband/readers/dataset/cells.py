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
        self._allocate()

    def _allocate(self) -> None:
        size = self._width * self._height if self._is_grid else 0
        self._states = np.zeros((size, _SCORED + 1), dtype=self._kind)
        self._first = np.zeros(size, dtype=np.int64)
        self._prints = np.zeros(size if self._has_prints else 0, dtype=np.uint64)

    def add(self, groups: Ints | int, problems: Ints, states: Any, hashes: Any, row: int) -> None:
        """Add rows, of which the first has this number in the data set."""
        if not len(problems):
            return
        if self._is_grid:
            self._fit(int(np.max(groups)) + 1, int(problems.max()) + 1)
        if self._is_grid:
            cells = problems if self._height == 1 else groups * self._width + problems
            self._add_to_grid(np.asarray(cells, dtype=np.int64), states, hashes, row)
        else:
            self._parts.append(_aggregated(pack(groups, problems), states, hashes, row))
            if sum(len(part.keys) for part in self._parts[1:]) > max(
                _PENDING, len(self._parts[0].keys)
            ):
                self._parts = [CellCounts.merged(self._parts)]

    def counts(self) -> CellCounts:
        """Return the counts of all cells that have rows."""
        parts = [self._of_grid(), *self._parts] if self._is_grid else self._parts
        return CellCounts.merged(parts) if parts else self._of_grid()

    def _add_to_grid(self, cells: Ints, states: Any, hashes: Any, row: int) -> None:
        low, high = int(cells.min()), int(cells.max()) + 1
        is_dense = high - low <= len(cells) * 4
        if is_dense:
            before: Any = self._states[low:high].any(axis=1)
            keys = (cells - low) * (_SCORED + 1) + states
            counts = np.bincount(keys, minlength=(high - low) * (_SCORED + 1))
            window = counts.reshape(high - low, _SCORED + 1)
            if (window.any(axis=1) & ~before).any():
                self._set_first(cells, ~before[cells - low], row)
            self._states[low:high] += window.astype(self._kind)
        else:
            self._set_first(cells, ~self._states[cells].any(axis=1), row)
            flat = self._states.reshape(-1)
            np.add.at(flat, cells * (_SCORED + 1) + states, self._kind(1))
        if self._has_prints:
            np.add.at(self._prints, cells, hashes)

    def _set_first(self, cells: Ints, is_new: Any, row: int) -> None:
        rows = np.flatnonzero(is_new)[::-1]  # the last to be assigned is the first row
        self._first[cells[rows]] = row + rows

    def _fit(self, height: int, width: int) -> None:
        """Make the grid large enough, or give it up for sorted cells."""
        if height <= self._height and width <= self._width:
            return
        old = self._of_grid()
        self._height = self._height if height <= self._height else max(height, 2 * self._height)
        self._width = self._width if width <= self._width else max(width, 2 * self._width)
        self._is_grid = self._height * self._width <= LARGEST_GRID
        self._allocate()
        if not self._is_grid:
            self._parts = [old]
            return
        cells = (old.keys >> 32) * self._width + problem_of_key(old.keys)
        missing = old.rows - old.trials
        self._states[cells] = np.stack([old.trials - old.successes, old.successes, missing], axis=1)
        self._first[cells] = old.first
        if self._has_prints:
            self._prints[cells] = old.prints

    def _of_grid(self) -> CellCounts:
        cells = np.flatnonzero(self._states.any(axis=1))
        states = self._states[cells].astype(np.int64)
        return CellCounts(
            pack(cells // self._width, cells % self._width),
            states.sum(axis=1),
            states[:, :_SCORED].sum(axis=1),
            states[:, 1],
            self._first[cells],
            self._prints[cells] if self._has_prints else np.zeros(len(cells), dtype=np.uint64),
        )


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
