"""Columns of a data set that are pooled though they look like conditions, found in a second pass.

Only columns that have few values in the first rows are read at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from passband.column_names import matching
from passband.readers.dataset.batches import Part, prepared
from passband.readers.dataset.cell_index import CellIndex
from passband.readers.dataset.coder import LabelCoder
from passband.readers.dataset.counting import Counter, Tallies
from passband.readers.dataset.plan import Plan
from passband.readers.dataset.schema import Schema
from passband.readers.groups import Remark
from passband.stats.data.columns import SPLIT_BY
from passband.stats.data.pooling import condition_candidates, condition_of, most_values

__all__ = ["condition_remarks"]

LARGEST = 50_000_000  # cells by values


def condition_remarks(
    parts: Sequence[Part], schema: Schema, plan: Plan, tallies: Tallies, split: Sequence[str]
) -> Iterator[Remark]:
    """Yield a remark on each column that sets apart what is pooled as trials."""
    units = len(tallies.cells.keys)
    most = most_values(tallies.rows, units)
    skip = {*split, *vars(plan.roles).values(), *matching(schema.names, SPLIT_BY)}
    names = [name for name in condition_candidates(schema.names, skip) if _is_same(schema, name)]
    if most < 2 or not names:
        return
    names = _with_few_values(parts, names, most)
    unchecked = [name for name in names if units * most > LARGEST]
    if unchecked:
        yield Remark(
            f"too many problems to see whether trials should be split by {', '.join(unchecked)}; "
            "if so, say --by",
            important=True,
        )
        return
    tables = {name: _Table(units, most) for name in names}
    _fill(tables, parts, plan, tallies)
    for name, table in tables.items():
        if (condition := table.condition(name)) is not None:
            yield Remark(str(condition), important=True)


def _is_same(schema: Schema, name: str) -> bool:
    """Return whether a column is in every file, with single values of one type."""
    if schema.is_key(name):
        return True
    kinds = {footer.kinds.get(name, "absent") for footer in schema.footers} - {"null"}
    return len(kinds) == 1 and kinds.isdisjoint({"nested", "absent"})


def _with_few_values(parts: Sequence[Part], names: list[str], most: int) -> list[str]:
    """Leave out columns that have many values in the first batch; texts go at once."""
    for part in parts:
        keys = {name for name, _ in part.file.keys}
        columns = [name for name in names if name not in keys]
        with part.file.opened() as file:
            batch = next(file.iter_batches(1024, columns=columns), None)
        if batch is not None and batch.num_rows:
            few = {n for n in columns if len(batch.column(n).unique()) <= most}
            return [name for name in names if name in few or name in keys]
    return []


def _fill(tables: dict[str, _Table], parts: Sequence[Part], plan: Plan, tallies: Tallies) -> None:
    import pyarrow as pa

    index, counter = CellIndex(tallies.cells.keys), Counter.restored(plan, tallies)
    real = [name for name in tables if name not in dict(parts[0].file.keys)]
    for batch, _ in prepared(parts, [*plan.columns, *real], lambda batch: None):
        units = index.find(counter.cell_keys(batch))
        for name, table in tables.items():
            if name in batch.columns:
                table.add(units, batch.columns[name])
            else:
                value = pa.array([dict(batch.part.file.keys)[name]], pa.string())
                table.add(units, value, single=True)


class _Table:
    """The number of rows of each cell under each value of a column, while values are few."""

    def __init__(self, units: int, most: int) -> None:
        self._most = most
        self._coder = LabelCoder()
        self._rows = np.zeros((units, most), dtype=np.int32)
        self._is_open = True

    def add(self, units: Any, array: Any, *, single: bool = False) -> None:
        if not self._is_open:
            return
        codes = self._coder.complete(array, None if single else self._coder.look_up(array))
        self._is_open = len(self._coder) <= self._most
        if self._is_open:
            np.add.at(self._rows, (units, codes[0] if single else codes), 1)

    def condition(self, name: str) -> Any:
        values = self._coder.labels()
        if not self._is_open or len(values) < 2:
            return None
        return condition_of(name, values, self._rows[:, : len(values)])
