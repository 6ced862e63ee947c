"""Decide cheaply whether a design is unusual enough to be certified unasked."""

from __future__ import annotations

import numpy as np

from passband.stats.interval.default.clusters import clusters_of, kish_number
from passband.stats.interval.request import IntervalRequest
from passband.types import Floats

__all__ = ["needs_simulation"]

_SMALL = 20  # problems, or clusters
_SMALL_GRADED = 30
_SKEWED = 1.0  # standardised third moment
_UNEQUAL = 0.8  # Kish's number of clusters, as a share of the clusters
_RELATED = 3.0  # standard errors of a correlation between trials and success


def needs_simulation(request: IntervalRequest) -> bool:
    """Return whether the design is one on which the default interval may fall short.

    Few problems or clusters; clusters of unequal size; over trials, numbers of trials that go along
    with success; a few dozen graded values that are skewed. One problem or cluster shows nothing
    that could be simulated.
    """
    request = request.unit
    outcomes = request.outcomes
    if not outcomes.is_binary and request.over == "trials" and np.isfinite(request.range()).all():
        return False  # bounded scores have wide intervals over trials, and dear ones
    units = outcomes.n_units(request.k) if request.over == "problems" else _problems(request)
    if units < 2:
        return False
    if units <= _SMALL:
        return True
    if not outcomes.is_binary and units <= _SMALL_GRADED:
        return _skewness(request) > _SKEWED
    if request.over == "problems":
        return outcomes.is_clustered and _is_unequal(request)
    return outcomes.is_binary and _is_related(request)


def _problems(request: IntervalRequest) -> int:
    return int((request.outcomes.trials >= max(request.k, 1)).sum())


def _is_unequal(request: IntervalRequest) -> bool:
    sizes = np.bincount(clusters_of(request.outcomes, request.k)).astype(np.float64)
    return kish_number(sizes) < _UNEQUAL * len(sizes)


def _skewness(request: IntervalRequest) -> float:
    values = request.metric.by_problem(request.outcomes)[:, 0]
    away = values - values.mean()
    scale = float(np.abs(away).max())
    if scale == 0.0:
        return 0.0
    away = away / scale
    second, third = float((away**2).mean()), float((away**3).mean())
    return float(abs(third) / second**1.5)


def _is_related(request: IntervalRequest) -> bool:
    """Return whether problems with more trials are solved more often, or less."""
    pairs = request.outcomes.histogram.at_least(request.k)
    shares = pairs.successes / pairs.trials
    correlation = _correlation(np.log(pairs.trials), shares, pairs.problems.astype(np.float64))
    return bool(abs(correlation) > _RELATED / pairs.n_problems**0.5)


def _correlation(first: Floats, second: Floats, weights: Floats) -> float:
    away = [column - weights @ column / weights.sum() for column in (first, second)]
    spread = float((weights @ away[0] ** 2) * (weights @ away[1] ** 2)) ** 0.5
    return float(weights @ (away[0] * away[1])) / spread if spread > 0.0 else 0.0
