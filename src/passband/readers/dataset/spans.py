"""Gaps between trial numbers, from the last and the number of trials of each problem."""

from __future__ import annotations

from typing import Any

import numpy as np

from passband.readers.dataset.arrow_arrays import flags, numbers
from passband.types import Ints

__all__ = ["LARGEST_SPAN", "TrialSpans"]

LARGEST_SPAN = 1 << 22  # of trial numbers; what is spread further is no numbering but an identifier


class TrialSpans:
    """Collects the last trial and the trials of some cells, and the first trial of each group.

    Cells must not have a trial twice.
    """

    def __init__(self, group_of: Ints, groups: int) -> None:
        self._group_of = group_of
        self._first = np.full(groups, np.iinfo(np.int64).max)
        self._last = np.full(len(group_of), np.iinfo(np.int64).min)
        self._trials = np.zeros(len(group_of), dtype=np.int64)

    def add(self, cells: Ints, groups: Ints, trials: Any) -> None:
        """Add rows: the place of the cell of each, or -1, its group, and its trial, or null."""
        import pyarrow as pa

        if pa.types.is_null(trials.type):
            return
        if pa.types.is_dictionary(trials.type):
            trials = trials.dictionary_decode()
        valid = ~flags(trials.is_null())
        values = numbers(trials.fill_null(0)).astype(np.int64)
        np.minimum.at(self._first, groups[valid], values[valid])
        valid &= cells >= 0
        np.maximum.at(self._last, cells[valid], values[valid])
        np.add.at(self._trials, cells[valid], 1)

    def last(self, cell: int) -> int:
        """Return the last trial of a cell."""
        return int(self._last[cell])

    def missing(self) -> Ints:
        """Return how many trials each cell lacks between the first of its group and its last."""
        any_trial = self._trials > 0
        first = np.where(any_trial, self._first[self._group_of], 0)
        spans = np.where(any_trial, self._last - first + 1, 0)
        spans[(spans < 0) | (spans > LARGEST_SPAN)] = 0  # negative where it does not fit 64 bits
        return np.maximum(spans - self._trials, 0)
