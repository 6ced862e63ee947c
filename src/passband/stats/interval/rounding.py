"""Numbers rounded by their error: 0.62 [0.58, 0.66], never 0.61875.

Whatever shows an estimate, be it a table, a chart or a sentence, writes it by a `Rounding`, so that
the same number looks the same everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

_PLACES = 4  # decimals of shares that have no interval


@dataclass(frozen=True)
class Rounding:
    """Format of one column's numbers: decimals, and whether in percent.

    >>> Rounding(1, percent=True).text(0.61875, 0.5812, 0.6593)
    '61.9 [58.1, 65.9]'
    """

    places: int
    percent: bool = False

    def value(self, value: float) -> str:
        """Format a number; as a percentage it has the digits that it has as a share.

        >>> Rounding(2).value(0.975), Rounding(0, percent=True).value(0.975)
        ('0.97', '97')
        """
        if not self.percent or not math.isfinite(value):
            return _fixed(value, self.places)
        return _fixed(Decimal(f"{value:.{self.places + 2}f}").scaleb(2), self.places)

    def interval(self, low: float | None, high: float | None) -> str:
        """Format an interval; a dash if there is none."""
        if low is None or high is None:
            return "-"
        return f"[{self.value(low)}, {self.value(high)}]"

    def text(self, value: float, low: float | None, high: float | None) -> str:
        """Format a value and its interval, if it has one."""
        return f"{self.value(value)} {self.interval(low, high)}".removesuffix(" -")


def common_rounding(
    estimates: Iterable[tuple[float, float | None, float | None]], *, percent: bool = False
) -> Rounding:
    """Return the common rounding for a column of estimates (value, low, high).

    The widest interval has at most three digits of its half-width and the narrowest at least one,
    so that no interval looks like a point. Estimates without an interval follow the others.

    >>> common_rounding([(0.51, 0.39, 0.63), (0.9695, 0.9612, 0.9778)])
    Rounding(places=3, percent=False)
    """
    factor = 100 if percent else 1
    values = []
    deserved = []
    for value, low, high in estimates:
        values.append(abs(factor * value))
        if low is not None and high is not None and 0 < high - low < math.inf:
            deserved.append(decimals(factor * low, factor * high))
    if deserved:
        fewest, most = min(deserved), max(deserved)
        return Rounding(max(min(most, fewest + 1), most - 1), percent)
    largest = max((value for value in values if math.isfinite(value)), default=0.0)
    whole = math.floor(math.log10(largest)) + 1 if largest > 1 else 0  # digits before the point
    return Rounding(max(_PLACES - whole, 0), percent)


def decimals(low: float | None, high: float | None) -> int:
    """Return the number of decimals that an interval deserves: two digits of its half-width.

    >>> decimals(0.58, 0.66), decimals(0.61871, 0.61879), decimals(None, None)
    (3, 6, 4)
    """
    if low is None or high is None or not 0 < high - low < math.inf:
        return _PLACES
    half = (high - low) / 2
    return min(max(1 - math.floor(math.log10(half)), 0), 9)


def rounded_value(value: float, low: float | None, high: float | None) -> str:
    """Format a value with the decimals that its interval deserves.

    >>> rounded_value(0.61875, 0.5812, 0.6593), rounded_value(-1e-17, -0.5, 0.5)
    ('0.619', '0.00')
    """
    return Rounding(decimals(low, high)).value(value)


def rounded_interval(low: float | None, high: float | None) -> str:
    """Format an interval with the decimals that it deserves; a dash if there is none.

    >>> rounded_interval(0.5812, 0.6593), rounded_interval(None, None)
    ('[0.581, 0.659]', '-')
    """
    return Rounding(decimals(low, high)).interval(low, high)


def rounded(value: float, low: float | None, high: float | None) -> str:
    """Format a value and its interval.

    >>> rounded(0.61875, 0.5812, 0.6593)
    '0.619 [0.581, 0.659]'
    """
    return Rounding(decimals(low, high)).text(value, low, high)


def _fixed(value: float | Decimal, places: int) -> str:
    """Format a number with a fixed number of decimals; zero has no sign."""
    text = f"{value:.{places}f}"
    return text if float(text) else text.removeprefix("-")
