"""Default intervals for graded scores: no model of the trials, only their moments.

Scores that all lie within [0, 1] are taken to be bounded by it, and the interval is cut to it. Any
other scores are taken to have no bounds.
"""

from __future__ import annotations

import numpy as np

from passband.errors import InvalidInput
from passband.notes import (
    NO_SPREAD,
    NO_TRIAL_NOISE,
    ONE_CLUSTER,
    ONE_PROBLEM_NO_INTERVAL,
    no_repeats,
    noise_partly_measured,
)
from passband.stats.data.graded import GradedScores
from passband.stats.interval.default.wilson import normal_quantile, roots, student_quantile
from passband.stats.interval.methods import Interval
from passband.stats.interval.request import IntervalRequest
from passband.stats.tolerance import ROUNDING
from passband.types import Floats

__all__ = ["graded_interval"]


def graded_interval(request: IntervalRequest) -> Interval:
    """Return the default interval for scores of any kind."""
    graded = request.outcomes.required_graded()
    if not request.metric.is_mean:
        raise InvalidInput(
            f"{request.metric.name} is a blend, which has no default interval for scores that are "
            "not 0 or 1; use method='percentile'."
        )
    if request.over == "trials":
        return _over_trials(request, graded)
    values = request.metric.parts[0].of_graded(graded, request.k)
    deviations = values - values.mean()
    if len(values) > 1 and np.abs(deviations).max() <= ROUNDING * np.abs(values).max():
        return Interval.none(NO_SPREAD)
    if request.outcomes.is_clustered:
        order = np.concatenate([g.problem for g in graded.groups if g.n >= request.k])
        deviations = np.bincount(request.outcomes.cluster_codes(order), weights=deviations)
    return _skewed(request, deviations, len(values))


def _skewed(request: IntervalRequest, deviations: Floats, problems: int) -> Interval:
    """Return ends that follow the skewness of the values, of problems or of whole clusters."""
    units = len(deviations)
    if units < 2:
        return Interval.none(ONE_PROBLEM_NO_INTERVAL if problems == 1 else ONE_CLUSTER)
    away = deviations / (problems / units)
    unit = 2.0 ** float(np.frexp(np.abs(away).max())[1])  # exact, and no power overflows
    away = away / unit
    second = float(away @ away) / units
    if second == 0.0:
        return Interval.none(NO_SPREAD)
    tilt = float((away**3).mean()) / second
    variance = np.asarray(second * units / (units - 1))
    q = student_quantile(request.level, units - 1.0)
    value = np.asarray(request.value / unit)
    low, high = roots(value, variance, np.asarray(tilt), 0.0, q, float(units))
    se = float(np.sqrt(variance / units))
    return _cut(request, float(low) * unit, float(high) * unit, se * unit)


def _cut(request: IntervalRequest, low: float, high: float, se: float) -> Interval:
    """Cut the ends to the scale, if there is one, and let them contain the value."""
    least, most = request.range()
    return Interval(min(max(low, least), request.value), max(min(high, most), request.value), se)


def _over_trials(request: IntervalRequest, graded: GradedScores) -> Interval:
    """Return the normal interval from the noise within problems that have repeats."""
    part = request.metric.parts[0]
    least = part.trials_for_noise(request.k)
    noise = part.sampling_variance(graded, request.k)
    problems = sum(len(group.problem) for group in graded.groups if group.n >= request.k)
    if len(noise) == 0:
        return Interval.none(no_repeats(least))
    se = float(np.sqrt(noise.mean() / problems))
    if se <= ROUNDING * np.abs(graded.values).max():
        return Interval.none(NO_TRIAL_NOISE)
    reach = normal_quantile(request.level) * se
    interval = _cut(request, request.value - reach, request.value + reach, se)
    if len(noise) == problems:
        return interval
    return interval.with_notes(noise_partly_measured(len(noise), problems, least))
