"""Compare with chance: a correlation over problems, and the size of a share."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from passband.types import Floats, Ints

_LARGE = 0.1
_FAR_BEYOND_CHANCE = 3.1  # standard errors: 1 in 500
_HALF = 0.5


@dataclass(frozen=True)
class Correlation:
    """The correlation of two numbers over problems."""

    value: float
    z: float  #: in standard errors
    largest_part: float  #: the share of it that one problem makes

    @property
    def is_clear(self) -> bool:
        """Whether it is above .1, more than 3.1 standard errors, and not made by one problem.

        One problem with a thousand trials among some with two would correlate with anything.
        """
        is_far = abs(self.value) > _LARGE and abs(self.z) > _FAR_BEYOND_CHANCE
        return is_far and not self.is_of_one

    @property
    def is_of_one(self) -> bool:
        """Whether one problem makes most of it."""
        return self.largest_part > _HALF


def correlation_of(
    x: Floats, y: Floats, weights: Ints | None = None, variances: Floats | None = None
) -> Correlation:
    """Correlate two numbers; each pair belongs to one problem, or to `weights` of them.

    z is r sqrt(M - 1) over M problems, or less: with deviations u and v from the means, and
    variances s^2 of y that depend on x, that is multiplied by (sum(u^2) sum(v^2) / (M sum(u^2
    s^2)))^(1/2) if it is below 1.

    >>> x, y = np.array([0.0, 0.0, 9.0]), np.array([0.5, 0.4, 1.0])
    >>> one = correlation_of(x, y, np.array([9, 9, 1]))
    >>> round(one.value, 2), round(one.z, 2), round(one.largest_part, 2), one.is_clear
    (0.93, 3.94, 0.95, False)
    """
    weights = np.ones(len(x), dtype=np.int64) if weights is None else weights
    problems = int(weights.sum())
    u, v = x - float(weights @ x) / problems, y - float(weights @ y) / problems
    products = u * v
    total, squares = float(weights @ products), float(weights @ u**2) * float(weights @ v**2)
    scale = math.sqrt(squares)
    if scale <= 0.0 or total == 0.0:
        return Correlation(0.0, 0.0, 0.0)
    narrower = 1.0
    if variances is not None:
        expected = problems * float(weights @ (u**2 * variances))
        narrower = math.sqrt(squares / max(expected, squares))
    value = total / scale
    z = value * math.sqrt(problems - 1) * narrower
    return Correlation(value, z, float((products / total).max()))


def variances_of(counts: Ints, n: Ints, weights: Ints) -> Floats:
    """Return the variance of counts / n that each n makes, if nothing but chance depends on n.

    It is B + W / n: W is the sum of counts (n - counts) / n over that of n - 1, B the rest of the
    variance of all. Shares of few trials scatter more, which by itself is no correlation.

    >>> counts, n, weights = np.array([1, 4, 0]), np.array([2, 4, 4]), np.array([4, 1, 1])
    >>> variances_of(counts, n, weights).round(3).tolist()
    [0.1, 0.05, 0.05]
    """
    size = n.astype(np.float64)
    shares = counts / size
    problems, freedom = float(weights.sum()), float(weights @ (size - 1.0))
    noise = float(weights @ (counts * (1.0 - shares)))
    within = noise / freedom if freedom > 0.0 else 0.0
    total = float(weights @ (shares - float(weights @ shares) / problems) ** 2) / problems
    between = max(total - within * float(weights @ (1.0 / size)) / problems, 0.0)
    return between + within / size


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
