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
from passband.stats.checks import check_level, check_outcomes, check_over, check_text
from passband.stats.data.outcomes import Outcomes, Policy
from passband.stats.interval.default.auto import few_repeats, one_sided, target_notes
from passband.stats.interval.default.clusters import over_clusters
from passband.stats.interval.default.wilson import (
    Ends,
    level_of,
    normal_quantile,
    over_problems,
    over_trials,
    widened_law,
)
from passband.stats.interval.estimate import Over
from passband.stats.interval.fit.count_grid import CountGrid
from passband.stats.interval.fit.mixture import Mixture
from passband.stats.interval.request import IntervalRequest, mixture_of
from passband.stats.metric.measure import curve, curve_name
from passband.stats.metric.names import MetricName
from passband.stats.metric.registry import Metric, expand_metrics
from passband.types import Floats, Ints

__all__ = ["Band", "band"]

_DRAWS = 1 << 13
_MOST_CELLS = 4_000_000  # pairs (n, c) times k


@dataclass(frozen=True, eq=False)
class Band:
    """A curve with a band that contains all of it at once, with the stated probability."""

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

    >>> found = band(Outcomes.from_counts([1, 0, 4, 2, 3] * 8, 4), "pass@*")
    >>> found.value.round(2).tolist(), round(found.critical, 1)
    ([0.5, 0.67, 0.75, 0.8], 2.2)
    """
    check_outcomes("outcomes", outcomes)
    check_text("metric", metric, "pass@*")
    check_over(over)
    check_level(level)
    judged = outcomes.under(policy)
    _check_size(judged, curve_name(metric))
    found = curve(judged, metric)
    metrics = expand_metrics(found.metric, judged.most_trials())
    if judged.graded is not None or any(m.powers is not None for m in metrics):
        raise InvalidInput(f"a band needs scores of 0 or 1 and one average per k; got {metric!r}.")
    critical = _critical(judged, metrics, over, level)
    ends = [_ends(judged, m, over, level, critical) for m in metrics]
    return Band(
        metric=found.metric,
        k=found.k,
        value=found.value,
        low=np.minimum([low for low, _ in ends], found.value),
        high=np.maximum([high for _, high in ends], found.value),
        level=level,
        over=over,
        critical=critical,
        n_problems=found.n_problems,
        left_out=judged.n_problems - found.n_problems,
        policy=policy,
        notes=_notes(judged, metrics, over, level),
    )


def _check_size(outcomes: Outcomes, name: MetricName) -> None:
    """Refuse a table of every possible problem at every k that would take minutes or more."""
    ns = outcomes.histogram.ns if outcomes.graded is None else ()
    most = outcomes.most_trials()
    if most * (sum(ns) + len(ns)) > _MOST_CELLS:
        raise InvalidInput(
            "a band needs fewer trials, or fewer different numbers of them; got up to "
            f"{most} trials of a problem, and {len(ns)} different numbers. "
            f"Ask for single k, as in estimate(outcomes, [{name.at('1,10,100')!r}])."
        )


def _notes(outcomes: Outcomes, metrics: list[Metric], over: Over, level: float) -> tuple[Note, ...]:
    """Collect what estimates at the single k would say of too few problems, clusters or trials."""
    notes: dict[Note, None] = {}
    for metric in metrics:
        asked = IntervalRequest(outcomes, metric, (), 0.0, over, level, None)
        notes |= dict.fromkeys(target_notes(asked, asked.mixture()))
    return tuple(notes)


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
    lattice: CountGrid = mixture.lattice
    values = np.zeros((len(lattice.trials), len(metrics)))
    for column, metric in enumerate(metrics):
        enough = lattice.trials >= metric.k
        trials, successes = lattice.trials[enough], lattice.successes[enough]
        values[enough, column] = metric.parts[0].at(trials, successes, metric.k)
    at_least = np.array(lattice.ns)[:, None] >= np.array([metric.k for metric in metrics])
    return values, mixture.shares @ at_least


def _problem_covariance(mixture: Mixture, values: Floats, shares: Floats) -> Floats:
    count = float(mixture.counts.sum())
    law, _ = widened_law(mixture, count)
    enough = mixture.lattice.trials[:, None] > np.arange(values.shape[1])
    away = np.where(enough, values - law @ values / shares, 0.0) / shares
    covariance: Floats = away.T @ (law[:, None] * away)
    return covariance


def _trial_covariance(mixture: Mixture, values: Floats, shares: Floats) -> Floats:
    lattice = mixture.lattice
    scaled = values / shares
    mixing = mixture.close  # k runs up to n
    weight = lattice.spread(mixture.shares) * mixing.marginal
    covariance = scaled.T @ (weight[:, None] * scaled)
    for share, start, n in zip(mixture.shares, lattice.starts.tolist(), lattice.ns, strict=True):
        cells = slice(start, start + n + 1)
        centre = lattice.binomial[:, cells] @ scaled[cells]
        covariance = covariance - share * centre.T @ (mixing.weights[:, None] * centre)
    return covariance


def _ends(
    outcomes: Outcomes, metric: Metric, over: Over, level: float, critical: float
) -> tuple[float, float]:
    mixture = mixture_of(outcomes, metric.k)
    part = metric.parts[0]
    low, high = part.bounds
    scale = high - low
    lattice = mixture.lattice
    found = part.at(lattice.trials, lattice.successes, metric.k)
    mean = float(mixture.counts @ found / mixture.counts.sum())
    if scale == 0.0:
        return mean, mean
    asked = IntervalRequest(outcomes, metric, (mean,), mean, over, level_of(critical), None)
    alike = one_sided(asked, mixture)
    if alike is not None and alike.low is not None and alike.high is not None:
        return alike.low, alike.high
    values = (found - low) / scale
    ends: Ends
    if over == "trials" and not few_repeats(mixture):
        squares = asked.squares(mixture, values)
        ends = over_trials(mixture, values, metric.k, level, squares=squares, reach=critical)
    elif outcomes.clusters is not None and over == "problems":
        ends = over_clusters(outcomes, mixture, values, metric.k, level, critical)
    else:
        ends = over_problems(mixture, values, level, critical, outer=1.0)
    return low + scale * float(ends.low), low + scale * float(ends.high)
