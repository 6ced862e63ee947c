"""Draw an estimate as a line across two intervals, one for each target."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from passband.report.charts.canvas import Canvas
from passband.report.charts.scale import AxisScale, finite
from passband.stats.interval import Rounding, common_rounding

Ends = tuple[float | None, float | None]  #: of an interval; None: there is no such end
Hue = Literal["blue", "orange"]

_LEAST = 3.0  # pixels: an interval of no width is drawn, too


@dataclass(frozen=True)
class Bar:
    """A row of a chart: a label, an estimate, its intervals, and its meaning.

    `outer` is the interval for problems like these, `inner` that for these very problems.
    """

    label: str
    value: float | None
    outer: Ends | None = None
    inner: Ends | None = None
    hue: Hue = "blue"
    words: str = ""
    count: int | None = None  #: of problems behind it

    @property
    def numbers(self) -> tuple[float | None, ...]:
        """The value and the ends of both intervals."""
        return self.value, *(self.outer or ()), *(self.inner or ())

    @property
    def wide(self) -> Ends:
        """The interval written beside the bar: the outer one if there is one."""
        return self.outer or self.inner or (None, None)


def bars_rounding(bars: Iterable[Bar], *, percent: bool = False) -> Rounding:
    """Return how the numbers of bars are written: as in a table of the same estimates."""
    return common_rounding(
        ((bar.value, *bar.wide) for bar in bars if bar.value is not None), percent=percent
    )


def ends_text(ends: Ends, rounding: Rounding) -> str:
    """Return an interval as text; it may be open on one side.

    >>> ends_text((0.3, 0.5), Rounding(2)), ends_text((None, 0.5), Rounding(2))
    ('[0.30, 0.50]', 'below 0.50')
    """
    low, high = ends
    if low is not None and high is None:
        return f"above {rounding.value(low)}"
    if high is not None and low is None:
        return f"below {rounding.value(high)}"
    return rounding.interval(low, high)


def draw_bar(canvas: Canvas, bar: Bar, scale: AxisScale, y: float) -> None:
    """Draw a bar around a height: outer interval, inner interval, and a line for the estimate."""
    _interval(canvas, bar.outer, scale, y, 12, f"{bar.hue}_outer")
    _interval(canvas, bar.inner, scale, y, 6, bar.hue)
    if bar.value is not None and math.isfinite(bar.value):
        x = scale(bar.value)
        canvas.line(x, y - 8, x, y + 8, "text", 2)


def _interval(
    canvas: Canvas, ends: Ends | None, scale: AxisScale, y: float, height: float, role: str
) -> None:
    """Draw an interval with round ends; a missing or infinite end is that of the axis."""
    if ends is None or not finite(ends):
        return
    low, high = (scale(end) for end in _closed(ends, scale))
    middle, width = (low + high) / 2, max(high - low, _LEAST)
    radius = min(height, width) / 2
    canvas.rect(middle - width / 2, y - height / 2, width, height, role, radius=radius)


def _closed(ends: Ends, scale: AxisScale) -> tuple[float, float]:
    low, high = ends
    return (scale.low if low is None else low), (scale.high if high is None else high)


def level_text(level: float) -> str:
    r"""Return a level as a percentage without a line break inside.

    >>> level_text(0.95), level_text(0.999)
    ('95\xa0%', '99.9\xa0%')
    """
    return f"{100 * level:.6g}\N{NO-BREAK SPACE}%"


def wider_note(pairs: Iterable[tuple[Ends | None, Ends | None]]) -> str:
    """Return a sentence for intervals of which some inner one is clearly wider than its outer one.

    >>> wider_note([((0.2, 0.4), (0.25, 0.35))])
    ''
    """
    widths = [[_width(ends) for ends in pair] for pair in pairs]
    if not any(outer and inner and inner > 1.1 * outer for outer, inner in widths):
        return ""
    return " Some inner ones are wider: the two are estimated separately."


def _width(ends: Ends | None) -> float | None:
    low, high = ends or (None, None)
    return None if low is None or high is None else high - low


def bars_caption(bars: Sequence[Bar], level: float) -> str:
    r"""Return the meaning of the bars, and their level.

    >>> bars_caption([Bar("pass@1", 0.4, outer=(0.3, 0.5))], 0.95)
    'Bar: the 95\xa0% interval for problems like these, asked the same way. Line: the estimate.'
    """
    outer, inner = any(b.outer for b in bars), any(b.inner for b in bars)
    sure = level_text(level)
    like, same = "problems like these, asked the same way", "these very problems, sampled again"
    if outer and inner:
        words = f"Outer bar: {like}. Inner bar: {same}. Line: the estimate. All {sure} intervals."
        return words + wider_note((bar.outer, bar.inner) for bar in bars)
    if outer or inner:
        return f"Bar: the {sure} interval for {like if outer else same}. Line: the estimate."
    return "Line: the estimate. There are no intervals."
