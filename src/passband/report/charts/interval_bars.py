"""Draw a table of metrics as bars on one axis, which is never zoomed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from passband.report.charts.bar import (
    Bar,
    bars_caption,
    bars_rounding,
    draw_bar,
    ends_text,
    level_text,
)
from passband.report.charts.canvas import Canvas, short
from passband.report.charts.chart import Chart
from passband.report.charts.rows import MOST_ROWS, Column, Rows, rows_note
from passband.report.charts.scale import AxisScale, finite, share_range, tick_text, ticks
from passband.report.charts.theme import PAGE, Theme
from passband.report.charts.vega import bars_spec
from passband.stats.interval import Rounding


@dataclass(frozen=True)
class IntervalBars(Chart):
    """Estimates and their intervals, a row each.

    >>> chart = IntervalBars((Bar("pass@1", 0.42, (0.365, 0.477), (0.41, 0.43)),))
    >>> chart.description
    'pass@1 0.420, interval 0.365 to 0.477.'
    """

    bars: Sequence[Bar]
    level: float = 0.95
    rounding: Rounding | None = None  #: that of the table beside it; None: by the errors
    title: str = "Estimates and their intervals"
    name: str = "intervals"

    @property
    def written(self) -> Rounding:
        """How numbers are written."""
        return self.rounding or bars_rounding(self.bars)

    @property
    def span(self) -> tuple[float, float]:
        """The ends of the axis."""
        return share_range(number for bar in self.bars for number in bar.numbers)

    @property
    def caption(self) -> str:
        """The meaning of the bars."""
        note = rows_note(len(self.bars), "rows")
        return bars_caption(self.bars, self.level) + scale_note(self.span) + note

    @property
    def description(self) -> str:
        """The estimates in words."""
        return describe(self.bars[:MOST_ROWS], self.written)

    def draw(self, theme: Theme, *, narrow: bool) -> Canvas:
        """Draw label, value, interval, bar and words of every row."""
        bars = self.bars[:MOST_ROWS]
        before = [
            Column("metric", [bar.label for bar in bars], bold=True),
            Column("value", value_cells(bars, self.written), right=True, bold=True),
        ]
        after = [Column("in words", [bar.words for bar in bars], muted=True, most=280)]
        if any(bar.wide != (None, None) for bar in bars):
            head = f"{level_text(self.level)} interval"
            before.append(Column(head, interval_cells(bars, self.written), right=True))
        if narrow or not any(bar.words for bar in bars):
            after = []
        return Rows(bars, before, after, self.span, self.written.percent).draw(theme, narrow=narrow)

    def bar_svg(self, bar: Bar, theme: Theme = PAGE, *, width: float = 400) -> str:
        """Return one bar without words, for a cell of a table; the axis is that of all rows."""
        canvas = Canvas(theme, width, 24)
        scale = self._cell_scale(width)
        for mark in ticks(*self.span):
            canvas.line(scale(mark), 0, scale(mark), 24, "rule")
        draw_bar(canvas, bar, scale, 12)
        return canvas.svg(f"{self.title}: {bar.label}", describe([bar], self.written))

    def axis_svg(self, theme: Theme = PAGE, *, width: float = 400) -> str:
        """Return the numbers of the axis, for the head of a table with `bar_svg` below it."""
        canvas = Canvas(theme, width, 16)
        scale = self._cell_scale(width)
        marks = ticks(*self.span)
        for mark in (marks[0], marks[len(marks) // 2], marks[-1]):
            text = tick_text(mark, percent=self.written.percent)
            anchor = "start" if mark == marks[0] else "end" if mark == marks[-1] else "middle"
            canvas.text(scale(mark), 12, text, 12.5, fill="muted", anchor=anchor)  # type: ignore[arg-type]
        return canvas.svg("axis", f"from {tick_text(marks[0])} to {tick_text(marks[-1])}")

    def _cell_scale(self, width: float) -> AxisScale:
        return AxisScale(*self.span, 7, width - 7)

    def vega(self) -> dict[str, Any]:
        """Return bars, inner bars and ticks in layers."""
        return bars_spec(self, self.bars[:MOST_ROWS], self.span)


def scale_note(span: tuple[float, float]) -> str:
    """Return a sentence on an axis other than 0 to 1."""
    if span == (0.0, 1.0):
        return ""
    low, high = map(tick_text, span)
    return f" The axis runs from {low} to {high}: these are not shares of 1."


def value_cells(bars: Sequence[Bar], rounding: Rounding) -> list[str]:
    """Return the values as a table writes them."""
    return ["-" if bar.value is None else rounding.value(bar.value) for bar in bars]


def interval_cells(bars: Sequence[Bar], rounding: Rounding) -> list[str]:
    """Return the intervals as a table writes them."""
    return [ends_text(bar.wide, rounding) for bar in bars]


def describe(bars: Sequence[Bar], rounding: Rounding) -> str:
    """Return bars in words."""
    return " ".join(_sentence(bar, rounding) for bar in bars) or "No rows."


def _sentence(bar: Bar, rounding: Rounding) -> str:
    if bar.value is None:
        return f"{short(bar.label)}: no value."
    text = f"{short(bar.label)} {rounding.value(bar.value)}"
    if not finite(bar.wide):
        return f"{text}, no interval."
    ends = ends_text(bar.wide, rounding).strip("[]").replace(", ", " to ")
    return f"{text}, interval {ends}."


@dataclass(frozen=True)
class KindBars(Chart):
    """Estimates of one metric, one for each kind of problem, with the number of its problems."""

    bars: Sequence[Bar]
    metric: str
    kind: str = "kind"  #: what sets the rows apart, as the head of their column
    level: float = 0.95
    rounding: Rounding | None = None
    title: str = "By kind of problem"
    name: str = "kinds"

    @property
    def written(self) -> Rounding:
        """How numbers are written."""
        return self.rounding or bars_rounding(self.bars)

    @property
    def span(self) -> tuple[float, float]:
        """The ends of the axis."""
        return share_range(number for bar in self.bars for number in bar.numbers)

    @property
    def caption(self) -> str:
        """The meaning of the bars, and its limits."""
        sure = level_text(self.level)
        bar = f"{self.metric} and its {sure} interval for more problems of that kind."
        if any(bar.inner for bar in self.bars):
            bar += " Inner bar: these very problems, sampled again."
        apart = " Intervals of different rows are not a comparison: passband compare is."
        return bar + apart + scale_note(self.span) + rows_note(len(self.bars), "kinds")

    @property
    def description(self) -> str:
        """The estimates in words."""
        return describe(self.bars[:MOST_ROWS], self.written)

    def draw(self, theme: Theme, *, narrow: bool) -> Canvas:
        """Draw label, number of problems, bar and value of every row."""
        bars = self.bars[:MOST_ROWS]
        counts = ["" if bar.count is None else f"{bar.count:,}" for bar in bars]
        before = [Column(self.kind, [bar.label for bar in bars])]
        if any(counts):
            before.append(Column("problems", counts, right=True, muted=True, alone="{} problems"))
        after = [Column(self.metric, value_cells(bars, self.written), right=True, bold=True)]
        return Rows(bars, before, after, self.span, self.written.percent).draw(theme, narrow=narrow)

    def vega(self) -> dict[str, Any]:
        """Return bars and ticks in layers."""
        return bars_spec(self, self.bars[:MOST_ROWS], self.span, self.metric)
