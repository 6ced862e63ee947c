"""Posterior moments of metrics, with a Beta or a Dirichlet prior for each problem.

With c of n successes the success probability p of a problem is Beta(alpha+c, beta+n-c). The
moments of ``g(p)`` are beta-binomial sums over the credit vector, exact but for rounding.

With more than two categories of outcomes, each with a reward, a problem is known by how many of its
trials fell into each category. Problems with the same counts are handled once. Under the Dirichlet
prior that adds one trial to every category, the probabilities of a problem have a Dirichlet
posterior whose moments are closed forms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from passband.stats.data.counts import Histogram, binary_tally, byte_row_sums
from passband.stats.metric.credits import at_least, expected_credit, products
from passband.stats.metric.pmf import beta_binomial_pmf
from passband.types import Bools, Floats, Ints

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


@dataclass(frozen=True, eq=False)
class CategoryCounts:
    """Distinct vectors of category counts, and how many problems have each."""

    vectors: Ints  # (distinct, categories)
    problems: Ints

    @staticmethod
    def of_matrix(
        outcomes: NDArray[np.generic], categories: int, present: Bools | None = None
    ) -> CategoryCounts:
        """Count a matrix of category numbers, rows being problems; absent entries are left out."""
        if categories == 2 and present is None:
            tally = binary_tally(outcomes)
            if tally is not None:
                return CategoryCounts._of_binary(Histogram.of_tally(outcomes.shape[1], tally))
        hits = [outcomes == category for category in range(categories)]
        if present is not None:
            hits = [hit & present for hit in hits]
        return CategoryCounts._of_rows(np.stack([byte_row_sums(hit) for hit in hits], axis=1))

    @staticmethod
    def _of_binary(histogram: Histogram) -> CategoryCounts:
        failures = histogram.trials - histogram.successes
        return CategoryCounts(np.stack([failures, histogram.successes], 1), histogram.problems)

    @staticmethod
    def _of_rows(rows: Ints) -> CategoryCounts:
        base = int(rows.max()) + 1
        if base ** rows.shape[1] >= 2**62:
            vectors, problems = np.unique(rows, axis=0, return_counts=True)
            return CategoryCounts(vectors, problems)
        codes = rows @ base ** np.arange(rows.shape[1])
        _, first, problems = np.unique(codes, return_index=True, return_counts=True)
        return CategoryCounts(rows[first], problems)

    @property
    def n_problems(self) -> int:
        return int(self.problems.sum())


@dataclass(frozen=True)
class DirichletPosterior:
    """Posterior mean and standard deviation of a value averaged over all problems."""

    mean: float
    sd: float


def mean_moments(counts: CategoryCounts, rewards: Floats) -> DirichletPosterior:
    """Return the posterior of the expected reward of one draw, averaged over problems."""
    scaled, exponent = _to_unit_scale(rewards)
    return _over_problems(counts, *_mean_and_variance(counts, scaled), exponent)


def observed_mean_moments(counts: CategoryCounts, rewards: Floats) -> DirichletPosterior:
    """Return the plain mean reward, with the posterior spread brought to its scale."""
    scaled, exponent = _to_unit_scale(rewards)
    observed = counts.vectors.sum(axis=1)
    _, variance = _mean_and_variance(counts, scaled)
    stretch = (observed + counts.vectors.shape[1]) / observed
    mean = counts.vectors @ scaled / observed
    return _over_problems(counts, mean, variance * stretch**2, exponent)


def max_moments(counts: CategoryCounts, rewards: Floats, k: int) -> DirichletPosterior:
    """Return the posterior of the expected best reward among k new draws.

    With reward levels r_1 < ... < r_L and A_l the probability of a reward of at most r_l, the
    latent value is ``r_L - sum_l (r_(l+1) - r_l) A_l**k``. Every A_l is Beta distributed, and

        Cov(A_l**k, A_m**k) = E[A_l**k] E[A_m**k] (rho - 1),
        log rho = sum_(i<k) log1p(k (T - a) / ((a + i) (T + k + i))),

    a being the pseudo-count up to the larger of the two levels and T that of all. Every term is
    positive, so the variance is, too, and neither cancels nor overflows.
    """
    scaled, exponent = _to_unit_scale(rewards)
    levels, level_of = np.unique(scaled, return_inverse=True)
    pseudo = np.zeros((len(counts.vectors), len(levels)))
    np.add.at(pseudo.T, level_of, (counts.vectors + 1.0).T)
    below = pseudo.cumsum(axis=1)
    total, below = below[:, -1:], below[:, :-1]
    log_power = np.zeros_like(below)
    log_ratio = np.zeros_like(below)
    for i in range(k):
        log_power += np.log1p((below - total) / (total + i))
        log_ratio += np.log1p(k * (total - below) / ((below + i) * (total + k + i)))
    mean = levels[-1] - np.exp(log_power) @ np.diff(levels)
    variance = _sum_of_covariances(log_power, log_ratio, np.diff(levels))
    return _over_problems(counts, mean, variance, exponent)


def max_at_k(counts: CategoryCounts, rewards: Floats, k: int) -> float:
    """Return the expected best reward among k of the recorded trials, averaged over problems.

    The best of k reaches a level when at least one draw does, so this is pass@k at every level,
    weighted by the steps between levels.
    """
    scaled, exponent = _to_unit_scale(rewards)
    levels = np.unique(scaled)
    trials = counts.vectors.sum(axis=1)
    best = np.zeros(len(trials))
    for lower, upper in pairwise(levels):
        reached = counts.vectors[:, scaled >= upper].sum(axis=1)
        best += (upper - lower) * expected_credit(trials, reached, at_least(k, 1))
    mean = float(levels[0] + counts.problems @ best / counts.n_problems)
    return math.ldexp(mean, exponent)


def _sum_of_covariances(log_power: Floats, log_ratio: Floats, steps: Floats) -> Floats:
    """Return sum_lm step_l step_m exp(log_power_l + log_power_m) (exp(log_ratio_max(l,m)) - 1)."""
    gentle = np.log(np.expm1(np.minimum(log_ratio, 1.0)))
    steep = log_ratio + np.log1p(-np.exp(-np.maximum(log_ratio, 1.0)))
    log_excess = np.where(log_ratio < 1.0, gentle, steep)
    variance = np.zeros(len(log_power))
    for upper in range(len(steps)):
        for lower in range(upper + 1):
            weight = steps[lower] * steps[upper] * (1.0 if lower == upper else 2.0)
            exponent = log_power[:, lower] + log_power[:, upper] + log_excess[:, upper]
            variance += weight * np.exp(exponent)
    return variance


def _to_unit_scale(rewards: Floats) -> tuple[Floats, int]:
    """Divide by a power of two, which is exact, so that no difference or square can overflow."""
    _, exponent = np.frexp(np.abs(rewards).max())
    return np.ldexp(rewards, -int(exponent)), int(exponent)


def _mean_and_variance(counts: CategoryCounts, rewards: Floats) -> tuple[Floats, Floats]:
    """Return posterior mean and variance of the expected reward, per distinct vector."""
    pseudo = counts.vectors + 1.0
    total = pseudo.sum(axis=1)
    above = rewards - rewards[0]
    mean = pseudo @ above / total
    variance = (pseudo * (above - mean[:, None]) ** 2).sum(axis=1) / total / (total + 1.0)
    return rewards[0] + mean, variance


def _over_problems(
    counts: CategoryCounts, mean: Floats, variance: Floats, exponent: int
) -> DirichletPosterior:
    """Average independent problems, and undo the scaling."""
    m = counts.n_problems
    sd = math.sqrt(counts.problems @ variance) / m
    return DirichletPosterior(
        math.ldexp(counts.problems @ mean / m, exponent), math.ldexp(sd, exponent)
    )
