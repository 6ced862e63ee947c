"""Posterior moments of latent metrics, when each problem has a Beta prior of its own.

With c of n successes the success probability p of a problem is Beta(alpha+c, beta+n-c). The
moments of ``g(p)`` are beta-binomial sums over the credit vector, exact but for rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from passband.stats.counts import Histogram
from passband.stats.draws import beta_binomial_pmf
from passband.stats.kernel import expected_credit, multiply
from passband.types import Floats

__all__ = ["Moments", "posterior_moments"]

_ROWS_AT_ONCE = 1 << 21  # entries of the probability table held at a time


@dataclass(frozen=True)
class Moments:
    """Posterior means and covariances of one or more latent values, a row per (n, c) pair."""

    mean: Floats  # (pairs, metrics)
    covariance: Floats  # (pairs, metrics, metrics)

    def of_mean_over(self, histogram: Histogram) -> Moments:
        """Return the moments of the average over problems, which are independent."""
        weight = histogram.problems / histogram.n_problems
        spread = weight / histogram.n_problems
        return Moments(
            (weight @ self.mean)[None],
            np.tensordot(spread, self.covariance, axes=1)[None],
        )


def posterior_moments(
    histogram: Histogram, credits: Sequence[Floats], alpha: float, beta: float
) -> Moments:
    """Return mean and covariance of the latent values of several credit vectors of one length.

    Each covariance is E[xy] - E[x]E[y], taken for x and y as they are or for what they lack of
    their largest credit, whichever is smaller: the variance is the same, and the digits of a
    value near its maximum are kept.
    """
    tops = [float(credit.max()) for credit in credits]
    lacking = [top - credit for top, credit in zip(tops, credits, strict=True)]
    count = len(credits)
    draws = 2 * (len(credits[0]) - 1)
    columns = [_doubled(credit) for credit in (*credits, *lacking)]
    for first in range(count):
        for second in range(first + 1):
            columns.append(multiply(credits[first], credits[second]))
            columns.append(multiply(lacking[first], lacking[second]))
            columns.append(multiply(credits[first], lacking[second]))
            columns.append(multiply(lacking[first], credits[second]))
    return _assemble(_expectations(histogram, draws, np.stack(columns, axis=1), alpha, beta), tops)


def _doubled(credit: Floats) -> Floats:
    """Return the same metric as a credit vector over twice as many draws."""
    draws = 2 * (len(credit) - 1)
    return expected_credit(np.full(draws + 1, draws), np.arange(draws + 1), credit)


def _expectations(
    histogram: Histogram, draws: int, columns: Floats, alpha: float, beta: float
) -> Floats:
    """Return the posterior mean of each column of credits over `draws`, a row per pair."""
    result = np.empty((len(histogram.trials), columns.shape[1]))
    step = max(1, _ROWS_AT_ONCE // (draws + 1))
    for start in range(0, len(result), step):
        rows = slice(start, start + step)
        pmf = beta_binomial_pmf(
            histogram.trials[rows], histogram.successes[rows], draws, alpha, beta
        )
        result[rows] = pmf @ columns
    return result


def _assemble(expectations: Floats, tops: list[float]) -> Moments:
    count = len(tops)
    earned, lacking = expectations[:, :count], expectations[:, count : 2 * count]
    products = expectations[:, 2 * count :].reshape(len(expectations), -1, 2, 2)
    high = earned > lacking
    mean = np.where(high, np.array(tops) - lacking, earned)
    small = np.where(high, lacking, earned)
    covariance = np.empty((len(expectations), count, count))
    pair = 0
    for first in range(count):
        for second in range(first + 1):
            crossed = high[:, first] != high[:, second]
            same = np.where(high[:, first], products[:, pair, 0, 1], products[:, pair, 0, 0])
            mixed = np.where(high[:, first], products[:, pair, 1, 1], products[:, pair, 1, 0])
            value = np.where(crossed, mixed, same) - small[:, first] * small[:, second]
            value = np.where(crossed, -value, value)
            covariance[:, first, second] = covariance[:, second, first] = value
            pair += 1
    diagonal = np.arange(count)
    covariance[:, diagonal, diagonal] = np.maximum(covariance[:, diagonal, diagonal], 0.0)
    return Moments(mean, covariance)
