"""The populations of problems that a pilot leaves possible, drawn at random.

A pilot of 30 problems does not fix how problems differ, least of all where few succeed. A draw
takes a Beta from the posterior of the family that the default interval uses, gives the observed
pairs of successes and trials random weights (a Bayesian bootstrap), moves the Beta towards those
pairs by expectation maximisation, and mixes in some of the Beta itself: what the pilot has not
seen.

Rubin (1981), The Bayesian bootstrap. Annals of Statistics 9, 130-134.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from passband.stats.data.counts import Histogram
from passband.stats.interval.fit.count_grid import CountGrid, beta_masses, grid_of, points
from passband.stats.interval.fit.mixture import posterior_of_betas
from passband.stats.metric.metric import Metric
from passband.types import Floats, Ints

__all__ = ["Laws", "draw_laws"]

_STEPS = 100  # towards the pairs, or fewer where there are many kinds of them
_MOST_WORK = 6_400  # steps times kinds of pairs
_LEAST_INFORMATIVE = 5.0  # problems that differ from the commonest pair
_LEAST = 1e-12  # so that no success probability is ruled out


@dataclass(frozen=True, eq=False)
class Laws:
    """Distributions of success probabilities, a row per draw, and the pilot's problems in each."""

    weights: Floats  # (draws, points)
    problems: Ints  # (draws, points) problems of the pilot with each success probability
    loss: float  #: what to multiply a variance between problems by, to be right on average
    margin: float  #: what to multiply a variance by, for a promise to be kept

    def between(self, metric: Metric) -> Floats:
        """Return the variance of the latent values between problems, of each draw."""
        latent = metric.combined(np.moveaxis(metric.latent(points()), 0, -1))
        mean = self.weights @ latent
        variance: Floats = self.loss * np.maximum(self.weights @ latent**2 - mean**2, 0.0)
        return variance

    def within(self, metric: Metric, trials: int) -> Floats:
        """Return the mean variance of a problem's value at a number of trials, of each draw."""
        grid = CountGrid((trials,))
        values = metric.parts[0].at(grid.trials, grid.successes, metric.k)
        noise = grid.binomial @ values**2 - (grid.binomial @ values) ** 2
        return self.weights @ np.maximum(noise, 0.0)


def draw_laws(
    pairs: Histogram, draws: int, rng: np.random.Generator, *, share: float = 1.0
) -> Laws:
    """Draw distributions of success probabilities that could have given a pilot.

    Each of the pilot's problems counts as `share` of one: below 1 the draws differ more than the
    posterior does, as they must where a promise is to hold for the population at hand and not on
    average over those that the prior considers. The margin is for the variance that a Dirichlet
    loses, and for what the problems that differ from the commonest pair fail to show where they
    are few; it was chosen by benchmarks/plan.py.
    """
    grid = grid_of(pairs)
    counts = grid.counts(pairs)
    total = float(counts.sum())
    chosen = rng.choice(len(beta_masses()), size=draws, p=posterior_of_betas(grid, counts))
    base = beta_masses()[chosen] + _LEAST
    base /= base.sum(axis=1, keepdims=True)
    seen = np.flatnonzero(counts)
    likelihood = grid.binomial[:, seen]
    extra = max(2.0, total**0.5 - 1.0)
    by_pair = rng.gamma(share * counts[seen], size=(draws, len(seen)))
    observed = by_pair.sum(axis=1, keepdims=True)
    weights = observed * _closer(base, likelihood, by_pair / observed)
    weights += rng.gamma(extra, size=(draws, 1)) * base
    weights /= weights.sum(axis=1, keepdims=True)
    loss = 1.0 + 1.0 / (share * total + extra)
    informative = max(total - float(counts.max()), _LEAST_INFORMATIVE)
    return Laws(
        weights,
        _problems(weights, likelihood, counts[seen], rng),
        loss * (1.0 + 1.0 / max(total - 1.0, 1.0)),
        loss * (1.0 + 1.5 / informative),
    )


def _closer(base: Floats, likelihood: Floats, frequencies: Floats) -> Floats:
    """Return the distributions after some steps of expectation maximisation."""
    weights = base
    for _ in range(min(max(_MOST_WORK // likelihood.shape[1], 8), _STEPS)):
        weights = weights * ((frequencies / (weights @ likelihood)) @ likelihood.T)
    return weights


def _problems(
    weights: Floats, likelihood: Floats, counts: Floats, rng: np.random.Generator
) -> Ints:
    """Draw a success probability for each problem of the pilot, and count them by point."""
    result = np.zeros(weights.shape, dtype=np.int64)
    for pair, problems in zip(likelihood.T, counts.astype(np.int64).tolist(), strict=True):
        posterior = weights * pair
        result += rng.multinomial(problems, posterior / posterior.sum(axis=1, keepdims=True))
    return result
