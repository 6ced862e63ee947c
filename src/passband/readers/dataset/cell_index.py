"""Places of cells in a sorted list of them."""

from __future__ import annotations

import numpy as np

from passband.readers.dataset.cells import problem_of_key
from passband.types import Ints

__all__ = ["CellIndex"]

_LARGEST_TABLE = 20_000_000


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
        flat = groups * self._width + problems
        outside = (groups >= self._height) | (problems >= self._width)
        return np.where(outside, self._width * self._height, flat)
