"""The band of graded scores: from the values of the problems, or the noise of their trials.

The correlations between different k come from some ten thousand scores at most: the critical
value hardly depends on them. The same goes for the noise of the trials, which many more problems
would not measure better in any way that shows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from passband.notes import Note
from passband.stats.data.graded import ScoreGroup
from passband.stats.interval.critical import critical_value
from passband.stats.interval.default.graded import graded_ends, graded_notes, reason_for_none
from passband.stats.interval.default.graded_noise import trials_for_noise
from passband.stats.interval.default.graded_sample import GradedSample
from passband.stats.interval.default.wilson import level_of
from passband.stats.interval.request import IntervalRequest
from passband.types import Floats

__all__ = ["critical_of_graded", "ends_of_graded", "notes_of_graded", "samples_of"]

_MOST_SCORES = 25_000
_MOST_KS = 32  # whose noise is correlated; between neighbours there is next to no difference


def samples_of(requests: Sequence[IntervalRequest]) -> list[GradedSample]:
    """Return the values of the problems at every k; the requests are in order of it."""
    groups = tuple(requests[0].outcomes.required_graded().groups)
    tables = [_values(requests, group.ordered) for group in groups]
    samples = []
    for column, request in enumerate(requests):
        enough = [group.n >= request.k for group in groups]
        kept = tuple(group for group, is_enough in zip(groups, enough, strict=True) if is_enough)
        values = [table[:, column] for table in tables if table.shape[1] > column]
        samples.append(GradedSample(request, kept, np.concatenate(values), _thin(kept)))
    return samples


def _thin(groups: Sequence[ScoreGroup]) -> tuple[ScoreGroup, ...]:
    """Return every s-th problem of each group, so that the scores are not too many."""
    step = max(sum(group.ordered.size for group in groups) // _MOST_SCORES, 1)
    return tuple(ScoreGroup(group.problem[::step], group.ordered[::step]) for group in groups)


def critical_of_graded(samples: Sequence[GradedSample], level: float) -> float:
    """Return the quantile that keeps the largest error over all k within the band."""
    if not samples:
        return critical_value(np.zeros((1, 1)), level)
    groups = _thin(samples[0].groups)
    over_problems = samples[0].request.over == "problems"
    if over_problems:
        return critical_value(_problem_covariance(samples, groups), level)
    some = samples[:: -(-len(samples) // _MOST_KS)]
    return critical_value(_trial_covariance(some, groups), level)


def ends_of_graded(sample: GradedSample, critical: float) -> tuple[float, float]:
    """Return the ends of the band at one k; infinite where unbounded scores allow none."""
    low, high = sample.request.range()
    value = sample.request.value
    if low == high:
        return value, value
    ends = graded_ends(sample, level_of(critical), outer=1.0)
    if ends is None:
        return low, high
    return max(float(ends.low), low), min(float(ends.high), high)


def notes_of_graded(sample: GradedSample, ends: tuple[float, float]) -> tuple[Note, ...]:
    """Return the notes at one k, or why there are no ends."""
    return graded_notes(sample) if np.isfinite(ends).all() else (reason_for_none(sample),)


def _values(requests: Sequence[IntervalRequest], ordered: Floats) -> Floats:
    """Return the linear value of each problem (rows) at each k that it has trials for (columns)."""
    enough = [request for request in requests if request.k <= ordered.shape[1]]
    kinds = zip(*(request.metric.parts for request in enough), strict=True)
    ks = [request.k for request in enough]
    parts = [type(column[0]).of_ordered(column, ordered, ks) for column in kinds]
    values = [
        request.metric.linear([part[:, at] for part in parts], request.means)
        for at, request in enumerate(enough)
    ]
    return np.stack(values, axis=1) if values else np.empty((len(ordered), 0))


def _shares(samples: Sequence[GradedSample]) -> Floats:
    """Return at each k the share of the problems that have as many trials."""
    return np.array([sample.problems for sample in samples]) / samples[0].problems


def _problem_covariance(samples: Sequence[GradedSample], groups: Sequence[ScoreGroup]) -> Floats:
    requests = [sample.request for sample in samples]
    means = np.array([sample.mean for sample in samples])
    shares = _shares(samples)
    covariance = np.zeros((len(samples), len(samples)))
    for group in groups:
        values = _values(requests, group.ordered)
        size = values.shape[1]
        away = (values - means[:size]) / shares[:size]
        covariance[:size, :size] += away.T @ away
    return covariance


def _trial_covariance(samples: Sequence[GradedSample], groups: Sequence[ScoreGroup]) -> Floats:
    """Return how the noise at different k goes together, of the k at which it is measured."""
    shares = _shares(samples)
    covariance = np.zeros((len(samples), len(samples)))
    for group in groups:
        measured = [s for s in samples if trials_for_noise(s.request.metric) <= group.n]
        if not measured:
            continue
        rows = np.stack([_noise(sample, group.ordered) for sample in measured])
        scaled = rows / shares[: len(measured), None]
        covariance[: len(measured), : len(measured)] += scaled @ scaled.T / (group.n - 1) / group.n
    return covariance


def _noise(sample: GradedSample, ordered: Floats) -> Floats:
    """Return the deviations of all pseudo-values from those of their own problem."""
    metric = sample.request.metric
    parts = [part.pseudo_values(ordered, metric.k).ravel() for part in metric.parts]
    pseudo = metric.linear(parts, sample.request.means).reshape(ordered.shape)
    away: Floats = pseudo - pseudo.mean(axis=1, keepdims=True)
    return away.ravel()
