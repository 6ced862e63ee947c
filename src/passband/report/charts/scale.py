"""Map numbers to positions in a drawing, and place the ticks of an axis."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class AxisScale:
    """A line from numbers to places.

    >>> AxisScale(0, 1, 100, 300)(0.25), AxisScale(2, 2, 100, 300)(2)
    (150.0, 200.0)
    """

    low: float
    high: float
    start: float  #: the place of `low`
    stop: float

    def __call__(self, value: float) -> float:
        """Return the place of a number, within the drawing."""
        if self.high <= self.low:
            return (self.start + self.stop) / 2
        share = (value - self.low) / (self.high - self.low)
        return self.start + min(max(share, 0.0), 1.0) * (self.stop - self.start)


def finite(values: Iterable[float | None]) -> list[float]:
    """Return the numbers that can be drawn."""
    return [value for value in values if value is not None and math.isfinite(value)]


def share_range(values: Iterable[float | None]) -> tuple[float, float]:
    """Return the ends of an axis: 0 to 1 for shares, which are never zoomed, else a round range.

    >>> share_range([0.4, 0.45, None]), share_range([3.2, 7.9])
    ((0.0, 1.0), (0.0, 8.0))
    """
    drawn = finite(values)
    if all(0 <= value <= 1 for value in drawn):
        return 0.0, 1.0
    return number_range([*drawn, 0.0])


def number_range(values: Sequence[float]) -> tuple[float, float]:
    """Return round numbers around values.

    >>> number_range([-0.013, 0.052]), number_range([3.0]), number_range([])
    ((-0.02, 0.06), (2.5, 3.5), (0.0, 1.0))
    """
    if not values:
        return 0.0, 1.0
    low, high = min(values), max(values)
    if low == high:
        half = abs(low) / 10 or 0.5
        half = max(half, 0.5) if abs(low) < 10 else half
        return low - half, high + half
    step = _step(low, high)
    return _clean(math.floor(low / step + 1e-9) * step), _clean(
        math.ceil(high / step - 1e-9) * step
    )


def ticks(low: float, high: float) -> list[float]:
    """Return four or so round numbers of a range; quarters of 0 to 1.

    >>> ticks(0, 1), ticks(-0.02, 0.06)
    ([0.0, 0.25, 0.5, 0.75, 1.0], [-0.02, 0.0, 0.02, 0.04, 0.06])
    """
    if (low, high) == (0, 1):
        return [0.0, 0.25, 0.5, 0.75, 1.0]
    step = _step(low, high)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [_clean(index * step) for index in range(first, last + 1)]


def _step(low: float, high: float) -> float:
    """Return a step of 1, 2 or 5 times a power of ten that cuts a range into about four."""
    rough = (high - low) / 4
    power = 10.0 ** math.floor(math.log10(rough))
    return min((factor * power for factor in (1, 2, 5, 10)), key=lambda step: abs(step - rough))


def _clean(value: float) -> float:
    return float(f"{value:.12g}")


def tick_text(value: float, *, percent: bool = False) -> str:
    """Return the label of a tick.

    >>> tick_text(0.5), tick_text(0.25, percent=True), tick_text(1_000_000.0)
    ('0.5', '25', '1,000,000')
    """
    shown = _clean(100 * value if percent else value)
    if shown and not 1e-4 <= abs(shown) < 1e9:
        return f"{shown:.3g}"
    return f"{shown:,.10f}".rstrip("0").rstrip(".") if shown else "0"
