"""Groups of rows: the combinations of values in the columns that may split a data set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from passband.errors import InvalidInput
from passband.readers.dataset.batches import Batch
from passband.readers.dataset.coder import Coder, LabelCoder, coder_for
from passband.readers.dataset.plan import Plan
from passband.types import Ints

__all__ = ["MOST_GROUPS", "Grouping"]

MOST_GROUPS = 100_000
_LARGEST_TABLE = 1 << 22  # combinations that are numbered by a table


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

    def look_up(self, batch: Batch) -> dict[str, Any]:
        """Find the values of columns that are known; may run in any thread."""
        return {
            name: coder.look_up(batch.columns[name])
            for name, coder in self._coders.items()
            if name in batch.columns
        }

    def complete(self, batch: Batch, found: dict[str, Any]) -> Ints | int:
        """Return the group of each row; a single number if all are of one."""
        codes = [self._codes(name, batch, found.get(name)) for name in self._names]
        varying = [at for at, each in enumerate(codes) if not isinstance(each, int)]
        if not varying:
            return self._number(tuple(int(each) for each in codes))
        combined, sizes = np.zeros(batch.rows, dtype=np.int64), []
        for at in varying:
            size = len(self._coders[self._names[at]])
            combined = combined * size + codes[at]
            sizes.append(size)
        values, inverse = _distinct(combined, int(np.prod([float(size) for size in sizes])))
        parts = np.unravel_index(values, sizes)
        numbers = np.empty(len(values), dtype=np.int64)
        first = np.full(len(values), batch.rows)
        first[inverse[::-1]] = np.arange(batch.rows)[::-1]
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

    def _codes(self, name: str, batch: Batch, found: Any) -> Ints | int:
        import pyarrow as pa

        coder = self._coders[name]
        if name not in batch.columns:  # the name of a folder
            value = dict(batch.part.file.keys)[name]
            codes = coder.complete(pa.array([value], pa.string()), None)
        else:
            codes = coder.complete(batch.columns[name], found)
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
