"""Simulated 0/1 scores of problems in clusters: sizes and trials as in the data."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from passband.stats.data.outcomes import Outcomes
from passband.stats.interval.certify.copula import Copula, between_variance
from passband.stats.interval.certify.design import Design
from passband.stats.interval.certify.simulation import SimulatedEnds, Simulation
from passband.stats.interval.default.auto import ends_of
from passband.stats.interval.fit.count_grid import CountGrid, points
from passband.stats.interval.fit.mixture import Mixing, Mixture, fit_mixture
from passband.stats.interval.methods import interval_for
from passband.stats.interval.request import IntervalRequest, mixture_of
from passband.types import Floats, Ints

__all__ = ["ClusterSets", "cluster_sets"]


@dataclass(frozen=True, eq=False)
class ClusterSets(Simulation):
    """Data sets whose fits are made all at once, and whose intervals one by one."""

    law: str
    truth: Floats
    mixture: Mixture  # leading axis: data sets
    requests: tuple[IntervalRequest, ...]

    def ends(self, level: float) -> SimulatedEnds:
        first = self.requests[0]
        low, high = first.range()
        values = (first.values(self.mixture) - low) / (high - low)
        pairs = [
            self._ends(index, replace(request, level=level), values)
            for index, request in enumerate(self.requests)
        ]
        return SimulatedEnds(*(low + (high - low) * np.array(pairs).T))

    def _ends(self, index: int, request: IntervalRequest, values: Floats) -> tuple[float, float]:
        """Return the ends of one data set on the scale of [0, 1]."""
        successes = request.outcomes.required_successes()
        if not successes.any() or (successes == request.outcomes.trials).all():
            low, high = request.range()
            bound = interval_for("auto", request)
            assert bound.low is not None and bound.high is not None
            return (bound.low - low) / (high - low), (bound.high - low) / (high - low)
        ends = ends_of(request, _one(self.mixture, index), values)
        return float(ends.low), float(ends.high)


def cluster_sets(request: IntervalRequest, sets: int, rng: np.random.Generator) -> ClusterSets:
    """Draw data sets with the clusters of the data from a copula fitted to them."""
    enough = np.flatnonzero(request.outcomes.trials >= max(request.k, 1))
    outcomes = request.outcomes.take(enough)
    codes = outcomes.cluster_codes(np.arange(len(enough)))
    shares = outcomes.required_successes() / outcomes.trials
    weights = mixture_of(outcomes, request.k).near.weights
    copula = Copula.of(points(), weights / weights.sum(), between_variance(shares, codes))
    design = Design.of(outcomes.histogram, request.k)
    trials = design.nearest(outcomes.trials)
    place = copula.draw(codes, sets, rng)
    successes = rng.binomial(trials, points()[place])
    grid = CountGrid(tuple(np.unique(trials).tolist()))
    mixture = fit_mixture(grid, _histograms(grid, trials, successes))
    requests = tuple(_asked(request, codes, trials, row) for row in successes)
    truth = request.metric.combined(request.metric.latent(points()) @ copula.weights)
    return ClusterSets("copula", np.full(sets, truth), mixture, requests)


def _asked(request: IntervalRequest, codes: Ints, trials: Ints, row: Ints) -> IntervalRequest:
    outcomes = Outcomes.from_counts(row, trials, clusters=codes.tolist())
    means = tuple(request.metric.means(outcomes))
    return replace(request, outcomes=outcomes, means=means, value=request.metric.combine(means))


def _histograms(grid: CountGrid, trials: Ints, successes: Ints) -> Floats:
    """Return how many problems have each pair of the grid, per data set."""
    starts = grid.starts[np.searchsorted(grid.ns, trials)]
    sets, width = len(successes), len(grid.trials)
    places = starts + successes + width * np.arange(sets)[:, None]
    counts = np.bincount(places.ravel(), minlength=sets * width)
    return counts.reshape(sets, width).astype(np.float64)


def _one(value: Any, index: int) -> Any:
    """Return the fit of one data set."""
    if isinstance(value, np.ndarray):
        return value[index]
    if not isinstance(value, (Mixture, Mixing)):
        return value
    parts = {field.name: _one(getattr(value, field.name), index) for field in fields(value)}
    return type(value)(**parts)
