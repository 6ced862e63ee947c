"""The ends of a band at every k, and the critical value that all of them share.

Scores of 0 and 1 use the fit to the counts; graded scores the values of the problems, or the noise
of their trials; votes their replicates. The critical value is the quantile of the largest of
several correlated errors.

For graded scores the correlations between different k come from some ten thousand scores at most:
the critical value hardly depends on them. The same goes for the noise of the trials, which many
more problems would not measure better in any way that shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from passband.notes import Note
from passband.stats.checks import Over
from passband.stats.data.graded import ScoreGroup
from passband.stats.data.outcomes import Outcomes
from passband.stats.interval.default.clusters import over_clusters
from passband.stats.interval.default.graded import graded_ends, graded_notes, reason_for_none
from passband.stats.interval.default.graded_sample import GradedSample, trials_for_noise
from passband.stats.interval.default.selection import (
    auto,
    count_notes,
    has_few_repeats,
    is_alone,
    one_sided,
)
from passband.stats.interval.default.votes import answer_notes, replicates_of, vote_over_trials
from passband.stats.interval.default.wilson import (
    Ends,
    level_of,
    normal_quantile,
    over_problems,
    over_trials,
    widened_distribution,
)
from passband.stats.interval.fit.count_grid import CountGrid
from passband.stats.interval.fit.mixture import Mixture
from passband.stats.interval.notes import CONSTANT_METRIC
from passband.stats.interval.request import IntervalRequest, as_mean_request, mixture_of
from passband.stats.metric.metric import Metric
from passband.types import Floats


@dataclass(frozen=True)
class VoteBand:
    """The ends at each k, and notes on all of them."""

    low: list[float]
    high: list[float]
    notes: tuple[Note, ...]


def vote_covariance(outcomes: Outcomes, metrics: list[Metric], over: Over) -> Floats:
    """Return the covariance of the curve's errors at all k, up to a common factor.

    Of problems with different numbers of trials, those with all of them show the correlation.
    """
    if over == "trials":
        return replicates_of(outcomes, 1).covariance()
    most = outcomes.most_trials()
    longest = outcomes.take(np.flatnonzero(outcomes.trials == most))
    values = np.stack([metric.by_problem(longest)[:, 0] for metric in metrics], axis=1)
    if len(values) < 2:
        return np.zeros((len(metrics), len(metrics)))
    return np.atleast_2d(np.cov(values, rowvar=False))


def vote_band(
    outcomes: Outcomes, metrics: list[Metric], values: Floats, over: Over, reach: float
) -> VoteBand:
    """Return the interval at each k, `reach` being a larger quantile than the level's own."""
    low, high = [], []
    notes: dict[str, Note] = {note.code: note for note in answer_notes(outcomes, 1)}
    for metric, value in zip(metrics, values.tolist(), strict=True):
        request = IntervalRequest(outcomes, metric, (value,), value, over, level_of(reach), None)
        simpler = as_mean_request(request)
        interval = vote_over_trials(request, reach) if simpler is request else auto(simpler)
        low.append(value if interval.low is None else interval.low)
        high.append(value if interval.high is None else interval.high)
        notes |= {note.code: note for note in interval.notes}
    return VoteBand(low, high, tuple(notes.values()))


_DRAWS = 1 << 13


def critical_value(covariance: Floats, level: float) -> float:
    """Return the quantile that the largest of correlated standard normals stays within.

    By simulation from a fixed seed: the same number in every run. Bonferroni's is the most.
    """
    sd = np.sqrt(np.diagonal(covariance))
    # A k without error, such as k = n over trials, has no correlation, and nothing to miss.
    kept = sd > 1e-9 * max(float(sd.max(initial=0.0)), 1e-300)
    if not kept.any():
        return normal_quantile(level)
    correlation = covariance[np.ix_(kept, kept)] / np.outer(sd[kept], sd[kept])
    # Neighbouring k are nearly collinear: eigenvalues work where Cholesky's root would fail.
    size, vectors = np.linalg.eigh(correlation)
    root = vectors * np.sqrt(np.maximum(size, 0.0))
    draws = np.random.default_rng(0).standard_normal((_DRAWS, len(root)))
    largest = np.abs(draws @ root.T).max(axis=1)
    most = normal_quantile(1.0 - (1.0 - level) / len(root))
    return min(max(float(np.quantile(largest, level)), normal_quantile(level)), most)


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
        # The delta method: a blend varies like its linear part at the observed means.
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
    # The noise within problems: E[v v'] less E[E(v | p) E(v | p)'] over success rates p.
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
        return critical_value(_graded_problem_covariance(samples, groups), level)
    # every s-th k, with s rounded up
    some = samples[:: -(-len(samples) // _MOST_KS)]
    return critical_value(_graded_trial_covariance(some, groups), level)


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


def _graded_problem_covariance(
    samples: Sequence[GradedSample], groups: Sequence[ScoreGroup]
) -> Floats:
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


def _graded_trial_covariance(
    samples: Sequence[GradedSample], groups: Sequence[ScoreGroup]
) -> Floats:
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
    """Return the deviations of pseudo-values from their problem's mean."""
    metric = sample.request.metric
    parts = [part.pseudo_values(ordered, metric.k).ravel() for part in metric.parts]
    pseudo = metric.linear(parts, sample.request.means).reshape(ordered.shape)
    away: Floats = pseudo - pseudo.mean(axis=1, keepdims=True)
    return away.ravel()
