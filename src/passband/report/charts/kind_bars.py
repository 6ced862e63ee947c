"""A metric by kind of problem: a row for each kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from passband.report.charts.bar import Bar, bars_rounding, level_text
from passband.report.charts.canvas import Canvas
from passband.report.charts.chart import Chart
from passband.report.charts.interval_bars import describe, scale_note, value_cells
from passband.report.charts.rows import MOST_ROWS, Column, Rows, rows_note
from passband.report.charts.scale import share_range
from passband.report.charts.theme import Theme
from passband.report.charts.vega import bars_spec
from passband.stats.interval import Rounding


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
        """What the bars mean, and what they do not."""
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
