"""The least trial of each group, from which the fingerprints of its problems count."""

from __future__ import annotations

import numpy as np

from passband.types import Ints

__all__ = ["FirstTrials"]


class FirstTrials:
    """Collects the least place of a trial in each group; `end` is that of no trial.

    >>> least = FirstTrials(9)
    >>> least.add(1, np.array([4, 3]))
    >>> least.add(np.array([0, 1, 2]), np.array([2, 8, 9]))
    >>> least.by_group()
    {0: 2, 1: 3}
    """

    def __init__(self, end: int) -> None:
        self._end = end
        self._least = np.zeros(0, dtype=np.int64)

    def add(self, groups: Ints | int, places: Ints) -> None:
        """Add the places of some rows, and the group of all of them or of each."""
        if not len(places):
            return
        self._fit(int(np.max(groups)) + 1)
        if isinstance(groups, int):
            self._least[groups] = min(int(self._least[groups]), int(places.min()))
            return
        is_open = self._least[groups] > 0
        if is_open.any():
            np.minimum.at(self._least, groups[is_open], places[is_open].astype(np.int64))

    def by_group(self) -> dict[int, int]:
        """Return the least place of each group that has a trial."""
        groups = np.flatnonzero(self._least < self._end).tolist()
        return dict(zip(groups, self._least[groups].tolist(), strict=True))

    def _fit(self, groups: int) -> None:
        if groups > len(self._least):
            more = np.full(max(groups, 2 * len(self._least)) - len(self._least), self._end)
            self._least = np.concatenate([self._least, more])
