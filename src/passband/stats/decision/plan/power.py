"""The problems that a difference takes when its variance is known only as well as a pilot shows."""

from __future__ import annotations

import numpy as np

from passband.stats.interval.default.wilson import student_quantile
from passband.types import Floats

__all__ = ["problems_for_power"]

_MOST = 2.0**51


def problems_for_power(
    variances: Floats, delta: float, level: float, power: float, assurance: float | None
) -> float:
    """Return the least number of problems, before rounding up, that give the power.

    `variances` are those of the difference on one problem that are possible. With M problems a
    difference is found with probability ``Phi(delta sqrt(M / v) - t)``, t being Student's quantile
    with M - 1 degrees of freedom. Without an assurance its mean over v is to be `power`, which is
    what repeating pilot and plan would give; with one, that share of the v is to have it.

    >>> round(problems_for_power(np.array([0.09]), 0.05, 0.95, 0.8, None), 1)
    284.3
    """
    from scipy.special import ndtr

    scaled = delta / np.sqrt(np.maximum(variances, 1e-300))

    def is_enough(problems: float) -> bool:
        reach = student_quantile(level, max(problems - 1.0, 1.0))
        found = ndtr(np.minimum(scaled * problems**0.5, 1e9) - reach)
        mean = found.mean() if assurance is None else np.quantile(found, 1.0 - assurance)
        return bool(mean >= power)

    low, high = 0.0, 1.0
    while not is_enough(high) and high < _MOST:
        low, high = high, 2.0 * high
    for _ in range(50):
        middle = (low + high) / 2.0
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high
