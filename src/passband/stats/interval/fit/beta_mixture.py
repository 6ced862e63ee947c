"""A mixture of narrow Beta distributions, and its quantiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from passband.stats.checks import ROUNDING
from passband.types import Floats, Ints


def added(at: Ints, weights: Floats, length: int = 0) -> Floats:
    """Add up weights by position."""
    return np.asarray(np.bincount(at, weights, minlength=length), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class BetaMixture:
    """Many narrow distributions: the weight, mean and variance of each."""

    weights: Floats
    means: Floats
    variances: Floats

    @staticmethod
    def of_cells(values: Floats, weights: Floats, variances: Floats | float = 0.0) -> BetaMixture:
        """Take a value per cell of a grid, and let it change within a cell as to its neighbours.

        That gives each cell a variance of a twelfth of the squared change along each axis. The
        values move towards their mean by as much as keeps the variance of the whole.
        """
        within = np.zeros(values.shape)
        for axis, length in enumerate(values.shape):
            if length > 1:
                within += np.gradient(values, axis=axis) ** 2 / 12.0
        mean = float((weights * values).sum())
        between = float((weights * (values - mean) ** 2).sum())
        kept = max(between - float((weights * within).sum()), 0.0)
        moved = mean + (values - mean) * ((kept / between) ** 0.5 if between > 0.0 else 1.0)
        return BetaMixture(weights.ravel(), moved.ravel(), (within + variances).ravel())

    @staticmethod
    def together(mixtures: Sequence[BetaMixture], weights: Sequence[float]) -> BetaMixture:
        """Mix mixtures."""
        share = np.asarray(weights) / sum(weights)
        return BetaMixture(
            np.concatenate([w * one.weights for w, one in zip(share, mixtures, strict=True)]),
            np.concatenate([one.means for one in mixtures]),
            np.concatenate([one.variances for one in mixtures]),
        )

    @cached_property
    def mean(self) -> float:
        return float(self.weights @ self.means)

    @cached_property
    def sd(self) -> float:
        return float(np.sqrt(self.weights @ (self.variances + (self.means - self.mean) ** 2)))

    def quantiles(self, tail: float, bounds: tuple[float, float]) -> tuple[float, float]:
        """Return the equal-tailed quantiles; each piece is a Beta on the bounds, by moments."""
        low, high = bounds
        if high <= low or self.sd <= ROUNDING * (high - low):
            return self.mean, self.mean
        few = self._merged()
        mean = np.clip((few.means - low) / (high - low), ROUNDING, 1.0 - ROUNDING)
        most = mean * (1.0 - mean)
        variance = np.clip(few.variances / (high - low) ** 2, most * ROUNDING, most * 0.999999)
        size = most / variance - 1.0
        ends = [
            low + (high - low) * _solved(few.weights, mean * size, (1.0 - mean) * size, share)
            for share in (tail, 1.0 - tail)
        ]
        return ends[0], ends[1]

    def _merged(self) -> BetaMixture:
        """Merge neighbours into a few hundred pieces, finer towards the tails."""
        seen = np.flatnonzero(self.weights > 1e-16)
        order = seen[np.argsort(self.means[seen])]
        weights, means = self.weights[order], self.means[order]
        middle = np.clip(np.cumsum(weights) - weights / 2.0, ROUNDING, 1.0 - ROUNDING)
        _, group = np.unique(np.floor(np.log(middle / (1.0 - middle)) / 0.15), return_inverse=True)
        total = added(group, weights)
        mean = added(group, weights * means) / total
        square = self.variances[order] + (means - mean[group]) ** 2
        return BetaMixture(total, mean, added(group, weights * square) / total)


def _solved(weights: Floats, alpha: Floats, beta: Floats, share: float) -> float:
    """Return where a mixture of Betas reaches a share of its weight, by halving."""
    low, high = 0.0, 1.0
    for _ in range(45):
        middle = (low + high) / 2.0
        if float(weights @ _beta_cdf(alpha, beta, middle)) < share:
            low = middle
        else:
            high = middle
    return (low + high) / 2.0


def _beta_cdf(alpha: Floats, beta: Floats, x: float) -> Floats:
    """Return P(Beta <= x); by Paulson's cube-root rule where both parameters exceed 10."""
    from passband.stats.special import betainc, ndtr

    root = (beta / alpha * (x / (1.0 - x))) ** (1.0 / 3.0)
    above = (1.0 - 1.0 / (9.0 * beta)) * root - (1.0 - 1.0 / (9.0 * alpha))
    reached: Floats = ndtr(above / np.sqrt(root**2 / (9.0 * beta) + 1.0 / (9.0 * alpha)))
    small = np.minimum(alpha, beta) <= 10.0
    reached[small] = betainc(alpha[small], beta[small], x)
    return reached
