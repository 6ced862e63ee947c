"""Simulated 0/1 scores of problems in clusters: sizes and trials as in the data."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from passband.stats.data.outcomes import Outcomes
from passband.stats.interval.certify.copula import Copula, between_variance
from passband.stats.interval.certify.design import Design
from passband.stats.interval.certify.simulation import SimulatedEnds, Simulation, with_edges
from passband.stats.interval.default.cluster_notes import clusters_of
from passband.stats.interval.default.clusters import ClusteredValues, expected_of
from passband.stats.interval.fit.count_grid import CountGrid, grid_for, points
from passband.stats.interval.fit.mixture import Mixture, fit_mixture
from passband.stats.interval.request import IntervalRequest, mixture_of
from passband.types import Floats, Ints

__all__ = ["ClusterSets", "cluster_sets"]


@dataclass(frozen=True, eq=False)
class ClusterSets(Simulation):
    """Data sets whose fits are made all at once, and whose intervals one by one."""

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
    design = Design.of(request.outcomes.histogram.at_least(request.k), request.k)
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
    """Return how many problems have each pair of the grid, per data set."""
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
