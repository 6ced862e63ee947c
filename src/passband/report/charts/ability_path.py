"""Draw the path of an adaptive test: ability after each item, its band, the items asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from passband.report.charts.bar import level_text
from passband.report.charts.canvas import Canvas
from passband.report.charts.chart import Chart
from passband.report.charts.scale import AxisScale, finite, number_range, tick_text, ticks
from passband.report.charts.theme import LIGHT, Theme
from passband.report.charts.vega import spec
from passband.stats.interval import Rounding, common_rounding


@dataclass(frozen=True)
class AbilityStep:
    """An item, its answer, and ability after it."""

    item: str
    difficulty: float
    score: float | None  #: 1 right, 0 wrong, between for several trials; None: no score
    theta: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class AbilityPath(Chart):
    """Ability, as it is known after each item of an adaptive test."""

    steps: Sequence[AbilityStep]
    level: float = 0.95
    rounding: Rounding | None = None
    title: str = "Ability, item by item"
    name: str = "ability"

    @property
    def written(self) -> Rounding:
        """How numbers are written."""
        ends = [(s.theta, s.low, s.high) for s in self.steps[-1:] if s.theta is not None]
        return self.rounding or common_rounding(ends)

    @property
    def caption(self) -> str:
        """The meaning of line, band and dots."""
        return (
            "Line: ability after each item, on the scale of the item bank (logits). Band: its "
            f"{level_text(self.level)} interval after that item alone. Dots: difficulties of the "
            "items; filled is right, hollow is not."
        )

    @property
    def description(self) -> str:
        """Where the path ends, in words."""
        if not self.steps or self.steps[-1].theta is None:
            return "No ability yet."
        last = self.steps[-1]
        assert last.theta is not None
        value = self.written.text(last.theta, last.low, last.high)
        return f"After {len(self.steps):,} items ability is {value}."

    def draw(self, theme: Theme, *, narrow: bool) -> Canvas:
        """Draw the axes, the band, the line, and the items as dots at their difficulties."""
        width, height = (380.0, 280.0) if narrow else (760.0, 340.0)
        canvas = Canvas(theme, width, height)
        left, right, top, bottom = 44.0, width - 16, 14.0, height - 48
        span = self._span()
        x, y = (
            AxisScale(1, max(len(self.steps), 1), left + 8, right - 8),
            AxisScale(*span, bottom, top),
        )
        for mark in ticks(*span):
            canvas.line(left, y(mark), right, y(mark), "rule")
            canvas.text(left - 8, y(mark) + 4.5, tick_text(mark), 13, fill="muted", anchor="end")
        for mark in _counts(len(self.steps)):
            canvas.text(x(mark), bottom + 18, str(mark), 13, fill="muted", anchor="middle")
        canvas.text(
            (left + right) / 2, bottom + 38, "items asked", 13, fill="muted", anchor="middle"
        )
        self._path(canvas, x, y)
        return canvas

    def _path(self, canvas: Canvas, x: AxisScale, y: AxisScale) -> None:
        known = [(i, s) for i, s in enumerate(self.steps, 1) if s.theta is not None]
        banded = [(i, s.low, s.high) for i, s in known if s.low is not None and s.high is not None]
        upper = [(x(i), y(high)) for i, _, high in banded]
        lower = [(x(i), y(low)) for i, low, _ in reversed(banded)]
        if len(banded) == 1:
            (place, top), (_, bottom) = upper[0], lower[0]
            canvas.rect(place - 6, top, 12, bottom - top, "blue_outer", radius=6)
        elif banded:
            canvas.polygon([*upper, *lower], "blue_outer", 0.55)
        for i, step in enumerate(self.steps, 1):
            filled = "blue" if step.score is not None and step.score >= 0.5 else "background"
            canvas.circle(x(i), y(step.difficulty), 3, filled, stroke="blue", width=1.2)
        line = [(x(i), y(s.theta)) for i, s in known if s.theta is not None]
        if len(line) > 1:
            canvas.polyline(line, "text", 2)
        if line:
            canvas.circle(*line[-1], 4.5, "text")

    def _span(self) -> tuple[float, float]:
        """Return the range of abilities and difficulties; wide bands of first items are cut."""
        core = finite([n for step in self.steps for n in (step.theta, step.difficulty)])
        ends = finite(
            [n for step in self.steps[min(3, len(self.steps) - 1) :] for n in (step.low, step.high)]
        )
        return number_range([*core, *ends])

    def vega(self) -> dict[str, Any]:
        """Return band, line and items in layers."""
        rows = [
            {
                "position": i, "item": s.item, "difficulty": s.difficulty, "score": s.score,
                "theta": s.theta, "low": s.low, "high": s.high,
            }
            for i, s in enumerate(self.steps, 1)
        ]  # fmt: skip
        y: dict[str, Any] = {"type": "quantitative", "title": "ability (logits)"}
        x = {"field": "position", "type": "quantitative", "title": "items asked"}
        layers: list[dict[str, Any]] = [
            {
                "transform": [{"filter": "isValid(datum.low)"}],
                "mark": {"type": "area", "color": LIGHT.blue_outer, "opacity": 0.55, "clip": True},
                "encoding": {"y": {"field": "low", **y}, "y2": {"field": "high"}},
            },
            {
                "mark": {"type": "line", "color": LIGHT.text},
                "encoding": {"y": {"field": "theta", **y}},
            },
            {
                "mark": {"type": "point", "color": LIGHT.blue, "size": 24},
                "encoding": {
                    "y": {"field": "difficulty", **y},
                    "fillOpacity": {
                        "condition": {"test": "datum.score >= 0.5", "value": 1},
                        "value": 0,
                    },
                    "fill": {"value": LIGHT.blue},
                },
            },
        ]
        return spec(self, rows, layers, encoding={"x": x}, height=300)


def _counts(total: int) -> list[int]:
    """Return numbers of items for the axis: 1, some round ones, and the last."""
    if total < 2:
        return [1]
    inner = [round(mark) for mark in ticks(1, total) if 1 < mark <= total - total / 12]
    return sorted({1, *inner, total})
