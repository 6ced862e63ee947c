"""How far a share is from the one that chance would give."""

from __future__ import annotations

import math

__all__ = ["standard_errors"]


def standard_errors(share: float, expected: float, error: float, scale: float) -> float:
    """Return the difference in standard errors: of it, or of the arcsine if those are fewer.

    `error` is that of the difference; that of the arcsine, 2 asin(sqrt(share)), is `scale`, for
    shares of any size. The first is too small where hardly anything is expected: one of five
    against none of 500 is 10 pooled errors, and 2 on the arcsine scale.

    >>> scale = (1 / 5 + 1 / 500) ** 0.5
    >>> round(standard_errors(0.2, 0.0, (1 / 505 * 504 / 505) ** 0.5 * scale, scale), 2)
    2.06
    """
    if error <= 1e-9:
        return 0.0
    ends = [math.asin(math.sqrt(min(max(each, 0.0), 1.0))) for each in (share, expected)]
    apart, arcs = (share - expected) / error, 2.0 * (ends[0] - ends[1]) / scale
    return math.copysign(min(abs(apart), abs(arcs)), apart)
