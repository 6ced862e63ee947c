"""Numbers rounded by their error: 0.62 [0.58, 0.66], never 0.61875."""

from __future__ import annotations

import math

__all__ = ["decimals", "rounded", "rounded_interval", "rounded_value"]


def decimals(low: float | None, high: float | None) -> int:
    """Return the number of decimals that an interval deserves: two digits of its half-width.

    >>> decimals(0.58, 0.66), decimals(0.61871, 0.61879), decimals(None, None)
    (3, 6, 4)
    """
    if low is None or high is None or not 0 < high - low < math.inf:
        return 4
    half = (high - low) / 2
    return min(max(1 - math.floor(math.log10(half)), 0), 9)


def rounded_value(value: float, low: float | None, high: float | None) -> str:
    """Format a value with the decimals that its interval deserves.

    >>> rounded_value(0.61875, 0.5812, 0.6593), rounded_value(-1e-17, -0.5, 0.5)
    ('0.619', '0.00')
    """
    return _fixed(value, decimals(low, high))


def rounded_interval(low: float | None, high: float | None) -> str:
    """Format an interval with the decimals that it deserves; a dash if there is none.

    >>> rounded_interval(0.5812, 0.6593), rounded_interval(None, None)
    ('[0.581, 0.659]', '-')
    """
    if low is None or high is None:
        return "-"
    places = decimals(low, high)
    return f"[{_fixed(low, places)}, {_fixed(high, places)}]"


def rounded(value: float, low: float | None, high: float | None) -> str:
    """Format a value and its interval.

    >>> rounded(0.61875, 0.5812, 0.6593)
    '0.619 [0.581, 0.659]'
    """
    return f"{rounded_value(value, low, high)} {rounded_interval(low, high)}".removesuffix(" -")


def _fixed(value: float, places: int) -> str:
    """Format a number with a fixed number of decimals; zero has no sign."""
    text = f"{value:.{places}f}"
    return text if float(text) else text.removeprefix("-")
