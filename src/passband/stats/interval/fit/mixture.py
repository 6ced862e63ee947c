"""A distribution of success probabilities, fitted to the counts once for all metrics.

First a beta-binomial, averaged over 240 members of the family by their likelihood; it says what a
further problem would look like. Then, from there, a free distribution over 61 probabilities by a
few steps of expectation maximisation; it gives the noise of the trials. Two things are on purpose.
The steps stop early: the converged fit puts every problem that was never solved exactly at zero,
and so finds too little noise. And a little of the smooth start is mixed in again, so that no
probability is ever ruled out.

How many steps, and how much of the start, was chosen by measured coverage (docs/coverage.md), for
two uses. Where n is at least 2k the data measure the noise, and the fit only has to be near. Where
n is less, the noise has to be extrapolated; then a closer fit does better, kept honest by more of
the smooth start.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from passband.stats.interval.fit.count_grid import CountGrid, beta_masses
from passband.types import Floats

__all__ = ["Mixing", "Mixture", "fit_mixture"]

_LEAST = 1e-300  # a pair between two grid points may be out of reach of both


@dataclass(frozen=True, eq=False)
class Mixing:
    """Weights of the success probabilities, and the probabilities of c given n that they imply."""

    weights: Floats  # (..., points)
    marginal: Floats  # (..., pairs)


@dataclass(frozen=True, eq=False)
class Mixture:
    """A fitted distribution of success probabilities; leading axes are data sets."""

    grid: CountGrid
    counts: Floats  # (..., pairs) problems observed at each pair
    predictive: Floats  # (..., pairs) probabilities of one further problem, n as observed
    near: Mixing  # for k up to half of n
    close: Mixing  # for larger k
    shares: Floats  # (..., ns) share of the problems that have each n

    def mixing(self, k: int) -> Mixing:
        """Return the fit to use for a metric with k draws."""
        return self.near if 2 * k <= self.grid.ns[0] else self.close


def fit_mixture(grid: CountGrid, counts: Floats) -> Mixture:
    """Fit both distributions to counts over the pairs of a grid."""
    problems = counts.sum(axis=-1, keepdims=True)
    shares = grid.per_n(counts) / problems
    log_likelihood = counts @ grid.log_beta_binomial.T
    weight = np.exp(log_likelihood - log_likelihood.max(axis=-1, keepdims=True))
    weight /= weight.sum(axis=-1, keepdims=True)
    predictive = weight @ grid.beta_binomial * grid.spread(shares)
    smooth = weight @ beta_masses() + 1e-9
    smooth /= smooth.sum(axis=-1, keepdims=True)
    total = int(problems.flat[0])
    few, many = min(max(round(total / 5), 5), 100), min(max(round(total / 2), 10), 150)
    early = _maximised(grid, counts / problems, smooth, few)
    late = _maximised(grid, counts / problems, early, many - few)
    near = _mixing(grid, (total * early + smooth) / (total + 1.0))
    extra = total**0.5
    close = _mixing(grid, (total * late + extra * smooth) / (total + extra))
    return Mixture(grid, counts, predictive, near, close, shares)


def _maximised(grid: CountGrid, frequencies: Floats, weights: Floats, steps: int) -> Floats:
    """Return the weights after some steps of expectation maximisation."""
    for _ in range(steps):
        ratio = frequencies / np.maximum(weights @ grid.binomial, _LEAST)
        weights = weights * (ratio @ grid.binomial.T)
    return weights


def _mixing(grid: CountGrid, weights: Floats) -> Mixing:
    return Mixing(weights, np.maximum(weights @ grid.binomial, _LEAST))
