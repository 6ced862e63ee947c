"""Variance and skewness of the problems of each stratum, for the interval over problems.

Arrays have one entry per stratum in the last axis; leading axes are data sets. Values are scaled to
[0, 1] where they have bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from passband.stats.interval.fit.count_grid import CountGrid
from passband.types import Floats

__all__ = ["Spread", "spread_of_counts", "spread_of_values"]

_LEAST = 1e-13


@dataclass(frozen=True, eq=False)
class Spread:
    """The moments of the strata's values, each around the mean of its stratum."""

    weight: Floats
    count: Floats  #: problems
    mean: Floats
    variance: Floats  #: of one problem's value
    third: Floats  #: central moment
    freedom: Floats  #: degrees of freedom of the variance

    @property
    def problems(self) -> float:
        """The number of problems that the weighted mean is worth."""
        return 1.0 / float((self.weight**2 / self.count).sum())


def spread_of_counts(grid: CountGrid, counts: Floats, values: Floats, weight: Floats) -> Spread:
    """Return the spread of strata from their counts over the pairs of a grid: (..., strata, pairs).

    To each stratum some problems are added that a family of Beta distributions, fitted to it,
    predicts. In all they are as many as the default interval of a single sample adds, and a
    stratum gets the more the more it would contribute to the variance if all problems were alike.
    """
    size = counts.sum(axis=-1)
    count = size.reshape(-1, size.shape[-1])[0]
    parts = weight**2 / count
    extra = max(2.0, float(parts.sum()) ** -0.5 - 1.0) * parts / parts.sum()
    masses = counts + extra[:, None] * _predicted(grid, counts)
    distribution = masses / masses.sum(axis=-1, keepdims=True)
    centre = (distribution * values).sum(axis=-1, keepdims=True)
    away = values - centre
    variance = (distribution * away**2).sum(axis=-1) * count / np.maximum(count - 1.0, 1.0)
    third = (distribution * away**3).sum(axis=-1)
    mean = (counts * values).sum(axis=-1) / count
    return _pooled(Spread(weight, count, mean, variance, third, count - 1.0 + 2.0 * extra))


def _predicted(grid: CountGrid, counts: Floats) -> Floats:
    """Return the probabilities of one further problem of each stratum, n as observed."""
    shares = grid.per_n(counts) / counts.sum(axis=-1, keepdims=True)
    likelihood = counts @ grid.log_beta_binomial.T
    weight = np.exp(likelihood - likelihood.max(axis=-1, keepdims=True))
    weight /= weight.sum(axis=-1, keepdims=True)
    predicted: Floats = weight @ grid.beta_binomial * grid.spread(shares)
    return predicted


def spread_of_values(strata: Sequence[Floats], weight: Floats) -> Spread:
    """Return the spread of strata from the values of their problems."""
    count = np.array([float(len(values)) for values in strata])
    mean = np.array([values.mean() for values in strata])
    squares = np.array([((values - values.mean()) ** 2).sum() for values in strata])
    third = np.array([((values - values.mean()) ** 3).mean() for values in strata])
    variance = squares / np.maximum(count - 1.0, 1.0)
    return _pooled(Spread(weight, count, mean, variance, third, count - 1.0))


def _pooled(spread: Spread) -> Spread:
    """Give strata of a single problem the mean variance of the others.

    Where every stratum is a single problem, that is the variance across all of them: too large,
    as it includes what differs between strata, but the only one there is.
    """
    is_single = spread.count == 1.0
    variance, third, freedom = spread.variance, spread.third, spread.freedom
    if is_single.any():
        degrees = spread.count - 1.0
        total = float(degrees.sum())
        if total:
            of_all = (variance @ degrees / total)[..., None]
            skew = (third @ degrees / total)[..., None]
        else:
            total = max(len(degrees) - 1.0, 1.0)
            away = spread.mean - spread.mean.mean(axis=-1, keepdims=True)
            of_all = (away**2).sum(axis=-1, keepdims=True) / total
            skew = (away**3).mean(axis=-1, keepdims=True)
        variance = np.where(is_single, np.maximum(of_all, variance), variance)
        third = np.where(is_single, skew, third)
        freedom = np.where(is_single, total, freedom)
    return Spread(
        spread.weight, spread.count, spread.mean, np.maximum(variance, _LEAST), third,
        np.maximum(freedom, 1.0),
    )  # fmt: skip
