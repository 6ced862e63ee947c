"""Simulate data sets of 0/1 scores, without clusters or in clusters.

Without clusters they are histograms of (n, c), at a cost independent of M. The problems of each
number of trials fall on success probabilities by one multinomial, and those of each probability on
counts of successes by another. All data sets are fitted at once, and the fits serve every metric
and level. Clusters have the sizes and trials of the data.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from passband.stats.data.outcomes import Outcomes
from passband.stats.interval.certify.laws import Copula, ProbabilityLaw, between_variance
from passband.stats.interval.certify.simulation import (
    SimulatedDesign,
    SimulatedEnds,
    Simulation,
    SingleSets,
    request_of,
    with_edges,
)
from passband.stats.interval.default.clusters import ClusteredValues, clusters_of, expected_of
from passband.stats.interval.default.selection import ends_of
from passband.stats.interval.fit.count_grid import CountGrid, grid_for, points
from passband.stats.interval.fit.mixture import Mixture, fit_mixture
from passband.stats.interval.request import IntervalRequest, mixture_of
from passband.stats.metric.metric import Metric
from passband.types import Floats, Ints


@dataclass(frozen=True, eq=False)
class DrawnCounts:
    """Data sets drawn from a law, with their fits; for every metric, target and level."""

    law: str
    design: SimulatedDesign
    mixture: Mixture  # leading axis: data sets
    places: Floats  # (sets, ns, points) problems at each success probability
    expected: Floats  # (ns, points) weights of the law


def draw_counts(
    design: SimulatedDesign, law: ProbabilityLaw, sets: int, rng: np.random.Generator
) -> DrawnCounts:
    """Draw data sets of a design from a law, and fit them."""
    weights = np.stack([law.at(n) for n in design.ns])
    grid = grid_for(design.ns)
    places, counts = [], []
    for index, (n, problems) in enumerate(zip(design.ns, design.problems, strict=True)):
        (some,) = weights[index].nonzero()
        drawn = np.zeros((sets, len(weights[index])))
        here = rng.multinomial(problems, _shares(weights[index][some]), size=sets)
        drawn[:, some] = here
        start = int(grid.starts[index])
        chances = _shares(grid.binomial[some, start : start + n + 1])
        counts.append(_successes(here, chances, rng))
        places.append(drawn)
    mixture = fit_mixture(grid, np.concatenate(counts, axis=-1))
    return DrawnCounts(law.name, design, mixture, np.stack(places, axis=1), weights)


def _successes(places: Ints, chances: Floats, rng: np.random.Generator) -> Floats:
    """Count problems by successes, per data set."""
    total = np.zeros((len(places), chances.shape[1]))
    for column, chance in zip(places.T, chances, strict=True):
        (rows,) = column.nonzero()
        total[rows] += rng.multinomial(column[rows], chance)
    return total


def _shares(weights: Floats) -> Floats:
    """Scale weights to a sum of 1, which a multinomial checks to the last digits."""
    shares: Floats = weights / weights.sum(axis=-1, keepdims=True)
    return shares


def latent_values(metric: Metric, grid: CountGrid) -> Floats:
    """Return a metric's parts at each n and probability: (parts, ns, points).

    After endless trials; where a prior is part of the value, with the trials there are.
    """
    result = np.empty((len(metric.parts), len(grid.ns), len(points())))
    for index, part in enumerate(metric.parts):
        if part.is_posterior:
            values = part.at(grid.trials, grid.successes, metric.k)
            result[index] = grid.per_n(grid.binomial * values).T
        else:
            result[index] = part.latent(points(), metric.k)
    return result


def _truth(drawn: DrawnCounts, request: IntervalRequest) -> Floats:
    """Return the true value of the metric in each data set."""
    latent = latent_values(request.metric, drawn.mixture.grid)
    if request.over == "problems":
        share = np.array(drawn.design.problems)[:, None] * drawn.expected
        means = np.tensordot(latent, share, axes=2)[None]
    else:
        means = np.tensordot(drawn.places, latent, axes=((1, 2), (1, 2)))
    truth = request.metric.combined(means / drawn.design.n_problems)
    return np.broadcast_to(truth, len(drawn.places))


@dataclass(frozen=True, eq=False)
class CountSets(Simulation):
    """Make the default intervals of all data sets at once."""

    drawn: DrawnCounts
    request: IntervalRequest  # of the design; its successes are not read

    @property
    def law(self) -> str:  # type: ignore[override]
        return self.drawn.law

    @property
    def truth(self) -> Floats:  # type: ignore[override]
        return _truth(self.drawn, self.request)

    def ends(self, level: float) -> SimulatedEnds:
        request = replace(self.request, level=level)
        low, high = request.range()
        mixture = self.drawn.mixture
        ends = ends_of(request, mixture, (request.values(mixture) - low) / (high - low))
        lows, highs = low + (high - low) * ends.low, low + (high - low) * ends.high
        return with_edges(SimulatedEnds(lows, highs), mixture, request)


def blend_sets(drawn: DrawnCounts, request: IntervalRequest) -> SingleSets:
    """Return data sets for a metric whose linearisation differs by set."""
    successes = drawn.mixture.grid.successes
    requests = [
        request_of(request, np.repeat(successes, counts.astype(np.int64)))
        for counts in drawn.mixture.counts
    ]
    return SingleSets(drawn.law, _truth(drawn, request), requests)


@dataclass(frozen=True, eq=False)
class ClusterSets(Simulation):
    """Fit all data sets at once; make their intervals one by one."""

    law: str
    truth: Floats
    mixture: Mixture  # leading axis: data sets
    places: Ints  # (sets, problems) positions among the pairs of the grid
    codes: Ints  # the cluster of each problem
    request: IntervalRequest  # its outcomes are not read

    def ends(self, level: float) -> SimulatedEnds:
        request = replace(self.request, level=level)
        low, high = request.range()
        values = (request.values(self.mixture) - low) / (high - low)
        pairs = np.array([self._ends(index, values, level) for index in range(self.sets)])
        lows, highs = low + (high - low) * pairs.T
        return with_edges(SimulatedEnds(lows, highs), self.mixture, request)

    def _ends(self, index: int, values: Floats, level: float) -> tuple[float, float]:
        """Return the ends of one data set on the scale of [0, 1]."""
        expected = expected_of(_one(self.mixture, index), values)
        ends = ClusteredValues(values[self.places[index]], self.codes).ends(expected, level)
        return float(ends.low), float(ends.high)


def cluster_sets(request: IntervalRequest, sets: int, rng: np.random.Generator) -> ClusterSets:
    """Draw data sets with the clusters of the data from a copula fitted to them."""
    enough = request.outcomes.trials >= max(request.k, 1)
    codes = clusters_of(request.outcomes, request.k)
    trials = request.outcomes.trials[enough]
    shares = request.outcomes.required_successes()[enough] / trials
    weights = mixture_of(request.outcomes, request.k).near.weights
    copula = Copula.of(points(), weights / weights.sum(), between_variance(shares, codes))
    design = SimulatedDesign.of(request.outcomes.histogram.at_least(request.k), request.k)
    trials = design.nearest(trials)
    grid = grid_for(tuple(np.unique(trials).tolist()))
    successes = rng.binomial(trials, points()[copula.draw(codes, sets, rng)])
    places = grid.starts[np.searchsorted(grid.ns, trials)] + successes
    truth = request.metric.combined(request.metric.latent(points()) @ copula.weights)
    outcomes = Outcomes.from_counts(0 * trials, trials, clusters=codes.tolist())
    return ClusterSets(
        "copula",
        np.full(sets, truth),
        fit_mixture(grid, _histograms(grid, places)),
        places,
        codes,
        replace(request, outcomes=outcomes),
    )


def _histograms(grid: CountGrid, places: Ints) -> Floats:
    """Count problems by grid pair, per data set."""
    sets, width = len(places), len(grid.trials)
    flat = places + width * np.arange(sets)[:, None]
    counts = np.bincount(flat.ravel(), minlength=sets * width)
    return counts.reshape(sets, width).astype(np.float64)


def _one(mixture: Mixture, index: int) -> Mixture:
    """Return the fit of one data set."""
    return replace(
        mixture,
        counts=mixture.counts[index],
        predictive=mixture.predictive[index],
        shares=mixture.shares[index],
        smooth=mixture.smooth[index],
    )
