"""Compute the boundaries of repeated looks that share one error probability.

Looks at fractions t_1 < t_2 < ... = 1 of the information share an error alpha. A spending function
says how much of it may be used by fraction t (Lan and DeMets 1983). Boundary b_j is the quantile
for which P(|Z_j| >= b_j, |Z_i| < b_i for i < j) is what look j adds; the Z_j are the standardised
estimates, whose sums have independent increments. The density of those that have not crossed yet is
carried from look to look on a grid (Armitage, McPherson and Rowe 1969).

Lan and DeMets (1983), Biometrika 70, 659-663; Armitage, McPherson and Rowe (1969), JRSS A 132,
235-244; Jennison and Turnbull (2000), Group Sequential Methods, chapters 7 and 9.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from statistics import NormalDist
from typing import Literal, get_args

import numpy as np

from passband.errors import InvalidInput, UnknownName, nearest
from passband.stats.checks import as_share
from passband.types import Floats

Spending = Literal["power", "obrien-fleming", "pocock"]
_EXPONENT = 1.5  # of "power"
_FARTHEST = 8.0  # standard errors; beyond, a double has no tail
_STEPS = 60  # of the bisection
_LEAST_POINTS = 801


def spent(spending: Spending, fraction: float, alpha: float) -> float:
    """Return the two-sided alpha that may be spent by a fraction of the information.

    "power" is alpha t^1.5; "obrien-fleming" spends almost nothing early, "pocock" much.

    >>> round(spent("power", 0.25, 0.05), 5)
    0.00625
    """
    if spending not in get_args(Spending):
        hint = nearest(str(spending), get_args(Spending))
        raise UnknownName(
            f"no spending is named {spending!r}.{hint} Known: {', '.join(get_args(Spending))}."
        )
    if spending == "power":
        return float(alpha * fraction**_EXPONENT)
    if spending == "pocock":
        return alpha * math.log1p((math.e - 1.0) * fraction)
    quantile = -NormalDist().inv_cdf(alpha / 4.0) / math.sqrt(fraction)
    return 4.0 * NormalDist().cdf(-quantile)


def boundaries(
    fractions: Sequence[float], *, alpha: float = 0.05, spending: Spending = "power"
) -> tuple[float, ...]:
    """Return the boundary of each look, in standard errors.

    `fractions` are shares of the information at the last look; they must increase and end at 1.

    >>> [round(b, 2) for b in boundaries([0.25, 0.5, 0.75, 1.0])]
    [2.73, 2.47, 2.29, 2.15]
    """
    shares = _checked(fractions)
    alpha = as_share("alpha", alpha)
    if not math.isclose(shares[-1], 1.0):
        raise InvalidInput(f"the last look must be at fraction 1; got {shares[-1]:g}.")
    return boundaries_spending(shares, [spent(spending, share, alpha) for share in shares])


def boundaries_spending(
    information: Sequence[float], cumulative: Sequence[float]
) -> tuple[float, ...]:
    """Return the boundaries at which these cumulative errors are spent.

    `information` may be on any scale: trials will do.
    """
    times = _checked(information)
    if len(times) != len(cumulative):
        raise InvalidInput(
            f"there must be one error per look; got {len(cumulative)} for {len(times)}."
        )
    if any(later < earlier for earlier, later in pairwise((0.0, *cumulative, 1.0))):
        raise InvalidInput(f"spent errors must grow and stay below 1; got {list(cumulative)}.")
    return _carried(tuple(times), tuple(cumulative))


@lru_cache(maxsize=64)
def _carried(times: tuple[float, ...], cumulative: tuple[float, ...]) -> tuple[float, ...]:
    """Carry the density from look to look, and return the boundary of each."""
    result: list[float] = []
    density, before = _Density(), 0.0
    for time, total in zip(times, cumulative, strict=True):
        result.append(density.boundary(time, total - before))
        density.advance(time, result[-1])
        before = total
    return tuple(result)


def _checked(fractions: Sequence[float]) -> list[float]:
    """Refuse looks that do not increase: a step of no information has no boundary."""
    shares = [float(fraction) for fraction in fractions]
    if not shares or not shares[0] > 0.0 or not math.isfinite(shares[-1]):
        raise InvalidInput(f"looks must be at fractions above 0; got {shares}.")
    if any(later <= earlier for earlier, later in pairwise(shares)):
        raise InvalidInput(f"looks must be at increasing fractions; got {shares}.")
    return shares


class _Density:
    """The density of the sum at the last look, where no boundary has been crossed."""

    def __init__(self) -> None:
        self._time = 0.0
        self._points = np.zeros(1)
        self._weights = np.ones(1)  # of the points: density times width

    def boundary(self, time: float, error: float) -> float:
        """Return the boundary that is crossed at this look with probability `error`."""
        low, high = 0.0, _FARTHEST
        for _ in range(_STEPS):
            middle = (low + high) / 2.0
            if self._crossing(time, middle) > error:
                low = middle
            else:
                high = middle
        return high

    def advance(self, time: float, boundary: float) -> None:
        """Advance to this look, dropping paths that crossed."""
        step, reach = math.sqrt(time - self._time), boundary * math.sqrt(time)
        # At least eight points within one standard deviation of a step.
        half = max(_LEAST_POINTS // 2, math.ceil(8.0 * reach / step))
        points, width = np.linspace(-reach, reach, 2 * half + 1, retstep=True)
        # Simpson's weights 1 4 2 4 ... 2 4 1
        simpson = np.full(len(points), 2.0)
        simpson[1::2] = 4.0
        simpson[[0, -1]] = 1.0
        away = (points[:, None] - self._points) / step
        density = np.exp(-0.5 * away**2) @ self._weights / (step * math.sqrt(2.0 * math.pi))
        self._weights = density * simpson * float(width) / 3.0
        self._points, self._time = points, time

    def _crossing(self, time: float, boundary: float) -> float:
        from passband.stats.special import ndtr

        step, reach = math.sqrt(time - self._time), boundary * math.sqrt(time)
        out: Floats = ndtr((self._points - reach) / step) + ndtr((-self._points - reach) / step)
        return float(out @ self._weights)
