"""Lay out a summary as rows: one per metric (long), or one per model (wide)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from passband.report.noted import interval_cell
from passband.report.rendering import Cell, Row
from passband.report.style import PLAIN, Style
from passband.report.table_line import TableLine, column_head, table_lines
from passband.stats.interval import Rounding
from passband.summary import Line, Summary


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
    for line, parts in zip(lines, cells, strict=True):
        by = _row_key(summary, line.by, is_by_task)
        row = rows.setdefault(tuple(by.values()), _WideRow(by))
        head = column_head(
            f"{line.by['task']} {line.line.metric}" if is_by_task else line.line.metric
        )
        for ending, cell in parts.items():
            columns[head + ending] = None
            row.cells[head + ending] = cell
        if not is_by_task:
            row.add_counts({name: it for name, it in line.counts().items() if name != "left out"})
    return [row.row(columns) for row in rows.values()]


def _is_by_task(lines: Sequence[TableLine]) -> bool:
    metrics = {line.line.metric for line in lines}
    return len(metrics) == 1 and all("task" in line.by and len(line.by) > 1 for line in lines)


def _row_key(summary: Summary, by: Mapping[str, str], is_by_task: bool) -> dict[str, Cell]:
    """Return the key of a row; of a single group its model, if known."""
    model = summary.groups[0].model
    if not by and model is not None:
        return {"model": model}
    return {column_head(name): by[name] for name in by if not (is_by_task and name == "task")}


_FULL = (
    "metric", "value", "low", "high", "se", "level", "over", "method", "problems", "left out",
    "no score", "trials",
)  # fmt: skip


def not_shares(summary: Summary, style: Style) -> list[str]:
    """Return the metrics that --percent leaves unchanged."""
    if not style.percent:
        return []
    lines = (line for line in table_lines(summary) if line.figure and not line.figure.is_share)
    return list(dict.fromkeys(line.line.metric for line in lines))


def rows(summary: Summary, style: Style = PLAIN) -> list[Row]:
    """Return the rows of a table for people, numbers rounded by their error or as asked.

    The columns "left out" (problems with too few trials), "no score" and "truncated" (trials)
    appear where any of them is not 0.
    """
    lines = table_lines(summary)
    roundings = style.roundings([line.figure for line in lines])
    if style.layout == "wide":
        cells = [
            {"": _cell(line, rounding)} for line, rounding in zip(lines, roundings, strict=True)
        ]
        return _without_empty(summary, wide_rows(summary, lines, cells))
    value = "percent" if style.percent and not not_shares(summary, style) else "value"
    heads = (value, interval_head(summary.request.level))
    long = [_long(line, rounding, heads) for line, rounding in zip(lines, roundings, strict=True)]
    return _without_empty(summary, long)


def _cell(line: TableLine, rounding: Rounding) -> str | None:
    """Return a value with its interval, or with the code of the note that forbids one."""
    if line.figure is None:
        return None
    forbidden = interval_cell(None, line.line.notes)
    text = rounding.text(*line.figure.numbers)
    return f"{text} {forbidden}" if forbidden else text


def _long(line: TableLine, rounding: Rounding, heads: tuple[str, str]) -> dict[str, Cell]:
    figure = line.figure
    numbers: tuple[Cell, Cell] = (None, None)
    if figure is not None:
        interval = rounding.interval(figure.low, figure.high)
        numbers = rounding.value(figure.value), interval_cell(interval, line.line.notes)
    row: dict[str, Cell] = {**_key(line.by), "metric": line.line.title}
    row |= dict(zip(heads, numbers, strict=True))
    return row | {"coverage": _coverage(line.line)} | line.counts()


def _without_empty(summary: Summary, rows: Sequence[Mapping[str, Cell]]) -> list[Row]:
    """Leave out the columns that say nothing here."""
    groups = summary.groups
    shown = {
        "left out": any(row.get("left out") for row in rows),
        "no score": any(group.n_unscored for group in groups),
        "truncated": any(group.n_truncated for group in groups),
        "coverage": bool(summary.request.certify or summary.request.calibrate),
    }
    return [{name: cell for name, cell in row.items() if shown.get(name, True)} for row in rows]


def full_rows(summary: Summary, style: Style = PLAIN) -> list[Row]:
    """Return the rows of a table for programs, numbers in full unless the style says otherwise.

    Always the same columns; of wide rows, a value with the ends of its interval for each metric.
    """
    lines = table_lines(summary)
    roundings = style.roundings([line.figure for line in lines])
    if style.layout == "wide":
        parts = ("value", "low", "high")
        cells = [
            {f" {name}".removesuffix(" value"): written[name] for name in parts}
            for written in map(_written, lines, roundings, [style] * len(lines))
        ]
        return list(wide_rows(summary, lines, cells))
    result = [_full(line, rounding, style) for line, rounding in zip(lines, roundings, strict=True)]
    if summary.request.certify or summary.request.calibrate:
        for row, line in zip(result, lines, strict=True):
            certificate = None if line.estimate is None else line.estimate.certificate
            row["coverage"] = None if certificate is None else certificate.coverage
    return list(result)


def _full(line: TableLine, rounding: Rounding, style: Style) -> dict[str, Cell]:
    row: dict[str, Cell] = {**_key(line.by), "metric": line.line.metric}
    if line.estimate is None:
        return row | dict.fromkeys(_FULL[1:])
    row |= _written(line, rounding, style)
    row |= {name: getattr(line.estimate, name) for name in ("level", "over", "method")}
    return row | {name: cell for name, cell in line.counts().items() if name != "truncated"}


def _written(line: TableLine, rounding: Rounding, style: Style) -> dict[str, Cell]:
    """Return the numbers of an estimate, rounded only where decimals are asked for."""
    names = ("value", "low", "high", "se")
    return {name: style.number(getattr(line.estimate, name, None), rounding) for name in names}


def interval_head(level: float) -> str:
    """Return the head of the interval column.

    >>> interval_head(0.95)
    '95% interval'
    """
    return f"{100 * level:.10g}% interval"


def _coverage(line: Line) -> str | None:
    if line.estimate is None or line.estimate.certificate is None:
        return None
    return line.estimate.certificate.percent


def _key(by: Mapping[str, str]) -> dict[str, Cell]:
    return {column_head(name): value for name, value in by.items()}
