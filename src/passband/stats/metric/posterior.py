"""Posterior moments of latent metrics, when each problem has a Beta prior of its own.

With c of n successes the success probability p of a problem is Beta(alpha+c, beta+n-c). The
moments of ``g(p)`` are beta-binomial sums over the credit vector, exact but for rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from passband.stats.data.counts import Histogram
from passband.stats.metric.credits import products
from passband.stats.metric.pmf import beta_binomial_pmf
from passband.types import Floats

__all__ = ["Moments", "posterior_moments"]

_ENTRIES_AT_ONCE = 1 << 21  # of the probability table
_LARGEST_KEPT = 1 << 14


@dataclass(frozen=True, eq=False)
class Moments:
    """Posterior means and covariances of one or more latent values, a row per (n, c) pair."""

    mean: Floats  # (pairs, metrics)
    covariance: Floats  # (pairs, metrics, metrics)

    def of_mean_over(self, histogram: Histogram) -> Moments:
        """Return the moments of the average over problems, which are independent."""
        weight = np.asarray(histogram.problems / histogram.n_problems, dtype=np.float64)
        mean: Floats = weight @ self.mean
        flat: Floats = weight / histogram.n_problems @ self.covariance.reshape(len(weight), -1)
        return Moments(mean[None], flat.reshape(1, *self.covariance.shape[1:]))


def posterior_moments(
    histogram: Histogram, credits: Sequence[Floats], alpha: float, beta: float
) -> Moments:
    """Return mean and covariance of the latent values of several credit vectors of one length.

    Each covariance is E[xy] - E[x]E[y], taken for x and y as they are or for what they lack of
    their largest credit, whichever is smaller: but for its sign the covariance is the same, and
    the digits of a value near its maximum are kept.
    """
    earned = np.stack(credits, axis=1)
    tops = earned.max(axis=0)
    single, double = products(np.concatenate([earned, tops - earned], axis=1))
    columns = np.concatenate([single, double.reshape(len(double), -1)], axis=1)
    means, squares = np.split(_expectations(histogram, columns, alpha, beta), [single.shape[1]], 1)
    return _moments(means, squares, tops)


def _expectations(histogram: Histogram, columns: Floats, alpha: float, beta: float) -> Floats:
    """Return the posterior mean of each column of credits, a row per pair."""
    draws = len(columns) - 1
    n = int(histogram.trials[0])
    if (n + 1) * (draws + 1) <= _LARGEST_KEPT and (histogram.trials == n).all():
        kept: Floats = _whole_table(n, draws, alpha, beta)[histogram.successes] @ columns
        return kept
    result = np.empty((len(histogram.trials), columns.shape[1]))
    step = max(1, _ENTRIES_AT_ONCE // (draws + 1))
    for start in range(0, len(result), step):
        rows = slice(start, start + step)
        pmf = beta_binomial_pmf(
            histogram.trials[rows], histogram.successes[rows], draws, alpha, beta
        )
        result[rows] = pmf @ columns
    return result


@lru_cache(maxsize=64)
def _whole_table(n: int, draws: int, alpha: float, beta: float) -> Floats:
    return beta_binomial_pmf(np.full(n + 1, n), np.arange(n + 1), draws, alpha, beta)


def _moments(means: Floats, squares: Floats, tops: Floats) -> Moments:
    """Combine the moments of the earned and of the missing credit."""
    count = len(tops)
    earned, lacking = means[:, :count], means[:, count:]
    high = earned > lacking
    chosen = np.arange(count) + count * high
    small = np.where(high, lacking, earned)
    rows = np.arange(len(means))[:, None, None]
    joint = squares.reshape(-1, 2 * count, 2 * count)[rows, chosen[:, :, None], chosen[:, None, :]]
    covariance = joint - small[:, :, None] * small[:, None, :]
    covariance[high[:, :, None] != high[:, None, :]] *= -1.0
    diagonal = np.arange(count)
    covariance[:, diagonal, diagonal] = np.maximum(covariance[:, diagonal, diagonal], 0.0)
    return Moments(np.where(high, tops - lacking, earned), covariance)
