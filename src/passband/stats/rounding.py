"""Numbers rounded by their error: 0.62 [0.58, 0.66], never 0.61875."""

from __future__ import annotations

import math

__all__ = ["decimals", "rounded"]


def decimals(low: float | None, high: float | None) -> int:
    """Return how many decimals an interval deserves: two digits of its half-width.

    >>> decimals(0.58, 0.66), decimals(0.61871, 0.61879), decimals(None, None)
    (2, 6, 4)
    """
    if low is None or high is None or not math.isfinite(high - low) or high <= low:
        return 4
    half = (high - low) / 2
    return min(max(1 - math.floor(math.log10(half)), 0), 9) if half < 0.1 else 2


def rounded(value: float | None, low: float | None, high: float | None) -> str:
    """Write a value and its interval with the decimals that the interval deserves.

    >>> rounded(0.61875, 0.5812, 0.6593)
    '0.619 [0.581, 0.659]'
    """
    if value is None:
        return "-"
    places = decimals(low, high)
    if low is None or high is None:
        return f"{value:.{places}f}"
    return f"{value:.{places}f} [{low:.{places}f}, {high:.{places}f}]"
