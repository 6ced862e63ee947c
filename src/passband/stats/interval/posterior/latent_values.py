"""What a metric is worth after endless trials, at a given success probability."""

from __future__ import annotations

import numpy as np

from passband.stats.metric.components import (
    BestScore,
    Credit,
    GeometricBlend,
    MeanScore,
    PosteriorMean,
    ProblemValue,
    blend,
)
from passband.stats.metric.credits import all_of, at_least
from passband.types import Floats

__all__ = ["latent_values"]

_TABLE = 1 << 20  # entries of a table that is made at once
_FEW_STEPS = 4


def latent_values(part: ProblemValue, p: Floats, k: int, n: int) -> Floats:
    """Return what a part is expected to be worth at success probabilities p.

    A part of an unknown kind is taken at the value expected of n trials.

    >>> latent_values(Credit(at_least(2, 1)), np.array([0.0, 0.5, 1.0]), 2, 8).tolist()
    [0.0, 0.75, 1.0]
    """
    if isinstance(part, Credit):
        return _bernstein(part.credit, p)
    if isinstance(part, GeometricBlend):
        both = [_bernstein(credit, p) for credit in (at_least(k, 1), all_of(k))]
        return blend(np.stack(both, axis=-1), part.powers)
    if isinstance(part, BestScore):
        return _bernstein(at_least(k, 1), p)
    if isinstance(part, (MeanScore, PosteriorMean)):
        return p
    n = max(n, k)
    return _bernstein(part.at(np.full(n + 1, n), np.arange(n + 1), k), p)


def _bernstein(credit: Floats, p: Floats) -> Floats:
    """Return ``sum_j s_j Binomial(j; k, p)``, from the steps of s where they are few."""
    steps = np.diff(credit)
    (jumps,) = steps.nonzero()
    if len(jumps) > _FEW_STEPS:
        return _by_terms(credit, p)
    value = np.full(p.shape, credit[0])
    for jump in jumps.tolist():
        value += steps[jump] * _reaches(jump + 1, len(steps), p)
    return value


def _reaches(j: int, k: int, p: Floats) -> Floats:
    """Return P(at least j of k succeed)."""
    from scipy.special import betainc, xlog1py

    if j == 1:
        found: Floats = -np.expm1(xlog1py(k, -p))
    else:
        found = p**k if j == k else betainc(j, k - j + 1, p)
    return found


def _by_terms(credit: Floats, p: Floats) -> Floats:
    from scipy.special import gammaln, xlog1py, xlogy

    k = len(credit) - 1
    j = np.arange(k + 1)
    ways = gammaln(k + 1) - gammaln(j + 1) - gammaln(k - j + 1)
    flat = p.ravel()[:, None]
    value = np.empty(len(flat))
    rows = max(1, _TABLE // (k + 1))
    for start in range(0, len(flat), rows):
        some = flat[start : start + rows]
        value[start : start + rows] = np.exp(ways + xlogy(j, some) + xlog1py(k - j, -some)) @ credit
    return value.reshape(p.shape)
