"""The credit vector of each metric: what j = 0..k successes among k draws are worth."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from passband.errors import InvalidInput
from passband.stats.tolerance import ROUNDING
from passband.types import ArrayLike, Floats

__all__ = [
    "all_of",
    "at_least",
    "at_least_share",
    "auc",
    "majority",
    "mean_over_shares",
    "mean_over_shares_integral",
    "share",
    "spectrum",
    "spectrum_weights",
    "success_threshold",
    "upper_half_weights",
]


def at_least(k: int, threshold: int) -> Floats:
    """Return a credit of 1 for `threshold` successes or more.

    >>> at_least(3, 2).tolist()
    [0.0, 0.0, 1.0, 1.0]
    """
    return (np.arange(k + 1) >= threshold).astype(np.float64)


def all_of(k: int) -> Floats:
    """Return a credit of 1 when every draw succeeds."""
    return at_least(k, k)


def majority(k: int) -> Floats:
    """Return a credit of 1 for more than half of the draws; a tie earns nothing."""
    return at_least(k, k // 2 + 1)


def share(k: int) -> Floats:
    """Return a credit of j/k, which gives the mean."""
    return np.arange(k + 1) / k


def success_threshold(k: int, tau: float | Fraction) -> int:
    """Return the least number of successes that is a share of at least tau of k.

    This is max(1, ceil(tau k)) in the sense a person means: 0.28 of 25 is 7, although the float
    product 0.28 * 25 is 7.000000000000001. A float is compared with j/k rounded the same way, so
    both decimals and computed quotients hit the threshold that is meant. A Fraction is exact.

    >>> success_threshold(25, 0.28), success_threshold(6, 5 / 6), success_threshold(8, 0)
    (7, 5, 1)
    """
    if isinstance(tau, Fraction):
        return max(1, math.ceil(tau * k))
    near = math.floor(tau * k)
    return max(1, next(j for j in range(max(0, near - 1), k + 1) if j / k >= tau))


def at_least_share(k: int, tau: float | Fraction) -> Floats:
    """Return a credit of 1 for a share of at least tau of the draws."""
    return at_least(k, success_threshold(k, tau))


def mean_over_shares(k: int) -> Floats:
    """Return the credit of mG-Pass@k as published: the mean of G-Pass@k above one half.

    ``(2/k) max(0, j - ceil(k/2))``. At odd k the largest credit is (k-1)/k, so a perfect model
    does not reach 1, and at k = 1 everything is 0; `mean_over_shares_integral` has no such gap.

    >>> mean_over_shares(4).tolist(), mean_over_shares(1).tolist()
    ([0.0, 0.0, 0.0, 0.5, 1.0], [0.0, 0.0])
    """
    credit: Floats = 2.0 * np.maximum(np.arange(k + 1) - (k + 1) // 2, 0) / k
    return credit


def mean_over_shares_integral(k: int) -> Floats:
    """Return the credit of mG-Pass@k as an integral: 2 times G-Pass@k over tau from 1/2 to 1.

    ``max(0, 2j/k - 1)``; the same as `mean_over_shares` at even k, and 1 for a perfect model.

    >>> mean_over_shares_integral(1).tolist(), mean_over_shares_integral(4).tolist()
    ([0.0, 1.0], [0.0, 0.0, 0.0, 0.5, 1.0])
    """
    credit: Floats = np.maximum(2.0 * np.arange(k + 1) - k, 0.0) / k
    return credit


def auc(k: int) -> Floats:
    """Return the credit of the area under pass@1 .. pass@k by the trapezoidal rule.

    The area is divided by k - 1. With j successes among k draws the sum of pass@1 .. pass@k is
    (k+1) j/(j+1).

    >>> auc(1).tolist(), auc(2).tolist()
    ([0.0, 1.0], [0.0, 0.75, 1.0])
    """
    if k == 1:
        return share(1)
    j = np.arange(1, k + 1)
    whole = (k + 1) * (j / (j + 1)) - (j / k + 1) / 2
    return np.concatenate([[0.0], whole / (k - 1)])


def spectrum(weights: ArrayLike) -> Floats:
    """Return the credit of a threshold spectrum: j successes pass the first j thresholds.

    >>> spectrum([0.5, 0.0, 0.25]).tolist()
    [0.0, 0.5, 0.5, 0.75]
    """
    return np.concatenate([[0.0], np.cumsum(np.asarray(weights, dtype=np.float64))])


def upper_half_weights(k: int) -> Floats:
    """Return the spectrum weights of mG-Pass@k: 2/k on every threshold above ceil(k/2)."""
    return np.where(np.arange(1, k + 1) > (k + 1) // 2, 2.0 / k, 0.0)


def spectrum_weights(weights: ArrayLike, k: int) -> Floats:
    """Check custom spectrum weights: k of them, finite, not negative, of sum at most 1."""
    if np.ma.is_masked(weights):
        raise InvalidInput(f"weights must not be masked; got {weights!r}")
    try:
        raw = np.asarray(weights)
    except ValueError:
        raise InvalidInput(f"weights must be a length-{k} 1D array; got {weights!r}") from None
    if raw.shape != (k,):
        raise InvalidInput(f"weights must be a length-{k} 1D array; got shape {raw.shape}")
    if raw.dtype.kind == "c":
        raise InvalidInput("weights must contain real values, not complex values")
    if raw.dtype.kind not in "biuf":
        raise InvalidInput(f"weights must contain only numeric values; got {weights!r}")
    with np.errstate(over="ignore"):
        values: Floats = raw.astype(np.float64)
    if not np.isfinite(values).all():
        raise InvalidInput(f"weights must be finite; got {values.tolist()}")
    if (values < 0).any():
        raise InvalidInput(f"weights must be non-negative; got {values.tolist()}")
    if (total := float(values.sum())) > 1.0 + ROUNDING:
        raise InvalidInput(f"weights must satisfy sum(weights) <= 1; got sum={total}")
    return values
