"""Summaries in notebooks: the table of `passband stats`, with a bar in every row."""

from __future__ import annotations

from passband.report.charts.bar import Bar
from passband.report.charts.figure import caption, figure, lines
from passband.report.charts.interval_bars import IntervalBars
from passband.report.charts.theme import NOTEBOOK
from passband.report.layout import rows
from passband.report.notebook.estimates import hue_of, intervals
from passband.report.notebook.table import Markup, html_table
from passband.report.rendering import Cell, Row
from passband.report.summary import explanation, meaning, remark_lines, warning_lines
from passband.report.table_line import TableLine, table_lines
from passband.summary import Summary

_MOST_ROWS = 200
_BAR = " "  # the head of the column of bars


def summary_html(summary: Summary) -> str:
    """Return the table of a summary, with bars for metrics that are shares of 1, and its notes."""
    table = rows(summary)[:_MOST_ROWS]
    every = table_lines(summary)
    bars = [_bar(one, summary) for one in every]
    chart = IntervalBars([bar for bar in bars if bar is not None], summary.request.level)
    shown = [_with_bar(row, bar, chart) for row, bar in zip(table, bars, strict=False)]
    head = {_BAR: chart.axis_svg(NOTEBOOK, width=240)} if chart.bars else {}
    below = [f"{meaning(summary)}.", *explanation(summary)[1:]]
    if len(every) > len(table):
        below.append(f"The first {len(table)} of {len(every)} rows are shown.")
    return figure(
        lines([*remark_lines(summary), *warning_lines(summary)]),
        html_table(shown, head),
        caption(chart.caption if chart.bars else "", notes=tuple(below)),
    )


def _bar(one: TableLine, summary: Summary) -> Bar | None:
    figure_ = one.figure
    if figure_ is None or not figure_.is_share:
        return None
    outer, inner = intervals(summary.request.over, (figure_.low, figure_.high))
    return Bar(one.line.metric, figure_.value, outer, inner, hue_of(one.line.metric))


def _with_bar(row: Row, bar: Bar | None, chart: IntervalBars) -> Row:
    """Return a row with its bar after the interval."""
    cells: dict[str, Cell] = {}
    for name, cell in row.items():
        cells[name] = cell
        if name.endswith("% interval") and chart.bars:
            cells[_BAR] = Markup("" if bar is None else chart.bar_svg(bar, NOTEBOOK, width=240))
    return cells
