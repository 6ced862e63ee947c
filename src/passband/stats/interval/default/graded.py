"""Default intervals where scores are not 0 or 1: no model of the trials, only their moments.

Scores that all lie within [0, 1] are taken to be bounded by it, and the interval is cut to it. Any
other scores are taken to have no bounds.
"""

from __future__ import annotations

import numpy as np

from passband.notes import (
    NO_SPREAD,
    NO_TRIAL_NOISE,
    ONE_CLUSTER,
    ONE_PROBLEM_NO_INTERVAL,
    no_repeats,
    noise_partly_measured,
)
from passband.stats.data.graded import GradedScores, best_weights
from passband.stats.interval.default.wilson import normal_quantile, roots, student_quantile
from passband.stats.interval.methods import Interval
from passband.stats.interval.request import IntervalRequest
from passband.stats.metric.components import BestScore
from passband.types import Floats, Ints

__all__ = ["graded_interval"]

_ROUNDING = 1e-12  # what is smaller, next to the scores, is not spread


def graded_interval(request: IntervalRequest) -> Interval:
    """Return the default interval for scores of any kind."""
    graded = request.outcomes.graded
    assert graded is not None
    if request.over == "trials":
        return _over_trials(request, graded)
    values, cluster = _values(request, graded)
    deviations = values - values.mean()
    if len(values) > 1 and np.abs(deviations).max() <= _ROUNDING * np.abs(values).max():
        return Interval(None, None, None, (NO_SPREAD,))
    if cluster is not None:
        deviations = np.bincount(cluster, weights=deviations)
    return _skewed(request, deviations, len(values))


def _values(request: IntervalRequest, graded: GradedScores) -> tuple[Floats, Ints | None]:
    values = request.metric.parts[0].of_graded(graded, request.k)
    if request.outcomes.clusters is None:
        return values, None
    order = np.concatenate([g.problem for g in graded.groups if g.n >= request.k])
    _, cluster = np.unique(np.array(request.outcomes.clusters)[order], return_inverse=True)
    return values, cluster


def _skewed(request: IntervalRequest, deviations: Floats, problems: int) -> Interval:
    """Return ends that follow the skewness of the values, of problems or of whole clusters."""
    units = len(deviations)
    if units < 2:
        return Interval(
            None, None, None, (ONE_PROBLEM_NO_INTERVAL if problems == 1 else ONE_CLUSTER,)
        )
    scale = problems / units
    away = deviations / scale
    second = float(away @ away) / units
    if second == 0.0:
        return Interval(None, None, None, (NO_SPREAD,))
    tilt = float((away**3).mean()) / second
    variance = np.asarray(second * units / (units - 1))
    q = student_quantile(request.level, units - 1.0)
    low, high = roots(np.asarray(request.value), variance, np.asarray(tilt), 0.0, q, float(units))
    return _cut(request, float(low), float(high), float(np.sqrt(variance / units)))


def _cut(request: IntervalRequest, low: float, high: float, se: float) -> Interval:
    """Cut the ends to the scale, if there is one, and let them contain the value."""
    least, most = request.range()
    return Interval(min(max(low, least), request.value), max(min(high, most), request.value), se)


def _over_trials(request: IntervalRequest, graded: GradedScores) -> Interval:
    """Return the normal interval from the noise within problems that have repeats."""
    best = isinstance(request.metric.parts[0], BestScore)
    least = request.k + 1 if best else 2
    noise = _noise(graded, request.k, least, best=best)
    problems = sum(len(group.problem) for group in graded.groups if group.n >= request.k)
    if len(noise) == 0:
        return Interval(None, None, None, (no_repeats(max(least, request.k)),))
    se = float(np.sqrt(noise.mean() / problems))
    if se <= _ROUNDING * np.abs(graded.values).max():
        return Interval(None, None, None, (NO_TRIAL_NOISE,))
    reach = normal_quantile(request.level) * se
    interval = _cut(request, request.value - reach, request.value + reach, se)
    if len(noise) == problems:
        return interval
    return interval.with_notes(noise_partly_measured(len(noise), problems, least))


def _noise(graded: GradedScores, k: int, least: int, *, best: bool) -> Floats:
    """Return the variance that sampling gives the value of each problem with enough trials."""
    found = [
        _jackknife(group.ordered, k) if best else _of_mean(group.ordered)
        for group in graded.groups
        if group.n >= max(least, k)
    ]
    return np.concatenate([np.empty(0), *found])


def _of_mean(ordered: Floats) -> Floats:
    variance: Floats = ordered.var(axis=1, ddof=1) / ordered.shape[1]
    return variance


def _jackknife(ordered: Floats, k: int) -> Floats:
    """Return the jackknife variance of the expected best of k, per problem."""
    n = ordered.shape[1]
    weights = best_weights(n - 1, k)
    below = np.concatenate([[0.0], weights])  # weight of a score when one above it is left out
    rising = np.cumsum(ordered * np.append(weights, 0.0), axis=1)
    falling = np.cumsum((ordered * below)[:, ::-1], axis=1)[:, ::-1]
    left_out = np.concatenate([np.zeros((len(ordered), 1)), rising[:, :-1]], axis=1)
    left_out[:, :-1] += falling[:, 1:]
    variance: Floats = (n - 1) * left_out.var(axis=1)
    return variance
