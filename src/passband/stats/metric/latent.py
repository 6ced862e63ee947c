"""The latent value of a credit vector: what it is worth after endless trials, given p."""

from __future__ import annotations

import numpy as np

from passband.stats.metric.pmf import binomial_pmf
from passband.types import Floats

__all__ = ["latent_credit"]

_TABLE = 1 << 20  # entries of a table that is made at once
_FEW_STEPS = 4


def latent_credit(credit: Floats, p: Floats) -> Floats:
    """Return ``g(p) = sum_j s_j Binomial(j; k, p)`` for a credit vector s_0 .. s_k.

    Summed over the steps of s where they are few, as they are for pass@k and its like.

    >>> latent_credit(np.array([0.0, 1.0, 1.0]), np.array([0.0, 0.5, 1.0])).tolist()
    [0.0, 0.75, 1.0]
    """
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
        reached: Floats = -np.expm1(xlog1py(k, -p))
    else:
        reached = p**k if j == k else betainc(j, k - j + 1, p)
    return reached


def _by_terms(credit: Floats, p: Floats) -> Floats:
    """Return g(p) as the sum of all its terms, in blocks of p."""
    k = len(credit) - 1
    j = np.arange(k + 1)
    flat = p.ravel()[:, None]
    value = np.empty(len(flat))
    rows = max(1, _TABLE // (k + 1))
    for start in range(0, len(flat), rows):
        some = slice(start, start + rows)
        value[some] = binomial_pmf(k, j, flat[some]) @ credit
    return value.reshape(p.shape)
