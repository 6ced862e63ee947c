"""A band over a whole curve: every k at once, with one statement for all of them.

Pointwise intervals miss somewhere on a curve far more often than their level says. The band uses
a larger quantile, the one that the largest of all standardised errors stays within. The errors at
different k are strongly correlated, so that quantile is about 2.4 and not the 3 of Bonferroni.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from passband.errors import InvalidInput
from passband.notes import Note
from passband.stats.checks import Over, as_level, check_outcomes, check_over, check_text
from passband.stats.data.outcomes import Outcomes, Policy
from passband.stats.data.values import ArrayValue
from passband.stats.interval.default.auto import has_few_repeats, one_sided, target_notes
from passband.stats.interval.default.clusters import over_clusters
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
from passband.stats.interval.request import IntervalRequest, mixture_of
from passband.stats.interval.vote_band import vote_band, vote_covariance
from passband.stats.metric.measure import Curve, curve, curve_name
from passband.stats.metric.metric import Metric
from passband.stats.metric.names import MetricName
from passband.stats.metric.registry import expand_metrics
from passband.types import Floats, Ints

__all__ = ["Band", "band"]

_DRAWS = 1 << 13
_MOST_CELLS = 4_000_000  # pairs (n, c) times k


@dataclass(frozen=True, eq=False)
class Band(ArrayValue):
    """A curve with a band that contains all of it at once, at the given level."""

    metric: str
    k: Ints
    value: Floats
    low: Floats
    high: Floats
    level: float
    over: Over
    critical: float  #: the quantile used at every k
    n_problems: Ints
    left_out: Ints  #: problems with too few trials, at each k
    policy: Policy  #: what was done with trials without a score
    notes: tuple[Note, ...] = ()  #: where the coverage of the band is known to be weak at some k

    def __len__(self) -> int:
        return len(self.k)


def band(
    outcomes: Outcomes,
    metric: str,
    *,
    over: Over = "problems",
    level: float = 0.95,
    policy: Policy = "drop",
) -> Band:
    """Return a metric at every k, with a simultaneous band.

    >>> whole = band(Outcomes.from_counts([1, 0, 4, 2, 3] * 8, 4), "pass@*")
    >>> whole.value.round(2).tolist(), round(whole.critical, 1)
    ([0.5, 0.67, 0.75, 0.8], 2.2)
    """
    check_outcomes("outcomes", outcomes)
    check_text("metric", metric, "pass@*")
    check_over(over)
    level = as_level(level)
    scored = outcomes.under(policy)
    _check_size(scored, curve_name(metric))
    points = curve(scored, metric)
    metrics = expand_metrics(points.metric, scored.most_trials())
    if metrics[0].parts[0].needs_answers:
        return _of_votes(scored, points, metrics, over, level, policy)
    if not scored.is_binary or not all(m.is_mean for m in metrics):
        raise InvalidInput(f"a band needs scores of 0 or 1 and one average per k; got {metric!r}.")
    critical = _critical(scored, metrics, over, level)
    ends = [_ends(scored, m, over, level, critical) for m in metrics]
    return Band(
        metric=points.metric,
        k=points.k,
        value=points.value,
        low=np.minimum([low for low, _ in ends], points.value),
        high=np.maximum([high for _, high in ends], points.value),
        level=level,
        over=over,
        critical=critical,
        n_problems=points.n_problems,
        left_out=scored.n_problems - points.n_problems,
        policy=policy,
        notes=_notes(scored, metrics, over, level),
    )


def _of_votes(
    scored: Outcomes,
    points: Curve,
    metrics: list[Metric],
    over: Over,
    level: float,
    policy: Policy,
) -> Band:
    """Return the band of a vote, which depends on answers and not on numbers of successes."""
    critical = critical_value(vote_covariance(scored, metrics, over), level)
    ends = vote_band(scored, metrics, points.value, over, critical)
    return Band(
        metric=points.metric,
        k=points.k,
        value=points.value,
        low=np.minimum(ends.low, points.value),
        high=np.maximum(ends.high, points.value),
        level=level,
        over=over,
        critical=critical,
        n_problems=points.n_problems,
        left_out=scored.n_problems - points.n_problems,
        policy=policy,
        notes=ends.notes,
    )


def _check_size(outcomes: Outcomes, name: MetricName) -> None:
    """Refuse a table of every possible problem at every k that would take minutes or more."""
    ns = outcomes.histogram.ns if outcomes.is_binary else ()
    most = outcomes.most_trials()
    if most * (sum(ns) + len(ns)) > _MOST_CELLS:
        raise InvalidInput(
            "a band needs fewer trials, or fewer different numbers of them; got up to "
            f"{most} trials of a problem, and {len(ns)} different numbers. "
            f"Use single k, as in estimate(outcomes, [{name.at('1,10,100')!r}])."
        )


def _notes(outcomes: Outcomes, metrics: list[Metric], over: Over, level: float) -> tuple[Note, ...]:
    """Collect the notes of estimates at single k on too few problems, clusters or trials."""
    notes: dict[str, Note] = {}  # by code: the counts in a text differ from k to k
    for metric in metrics:
        request = IntervalRequest(outcomes, metric, (), 0.0, over, level, None)
        notes |= {note.code: note for note in target_notes(request, request.mixture())}
    return tuple(notes.values())


def critical_value(covariance: Floats, level: float) -> float:
    """Return the quantile that the largest of correlated standard normals stays within.

    By simulation from a fixed seed: the same number in every run. Bonferroni's is the most.
    """
    sd = np.sqrt(np.diagonal(covariance))
    kept = sd > 1e-9 * max(float(sd.max(initial=0.0)), 1e-300)
    if not kept.any():
        return normal_quantile(level)
    correlation = covariance[np.ix_(kept, kept)] / np.outer(sd[kept], sd[kept])
    size, vectors = np.linalg.eigh(correlation)
    root = vectors * np.sqrt(np.maximum(size, 0.0))
    draws = np.random.default_rng(0).standard_normal((_DRAWS, len(root)))
    largest = np.abs(draws @ root.T).max(axis=1)
    most = normal_quantile(1.0 - (1.0 - level) / len(root))
    return min(max(float(np.quantile(largest, level)), normal_quantile(level)), most)


def _critical(outcomes: Outcomes, metrics: list[Metric], over: Over, level: float) -> float:
    mixture = mixture_of(outcomes, 1)
    values, shares = _table(mixture, metrics)
    if over == "problems":
        return critical_value(_problem_covariance(mixture, values, shares), level)
    return critical_value(_trial_covariance(mixture, values, shares), level)


def _table(mixture: Mixture, metrics: list[Metric]) -> tuple[Floats, Floats]:
    """Return the value of each pair at each k, zero where n < k, and the share of n >= k."""
    grid: CountGrid = mixture.grid
    values = np.zeros((len(grid.trials), len(metrics)))
    for column, metric in enumerate(metrics):
        enough = grid.trials >= metric.k
        trials, successes = grid.trials[enough], grid.successes[enough]
        values[enough, column] = metric.parts[0].at(trials, successes, metric.k)
    at_least = np.array(grid.ns)[:, None] >= np.array([metric.k for metric in metrics])
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


def _ends(
    outcomes: Outcomes, metric: Metric, over: Over, level: float, critical: float
) -> tuple[float, float]:
    mixture = mixture_of(outcomes, metric.k)
    low, high = metric.bounds
    scale = high - low
    grid = mixture.grid
    at_pairs = metric.parts[0].at(grid.trials, grid.successes, metric.k)
    mean = float(mixture.counts @ at_pairs / mixture.counts.sum())
    if scale == 0.0:
        return mean, mean
    request = IntervalRequest(outcomes, metric, (mean,), mean, over, level_of(critical), None)
    bound = one_sided(request, mixture)
    if bound is not None and bound.low is not None and bound.high is not None:
        return bound.low, bound.high
    values = (at_pairs - low) / scale
    ends: Ends
    if over == "trials" and not has_few_repeats(mixture):
        squares = request.squares(mixture, values)
        ends = over_trials(mixture, values, metric.k, level, squares=squares, reach=critical)
    elif outcomes.is_clustered and over == "problems":
        ends = over_clusters(outcomes, mixture, values, metric.k, level, critical)
    else:
        ends = over_problems(mixture, values, level, critical, outer=1.0)
    return low + scale * float(ends.low), low + scale * float(ends.high)
