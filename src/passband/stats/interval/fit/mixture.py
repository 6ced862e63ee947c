"""A distribution of success probabilities, fitted to the counts once for all metrics.

First a beta-binomial, averaged over 240 members of the family by their likelihood; it says what a
further problem would look like. Then, from there, a free distribution over 61 probabilities; it
gives the noise of the trials (`law`). Where problems differ in their numbers of trials there is one
for each stratum of them (`strata`), as that number may have to do with how hard they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from passband.stats.interval.fit.count_grid import CountGrid, beta_masses
from passband.stats.interval.fit.law import Law, Mixing
from passband.stats.interval.fit.strata import Stratum, strata_of
from passband.types import Floats

__all__ = ["Mixture", "fit_mixture", "posterior_of_betas"]

_FAR = -60.0  # log-likelihood ratio below which a Beta has no weight


@dataclass(frozen=True, eq=False)
class Mixture:
    """A fitted distribution of success probabilities; leading axes are data sets."""

    grid: CountGrid
    counts: Floats  # (..., pairs) problems observed at each pair
    predictive: Floats  # (..., pairs) probabilities of one further problem, n as observed
    shares: Floats  # (..., ns) share of the problems that have each n
    smooth: Floats  # (..., points) the averaged beta-binomial's success probabilities
    whole: Mixture | None = None  # of all problems, where some have too few trials for k

    @property
    def problems(self) -> int:
        """The number of problems of the first data set; coarse counts add up to it."""
        return round(float(self.counts.sum(axis=-1).flat[0]))

    @cached_property
    def pooled(self) -> Law:
        """The law fitted to all problems, whatever their number of trials."""
        return Law(self.grid, self.counts, self.smooth)

    @property
    def near(self) -> Mixing:
        return self.pooled.near

    @property
    def close(self) -> Mixing:
        return self.pooled.close

    def mixing(self, k: int) -> Mixing:
        """Return the fit to all problems to use for a metric with k draws."""
        return self.near if 2 * k <= self.grid.ns[0] else self.close

    @cached_property
    def strata(self) -> tuple[Stratum, ...]:
        """The problems by numbers of trials; one stratum has the law of all problems.

        The strata of many data sets are those of their average.
        """
        shares = self.shares.mean(axis=tuple(range(self.shares.ndim - 1)))
        found = strata_of(self.grid.ns, (self.pooled.problems * shares).tolist())
        if len(found) == 1:
            return (Stratum(found[0], slice(0, len(self.grid.trials)), self.pooled),)
        return tuple(self._stratum(ns) for ns in found)

    def _stratum(self, ns: slice) -> Stratum:
        part = self.grid.part(ns)
        whole = self if self.whole is None else self.whole
        same = [] if whole is self else [s.law for s in whole.strata if s.law.grid.ns == part.ns]
        own = Law(part, self.counts[..., part.cells], whole.near.weights)
        return Stratum(ns, part.cells, same[0] if same else own)


def fit_mixture(grid: CountGrid, counts: Floats, whole: Mixture | None = None) -> Mixture:
    """Fit the distributions to counts over the pairs of a grid.

    If these are the problems with enough trials of a `whole`, their strata start at its fit.
    """
    shares = grid.per_n(counts) / counts.sum(axis=-1, keepdims=True)
    weight = posterior_of_betas(grid, counts)
    predictive = weight @ grid.beta_binomial * grid.spread(shares)
    smooth = weight @ beta_masses() + 1e-9
    smooth /= smooth.sum(axis=-1, keepdims=True)
    return Mixture(grid, counts, predictive, shares, smooth, whole)


def posterior_of_betas(grid: CountGrid, counts: Floats) -> Floats:
    """Return the posterior weights of the Betas of the grid; leading axes are data sets."""
    log_likelihood = counts @ grid.log_beta_binomial.T
    below = log_likelihood - log_likelihood.max(axis=-1, keepdims=True)
    weight: Floats = np.where(below > _FAR, np.exp(below), 0.0)  # tinier numbers are slow to add
    weight /= weight.sum(axis=-1, keepdims=True)
    return weight
