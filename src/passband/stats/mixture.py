"""How the success probabilities of the problems are spread, fitted once for all metrics.

First a beta-binomial, averaged over 240 members of the family by their likelihood; it says what a
further problem would look like. Then, from there, a free distribution over 61 probabilities by a
few steps of expectation maximisation; it says how noisy the trials are. Two things are on purpose.
The steps stop early: the converged fit puts every problem that was never solved exactly at zero,
and so finds too little noise. And as many problems as the square root of those observed are added
from the smooth start, so that no probability is ever ruled out. Both were chosen by measured
coverage (docs/coverage.md).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from passband.stats.lattice import Lattice, beta_masses
from passband.types import Floats

__all__ = ["Mixture", "fit_mixture"]

_LEAST = 1e-300  # a pair between two grid points may be out of reach of both


@dataclass(frozen=True, eq=False)
class Mixture:
    """A fitted spread of success probabilities; leading axes are data sets."""

    lattice: Lattice
    counts: Floats  # (..., pairs) problems observed at each pair
    predictive: Floats  # (..., pairs) law of one further problem, n being drawn from those seen
    mixing: Floats  # (..., points) weight of each success probability
    marginal: Floats  # (..., pairs) law of c given n under the mixing weights
    shares: Floats  # (..., ns) share of the problems that have each n

    @property
    def n_problems(self) -> Floats:
        total: Floats = self.counts.sum(axis=-1)
        return total


def fit_mixture(lattice: Lattice, counts: Floats) -> Mixture:
    """Fit both descriptions to counts over the pairs of a lattice."""
    problems = counts.sum(axis=-1, keepdims=True)
    shares = lattice.per_n(counts) / problems
    log_likelihood = counts @ lattice.log_beta_binomial.T
    weight = np.exp(log_likelihood - log_likelihood.max(axis=-1, keepdims=True))
    weight /= weight.sum(axis=-1, keepdims=True)
    predictive = weight @ lattice.beta_binomial * lattice.spread(shares)
    smooth = weight @ beta_masses() + 1e-9
    smooth /= smooth.sum(axis=-1, keepdims=True)
    total = int(problems.flat[0])
    mixing = smooth
    for _ in range(_steps(total)):
        ratio = counts / np.maximum(mixing @ lattice.binomial, _LEAST)
        mixing = mixing * (ratio @ lattice.binomial.T) / problems
    extra = total**0.5
    mixing = (total * mixing + extra * smooth) / (total + extra)
    marginal = np.maximum(mixing @ lattice.binomial, _LEAST)
    return Mixture(lattice, counts, predictive, mixing, marginal, shares)


def _steps(problems: int) -> int:
    """More problems allow a closer fit."""
    return min(max(round(problems / 2), 10), 150)
