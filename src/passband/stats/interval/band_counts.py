"""The band of scores of 0 and 1: from the fit to the counts, at every k."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from passband.notes import CONSTANT_METRIC, Note
from passband.stats.interval.critical import critical_value
from passband.stats.interval.default.auto import auto, count_notes, has_few_repeats, one_sided
from passband.stats.interval.default.clusters import over_clusters
from passband.stats.interval.default.one_problem import is_alone
from passband.stats.interval.default.wilson import (
    Ends,
    level_of,
    over_problems,
    over_trials,
    widened_distribution,
)
from passband.stats.interval.fit.count_grid import CountGrid
from passband.stats.interval.fit.mixture import Mixture
from passband.stats.interval.request import IntervalRequest, mixture_of
from passband.types import Floats

__all__ = ["critical_of_counts", "ends_of_counts", "notes_of_counts"]


def critical_of_counts(requests: Sequence[IntervalRequest]) -> float:
    """Return the quantile that keeps the largest error over all k within the band."""
    mixture = mixture_of(requests[0].outcomes, 1)
    values, shares = _table(mixture, requests)
    level = requests[0].level
    if requests[0].over == "problems":
        return critical_value(_problem_covariance(mixture, values, shares), level)
    return critical_value(_trial_covariance(mixture, values, shares), level)


def _table(mixture: Mixture, requests: Sequence[IntervalRequest]) -> tuple[Floats, Floats]:
    """Return the value of each pair at each k, zero where n < k, and the share of n >= k.

    A blend has its linear part; one with a factor of zero has no spread of its own.
    """
    grid: CountGrid = mixture.grid
    values = np.zeros((len(grid.trials), len(requests)))
    for column, request in enumerate(requests):
        metric = request.metric
        if metric.has_zero_factor(request.means):
            continue
        enough = grid.trials >= metric.k
        trials, successes = grid.trials[enough], grid.successes[enough]
        parts = [part.at(trials, successes, metric.k) for part in metric.parts]
        values[enough, column] = metric.linear(parts, request.means)
    at_least = np.array(grid.ns)[:, None] >= np.array([r.k for r in requests])
    return values, mixture.shares @ at_least


def _problem_covariance(mixture: Mixture, values: Floats, shares: Floats) -> Floats:
    count = float(mixture.counts.sum())
    distribution, _ = widened_distribution(mixture, count)
    enough = mixture.grid.trials[:, None] > np.arange(values.shape[1])
    away = np.where(enough, values - distribution @ values / shares, 0.0) / shares
    covariance: Floats = away.T @ (distribution[:, None] * away)
    return covariance


def _trial_covariance(mixture: Mixture, values: Floats, shares: Floats) -> Floats:
    grid = mixture.grid
    scaled = values / shares
    mixing = mixture.close  # k runs up to n
    weight = grid.spread(mixture.shares) * mixing.marginal
    covariance = scaled.T @ (weight[:, None] * scaled)
    for share, start, n in zip(mixture.shares, grid.starts.tolist(), grid.ns, strict=True):
        cells = slice(start, start + n + 1)
        centre = grid.binomial[:, cells] @ scaled[cells]
        covariance = covariance - share * centre.T @ (mixing.weights[:, None] * centre)
    return covariance


def notes_of_counts(request: IntervalRequest) -> tuple[Note, ...]:
    """Return the notes of the interval at one k."""
    low, high = request.range()
    if low == high:
        return (CONSTANT_METRIC,)
    if request.metric.has_zero_factor(request.means) or is_alone(request):
        return auto(request).notes
    mixture = request.mixture()
    return count_notes(request, mixture, request.values(mixture))


def ends_of_counts(request: IntervalRequest, critical: float) -> tuple[float, float]:
    """Return the ends of the band at one k."""
    outcomes, metric, over = request.outcomes, request.metric, request.over
    level = request.level
    low, high = request.range()
    scale = high - low
    if scale == 0.0:
        return request.value, request.value
    surer = replace(request, level=level_of(critical))
    if metric.has_zero_factor(request.means) or is_alone(request):
        interval = auto(surer)
        return interval.low or 0.0, interval.high or 0.0
    mixture = mixture_of(outcomes, metric.k)
    bound = one_sided(surer, mixture)
    if bound is not None and bound.low is not None and bound.high is not None:
        return bound.low, bound.high
    values = (request.values(mixture) - low) / scale
    ends: Ends
    if over == "trials" and not has_few_repeats(mixture):
        squares = request.squares(mixture, values)
        ends = over_trials(mixture, values, metric.k, level, squares=squares, reach=critical)
    elif outcomes.is_clustered and over == "problems":
        ends = over_clusters(outcomes, mixture, values, metric.k, level, critical)
    else:
        ends = over_problems(mixture, values, level, critical, outer=1.0)
    return low + scale * float(ends.low), low + scale * float(ends.high)
