"""Groups of the rows of a batch, as stretches of rows of one group where files are in such order.

Files are mostly written model by model and step by step. Then nothing that is asked of a column to
split by needs to be asked of every row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from passband.readers.dataset.arrow_arrays import numbers
from passband.types import Ints

__all__ = ["RowGroups", "common_starts"]

_SHORTEST = 2048  # rows of a stretch on average, below which each row has its group


@dataclass(frozen=True)
class RowGroups:
    """The group of each row of a batch."""

    numbers: Ints  #: of the stretches, or of the rows
    rows: int
    starts: Ints | None = None  #: first rows of the stretches

    def pieces(self) -> Iterator[tuple[Ints | int, slice]]:
        """Yield rows that can be counted together, with their one group or that of each."""
        if self.starts is None:
            yield self.numbers, slice(0, self.rows)
            return
        ends = [*self.starts[1:].tolist(), self.rows]
        for group, start, end in zip(
            self.numbers.tolist(), self.starts.tolist(), ends, strict=True
        ):
            yield group, slice(start, end)

    def of_rows(self) -> Ints:
        """Return the group of each row.

        >>> RowGroups(np.array([4, 7]), 5, np.array([0, 3])).of_rows().tolist()
        [4, 4, 4, 7, 7]
        """
        if self.starts is None:
            return self.numbers
        return np.repeat(self.numbers, np.diff(self.starts, append=self.rows))


def common_starts(arrays: Iterable[Any], rows: int) -> Ints | None:
    """Return where stretches begin in which no array changes; None if they are short.

    >>> import pyarrow as pa
    >>> common_starts([pa.array([5] * 3000 + [6] * 3000), pa.array(["a"] * 6000)], 6000).tolist()
    [0, 3000]
    """
    starts = np.zeros(1, dtype=np.int64)
    for array in arrays:
        own = _starts(array)
        if own is None or len(own) > 1 + rows // _SHORTEST:
            return None
        starts = np.union1d(starts, own)
    return starts if len(starts) <= 1 + rows // _SHORTEST else None


def _starts(array: Any) -> Ints | None:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(array.type):
        array = array.indices
    try:
        ends = pc.run_end_encode(array).run_ends
    except pa.ArrowNotImplementedError:  # a type that is rare
        return None
    return np.concatenate([[0], numbers(ends)[:-1]]).astype(np.int64)
