"""The wide layout: a row for each model, or what else sets groups apart, a column per metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from passband.report.rendering import Cell
from passband.report.table_line import TableLine, column_head
from passband.summary import Summary


@dataclass
class _WideRow:
    by: dict[str, Cell]
    cells: dict[str, Cell] = field(default_factory=dict)
    counts: dict[str, Cell] = field(default_factory=dict)

    def add_counts(self, counts: dict[str, Cell]) -> None:
        """Keep the counts of the metric that uses the most trials."""
        if (self.counts.get("trials") or 0, 0) <= (counts["trials"] or 0, 0):
            self.counts = counts

    def row(self, columns: Mapping[str, None]) -> dict[str, Cell]:
        """Return the whole row; every row has every column."""
        by = {f"{name} (column)" if name in columns else name: it for name, it in self.by.items()}
        return {**by, **{name: self.cells.get(name) for name in columns}, **self.counts}


def wide_rows(
    summary: Summary, lines: Sequence[TableLine], cells: Sequence[Mapping[str, Cell]]
) -> list[dict[str, Cell]]:
    """Return a row for each group; `cells` has, for each line, its texts by the end of their head.

    With several tasks, several models and one metric, the tasks are columns. Otherwise tasks are
    rows, since every task may have metrics of its own.
    """
    is_by_task = _is_by_task(lines)
    rows: dict[tuple[Cell, ...], _WideRow] = {}
    columns: dict[str, None] = {}
    for one, parts in zip(lines, cells, strict=True):
        by = _row_key(summary, one.by, is_by_task)
        row = rows.setdefault(tuple(by.values()), _WideRow(by))
        head = column_head(f"{one.by['task']} {one.line.metric}" if is_by_task else one.line.metric)
        for ending, cell in parts.items():
            columns[head + ending] = None
            row.cells[head + ending] = cell
        if not is_by_task:
            row.add_counts({name: it for name, it in one.counts().items() if name != "left out"})
    return [row.row(columns) for row in rows.values()]


def _is_by_task(lines: Sequence[TableLine]) -> bool:
    metrics = {one.line.metric for one in lines}
    return len(metrics) == 1 and all("task" in one.by and len(one.by) > 1 for one in lines)


def _row_key(summary: Summary, by: Mapping[str, str], is_by_task: bool) -> dict[str, Cell]:
    """Return what names a row: of a single group its model, if that is known."""
    model = summary.groups[0].model
    if not by and model is not None:
        return {"model": model}
    return {column_head(name): by[name] for name in by if not (is_by_task and name == "task")}
