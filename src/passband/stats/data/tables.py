"""A table with one row per trial, and how its columns become outcomes.

The smallest table has a column that says which problem a row belongs to and one with its score:

    task_id,passed
    HumanEval/0,1
    HumanEval/0,0
    HumanEval/1,1

A table with one column per trial, with counts of trials and successes, or with lists of scores is
unfolded first. `Table.layout` decides once what every column is and which rows belong together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from passband.errors import InvalidInput, WrongType, warn
from passband.files import matching
from passband.stats.data.cells import CodedColumn, label, listing, shortened
from passband.stats.data.columns import Roles, find_roles, refuse_chosen
from passband.stats.data.layout import Layout, lay_out
from passband.stats.data.outcomes import Outcomes
from passband.stats.data.scale import Scale
from passband.stats.data.unfold import unfold


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of equal length, by name."""

    columns: Mapping[str, Sequence[Any]]
    unfolded: str = ""  #: in words, where the rows were made from columns, counts or lists

    @staticmethod
    def of(table: Any) -> Table:
        """Take columns by name, a list of records, or a data frame of any library."""
        if isinstance(table, Table):
            return table
        if isinstance(table, Mapping):
            columns = {str(name): _listed(str(name), column) for name, column in table.items()}
            return Table(columns)._checked()
        names = getattr(table, "column_names", None)
        names = getattr(table, "columns", None) if names is None else names
        if names is not None:
            if len(set(names)) < len(names):
                raise InvalidInput(f"column names must be distinct; got {listing(names)}.")
            return Table({str(name): _listed(str(name), table[name]) for name in names})._checked()
        return Table.of_records(table)

    @staticmethod
    def of_records(records: Iterable[Any]) -> Table:
        """Take one mapping per row; a key that a row lacks is a missing value."""
        if not isinstance(records, Iterable):
            raise WrongType(f"need columns or records; got {type(records).__name__}.")
        rows = list(records)
        for number, row in enumerate(rows, start=1):
            if not isinstance(row, Mapping):
                raise WrongType(f"row {number} is {type(row).__name__}, not a record of columns.")
        names = dict.fromkeys(name for row in rows for name in row)
        return Table({str(name): [row.get(name) for row in rows] for name in names})._checked()

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def roles(self, **columns: str | None) -> Roles:
        """Return the columns that were named, and guess the rest from their names."""
        return find_roles(self.columns, columns)

    def long(self, **columns: str | None) -> Table:
        """Return the table with one row per trial, unfolded where it has another shape.

        >>> table = Table.of({"problem": ["a", "b"], "n": [2, 1], "c": [1, 1]}).long()
        >>> dict(table.columns)
        {'problem': ['a', 'a', 'b'], 'score': [1, 0, 1]}
        """
        unfolded = unfold(self.columns, columns)
        return self if unfolded is None else Table(*unfolded)

    def layout(
        self,
        *,
        by: Sequence[str] = (),
        answers: bool = False,
        scales: Mapping[str, Scale] | None = None,
        first: int | None = None,
        **columns: str | None,
    ) -> Layout:
        """Decide what every column is, and which rows belong together.

        With `answers`, the column of answers is guessed too, which only votes need. `scales` are
        those of columns of scores. With `first`, groups are of so many first trials of each
        problem.
        """
        refuse_chosen(self.columns)
        table = self.long(**columns)
        return lay_out(
            table.columns, columns, by, table.unfolded, answers=answers, scales=scales, first=first
        )

    def outcomes(self, *, scale: Scale | None = None, **columns: str | None) -> Outcomes:
        """Return the outcomes of all rows; refuse a table that holds several groups.

        A column that is pooled though it looks like a condition is named in a warning.
        """
        layout = self.layout(by=(), answers=False, scales=None, first=None, **columns)
        if scale is not None:
            layout = replace(layout, scale=scale)
        groups = layout.groups()
        if len(groups) > 1:
            raise InvalidInput(layout.refusal())
        for condition in layout.conditions:
            warn(str(condition))
        for remark in layout.doubts:
            warn(remark)
        return groups[0].outcomes

    def several(self, name: str) -> bool:
        """Return whether a column has more than one value in it."""
        return len({label(value) for value in self.columns[name]}) > 1

    def matching(self, names: Sequence[str]) -> list[str]:
        """Return the columns with one of the names, however they are written, in that order."""
        return matching(self.columns, names)

    def _checked(self) -> Table:
        lengths = {name: len(column) for name, column in self.columns.items()}
        if not lengths or not max(lengths.values()):
            raise InvalidInput("the table is empty.")
        if len(set(lengths.values())) > 1:
            shown = listing([f"{name} with {length}" for name, length in lengths.items()])
            raise InvalidInput(f"columns must have equal lengths; got {shown}.")
        return self


def _listed(name: str, column: Any) -> Sequence[Any]:
    if isinstance(column, CodedColumn):
        return column
    if hasattr(column, "dictionary_encode") and (coded := _of_arrow(column)) is not None:
        return coded
    to_list = getattr(column, "to_pylist", None) or getattr(column, "tolist", None)
    values = to_list() if to_list is not None else column
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise WrongType(f"column {name} must be a list of values; got {shortened(repr(values))}.")
    return list(values)


def _of_arrow(column: Any) -> CodedColumn | None:
    """Return a column of Arrow with its values numbered; None for values that are no scalars."""
    try:
        encoded = column.dictionary_encode()
        chunks = encoded.unify_dictionaries().chunks if hasattr(encoded, "chunks") else [encoded]
    except Exception:  # of Arrow, for lists, structs and the like
        return None
    if not chunks:
        return CodedColumn([], np.zeros(0, dtype=np.int64))
    values = chunks[0].dictionary.to_pylist()
    codes = np.concatenate(
        [np.asarray(chunk.indices.fill_null(len(values))).astype(np.int64) for chunk in chunks]
    )
    return CodedColumn.of_codes([*values, None], codes)
