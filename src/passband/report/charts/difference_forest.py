"""Draw paired differences as a forest: zero as a line, the tolerance as a stripe.

Position says which model is better; colour says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from passband.report.charts.bar import Bar, bars_caption, bars_rounding, ends_text
from passband.report.charts.canvas import Canvas, short
from passband.report.charts.chart import Chart
from passband.report.charts.interval_bars import describe
from passband.report.charts.rows import MOST_ROWS, Column, Rows, rows_note
from passband.report.charts.scale import finite, number_range, tick_text
from passband.report.charts.theme import LIGHT, Theme
from passband.report.charts.vega import bars_spec
from passband.stats.interval import Rounding


@dataclass(frozen=True)
class DifferenceForest(Chart):
    """Differences new - base with their intervals, a row each; `words` of a bar is its verdict.

    `tolerance` is the range of differences that do not matter: (-0.02, 0) for "no worse than two
    points", (-0.02, 0.02) for "the same within two points".
    """

    bars: Sequence[Bar]
    base: str
    new: str
    tolerance: tuple[float, float] | None = None
    level: float = 0.95
    rounding: Rounding | None = None
    title: str = "Differences"
    name: str = "differences"
    falls: Sequence[bool] = ()  #: for each bar, whether lower values are better

    @property
    def written(self) -> Rounding:
        """How numbers are written."""
        return self.rounding or bars_rounding(self.bars)

    @property
    def span(self) -> tuple[float, float]:
        """The ends of the axis: as far to one side of zero as to the other."""
        numbers = finite([*(n for bar in self.bars for n in bar.numbers), *(self.tolerance or ())])
        far = max(map(abs, numbers), default=0.0) or 0.1
        return number_range([-far, far])

    @property
    def caption(self) -> str:
        """The meaning of the bars, the line and the stripe."""
        base, new = short(self.base), short(self.new)
        side = "left" if self.falls and all(self.falls) else "right"
        words = f"{new} minus {base}: to the {side} of the line at zero {new} is better"
        if any(self.falls) and side == "right":
            words += ", or to the left of it where lower is better"
        words += ". "
        words += bars_caption(self.bars, self.level).replace("estimate", "difference")
        if self.tolerance is not None:
            low, high = (tick_text(end) for end in self.tolerance)
            words += f" Grey stripe: the tolerance, {low} to {high}."
        return words + rows_note(len(self.bars), "rows")

    @property
    def description(self) -> str:
        """The differences in words."""
        bars = self.bars[:MOST_ROWS]
        return f"{short(self.new)} minus {short(self.base)}. " + describe(bars, self.written)

    def draw(self, theme: Theme, *, narrow: bool) -> Canvas:
        """Draw label, bar, difference with its interval, and verdict of every row."""
        bars = self.bars[:MOST_ROWS]
        before = [Column("", [bar.label for bar in bars], bold=True, most=420)]
        after = [Column("difference", self._cells(bars), right=True, most=220)]
        if not narrow and any(bar.words for bar in bars):
            after.append(Column("", [bar.words for bar in bars], muted=True, most=130))
        percent = self.written.percent
        rows = Rows(bars, before, after, self.span, percent, stripe=self.tolerance, zero=True)
        return rows.draw(theme, narrow=narrow)

    def _cells(self, bars: Sequence[Bar]) -> list[str]:
        return [_signed(bar, self.written) for bar in bars]

    def vega(self) -> dict[str, Any]:
        """Return bars and ticks in layers, over the line at zero and the stripe."""
        spec = bars_spec(self, self.bars[:MOST_ROWS], self.span, f"{self.new} minus {self.base}")
        behind: list[dict[str, Any]] = []
        if self.tolerance is not None:
            low, high = self.tolerance
            behind.append(
                {
                    "data": {"values": [{"low": low, "high": high}]},
                    "mark": {"type": "rect", "color": LIGHT.empty},
                    "encoding": {
                        "x": {"field": "low", "type": "quantitative"},
                        "x2": {"field": "high"},
                        "y": None,
                    },
                }
            )
        zero = {
            "mark": {"type": "rule", "color": LIGHT.text},
            "encoding": {"x": {"datum": 0}, "y": None},
        }
        return spec | {"layer": [*behind, zero, *spec["layer"]]}


def _signed(bar: Bar, rounding: Rounding) -> str:
    """Return a difference with its sign, and its interval."""
    if bar.value is None:
        return "-"
    text = f"{rounding.value(bar.value)} {ends_text(bar.wide, rounding)}".removesuffix(" -")
    return text if text.startswith("-") else f"+{text}"
