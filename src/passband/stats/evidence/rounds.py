"""Rounds of asking: whether the trials of one are unlike those of another.

Given the scores of a problem, any order of them is as likely as any other if its trials are alike.
D_t is the sum over problems of the score in round t less the problem's mean; with n_i trials of
problem i, and v_i the variance of its scores, Cov(D_s, D_t) is the sum of v_i ([s = t] - 1/n_i)
over the problems that have both. The trend, sum of t D_t, is one direction among them; what is left
of D' C^- D without it is chi-square with a degree of freedom less.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from passband.types import Floats, Ints

__all__ = ["Rounds", "rounds_of"]

_SEVERAL = 5  # problems that a round needs
_MOST_ROUNDS = 200


@dataclass(frozen=True)
class Rounds:
    """How unlike the rounds of a data set are."""

    trend: float  #: in standard errors; below 0 if later trials score less
    others: float  #: what is left without the trend, as a normal deviate
    round: int  #: the one most unlike the others, from 1
    apart: float  #: how far it is, in standard errors
    inflation: float  #: of the standard error of the mean, beyond that of trials that are alike


def rounds_of(deviations: Floats, position: Ints, n: Ints, variances: Floats) -> Rounds:
    """Compare the rounds, given each trial's score less its problem's mean, and its round from 0.

    `n` and `variances` are of the problems.
    """
    trend = float(deviations @ (position + 1.0))
    spread = float(variances @ (n * (n + 1.0) * (n - 1.0))) / 12.0
    z = trend / math.sqrt(spread) if spread > 0.0 else 0.0
    totals, covariance = _totals(deviations, position, n, variances)
    if len(totals) < 2:
        return Rounds(z, 0.0, 0, 0.0, 1.0)
    chi_square, freedom = _quadratic(totals, covariance)
    steps = np.arange(1.0, len(totals) + 1.0)
    along = float(steps @ totals) ** 2 / float(steps @ covariance @ steps)
    apart = totals / np.sqrt(np.diag(covariance))
    worst = int(np.argmax(np.abs(apart)))
    inflation = math.sqrt(max(chi_square / freedom, 1.0))
    others = _deviate(max(chi_square - along, 0.0), freedom - 1)
    return Rounds(z, others, worst + 1, float(apart[worst]), inflation)


def _totals(
    deviations: Floats, position: Ints, n: Ints, variances: Floats
) -> tuple[Floats, Floats]:
    """Return D and its covariance, of the first rounds that several problems have."""
    rounds = min(int((_from(np.bincount(n)) >= _SEVERAL).sum()), _MOST_ROUNDS)
    totals = np.bincount(position, deviations, minlength=rounds)[:rounds].astype(np.float64)
    own = _from(np.bincount(n, variances))[:rounds]
    shared = _from(np.bincount(n, variances / n))
    later = np.maximum.outer(np.arange(rounds), np.arange(rounds))
    return totals, np.diag(own) - shared[later]


def _from(tally: Floats | Ints) -> Floats:
    """Return the sums of what belongs to t trials or more, for t = 1, 2, ..."""
    sums: Floats = np.cumsum(tally[:0:-1], dtype=np.float64)[::-1]
    return sums


def _quadratic(totals: Floats, covariance: Floats) -> tuple[float, int]:
    """Return D' C^- D, and the rank of C."""
    spreads, axes = np.linalg.eigh(covariance)
    keep = spreads > 1e-9 * spreads[-1]
    return float(((totals @ axes)[keep] ** 2 / spreads[keep]).sum()), int(keep.sum())


def _deviate(chi_square: float, freedom: int) -> float:
    """Return the normal deviate with the same upper tail (Wilson and Hilferty 1931)."""
    if freedom < 1:
        return 0.0
    spread = 2.0 / (9.0 * freedom)
    return (float(np.cbrt(chi_square / freedom)) - 1.0 + spread) / math.sqrt(spread)
