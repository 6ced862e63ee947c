"""Groups of rows: the combinations of values in the columns that may split a data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from passband.errors import InvalidInput
from passband.readers.dataset.arrow_arrays import picked
from passband.readers.dataset.batches import Batch
from passband.readers.dataset.coder import Coder, LabelCoder, coder_for
from passband.readers.dataset.plan import Plan
from passband.readers.dataset.stretches import RowGroups, common_starts
from passband.types import Ints

__all__ = ["MOST_GROUPS", "Grouping"]

MOST_GROUPS = 100_000
_LARGEST_TABLE = 1 << 22  # combinations that are numbered by a table


@dataclass(frozen=True)
class _Found:
    """What is known of the key columns of a batch before its rows are counted."""

    starts: Ints | None  #: of stretches of rows that are alike
    arrays: Mapping[str, Any]  #: a value for each stretch, or each row
    known: Mapping[str, Any]


class Grouping:
    """Numbers the combinations of values of key columns, in order of first appearance."""

    def __init__(self, plan: Plan) -> None:
        self._names = plan.keys
        self._coders: dict[str, Coder] = {
            name: coder_for(plan.kinds[name], plan.bounds[name])
            if name in plan.kinds
            else LabelCoder()
            for name in plan.keys
        }
        self._number_of: dict[tuple[int, ...], int] = {}

    def restore(self, groups: Sequence[tuple[str, ...]]) -> None:
        """Number the groups as these are, of which the labels are given."""
        for at, name in enumerate(self._names):
            self._coders[name].restore(list(dict.fromkeys(labels[at] for labels in groups)))
        codes = [
            {text: code for code, text in enumerate(self._coders[name].labels())}
            for name in self._names
        ]
        for labels in groups:
            self._number(tuple(own[text] for own, text in zip(codes, labels, strict=True)))

    def look_up(self, batch: Batch) -> _Found:
        """Find the values of columns that are known; may run in any thread."""
        arrays = {name: batch.columns[name] for name in self._names if name in batch.columns}
        starts = common_starts(arrays.values(), batch.rows)
        if starts is not None:
            arrays = {name: picked(array, starts) for name, array in arrays.items()}
        known = {name: self._coders[name].look_up(array) for name, array in arrays.items()}
        return _Found(starts, arrays, known)

    def complete(self, batch: Batch, found: _Found) -> RowGroups:
        """Return the groups of the rows."""
        height = batch.rows if found.starts is None else len(found.starts)
        codes = [self._codes(name, batch, found) for name in self._names]
        varying = [at for at, each in enumerate(codes) if not isinstance(each, int)]
        if varying:
            return RowGroups(self._numbers(codes, varying, height), batch.rows, found.starts)
        number = self._number(tuple(int(each) for each in codes))
        return RowGroups(np.array([number]), batch.rows, np.zeros(1, dtype=np.int64))

    def _numbers(self, codes: list[Ints | int], varying: list[int], height: int) -> Ints:
        """Return the numbers of combinations, new ones in order of rows."""
        combined, sizes = np.zeros(height, dtype=np.int64), []
        for at in varying:
            size = len(self._coders[self._names[at]])
            combined = combined * size + codes[at]
            sizes.append(size)
        values, inverse = _distinct(combined, int(np.prod([float(size) for size in sizes])))
        parts = np.unravel_index(values, sizes)
        numbers = np.empty(len(values), dtype=np.int64)
        first = np.full(len(values), height)
        first[inverse[::-1]] = np.arange(height)[::-1]
        for place in np.argsort(first).tolist():
            own = list(codes)
            for at, part in zip(varying, parts, strict=True):
                own[at] = int(part[place])
            numbers[place] = self._number(tuple(int(each) for each in own))
        return numbers[inverse]

    def labels(self) -> list[tuple[str, ...]]:
        """Return the labels of each group, one for each key column."""
        labels = [self._coders[name].labels() for name in self._names]
        return [
            tuple(column[code] for column, code in zip(labels, codes, strict=True))
            for codes in self._number_of
        ]

    def _codes(self, name: str, batch: Batch, found: _Found) -> Ints | int:
        import pyarrow as pa

        coder = self._coders[name]
        if name not in found.arrays:  # the name of a folder
            value = dict(batch.part.file.keys)[name]
            codes = coder.complete(pa.array([value], pa.string()), None)
        else:
            codes = coder.complete(found.arrays[name], found.known[name])
        if len(coder) > MOST_GROUPS:
            raise InvalidInput(
                f"column {name} splits the trials into more than {MOST_GROUPS:,} groups; leave it "
                "out of --by, or write it under another name."
            )
        if not len(codes):
            return 0
        low = int(codes.min())
        return low if int(codes.max()) == low else codes

    def _number(self, codes: tuple[int, ...]) -> int:
        number = self._number_of.setdefault(codes, len(self._number_of))
        if number >= MOST_GROUPS:
            raise InvalidInput(
                f"columns {', '.join(self._names)} split the trials into more than "
                f"{MOST_GROUPS:,} groups; write those that need not split under other names."
            )
        return number


def _distinct(values: Ints, bound: int) -> tuple[Ints, Ints]:
    """Return the distinct values, and the place of each value among them."""
    if bound > _LARGEST_TABLE:
        distinct, inverse = np.unique(values, return_inverse=True)
        return distinct, inverse
    distinct = np.flatnonzero(np.bincount(values, minlength=bound))
    place_of = np.empty(bound, dtype=np.int64)
    place_of[distinct] = np.arange(len(distinct))
    return distinct, place_of[values]
