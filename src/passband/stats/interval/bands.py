"""A band over a whole curve: every k at once, with one statement for all of them.

Pointwise intervals miss somewhere on a curve far more often than their level says. The band uses
a larger quantile, the one that the largest of all standardised errors stays within. The errors at
different k are strongly correlated, so that quantile is about 2.4 and not the 3 of Bonferroni.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from passband.display import Displayed
from passband.errors import InvalidInput
from passband.notes import Note
from passband.stats.checks import Over, as_level, check_over, check_text
from passband.stats.data.outcomes import Outcomes, Policy, check_outcomes
from passband.stats.data.values import ArrayValue
from passband.stats.evidence.collect import data_notes, evidence_of
from passband.stats.interval.band_ends import (
    critical_of_counts,
    critical_of_graded,
    critical_value,
    ends_of_counts,
    ends_of_graded,
    notes_of_counts,
    notes_of_graded,
    samples_of,
    vote_band,
    vote_covariance,
)
from passband.stats.interval.default.selection import auto
from passband.stats.interval.default.wilson import level_of
from passband.stats.interval.request import IntervalRequest
from passband.stats.metric.measurement import Curve, curve, curve_name
from passband.stats.metric.metric import Metric
from passband.stats.metric.names import MetricName
from passband.stats.metric.registry import expand_metrics
from passband.types import Floats, Ints

_DIRECTIONS = {"pass@": 1, "max@": 1, "pass^": -1}  # in which a curve goes, of the same problems
_MOST_CELLS = 4_000_000  # pairs (n, c) times k


@dataclass(frozen=True, eq=False)
class Band(ArrayValue, Displayed):
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

    @property
    def is_refused(self) -> bool:
        """Whether a finding forbids the band, so that its ends are NaN."""
        return bool(np.isnan(self.low).any())

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
    scored = outcomes.counted(policy)
    _check_size(scored, curve_name(metric))
    points = curve(scored, metric)
    metrics = expand_metrics(points.metric, scored.most_trials())
    if metrics[0].parts[0].needs_answers:
        drawn = _of_votes(scored, metrics, points.value, over, level)
    else:
        requests = [
            _request(scored, metric, float(value), over, level)
            for metric, value in zip(metrics, points.value, strict=True)
        ]
        drawn = _of_counts(requests) if scored.is_binary else _of_graded(requests)
    low, high = np.array(drawn.ends).T
    low, high = np.minimum(low, points.value), np.maximum(high, points.value)
    low, high = _monotone(points, low, high)
    rows = zip(metrics, low.tolist(), high.tolist(), strict=True)
    ends = [metric.on_scale(outcomes, *pair) for metric, *pair in rows]
    if evidence_of(scored).against(over, len(metrics)) is not None:
        ends = [(math.nan, math.nan)] * len(metrics)
    return Band(
        metric=points.metric,
        k=points.k,
        value=curve(outcomes, metric, policy=policy).value,
        low=np.array([low for low, _ in ends]),
        high=np.array([high for _, high in ends]),
        level=level,
        over=over,
        critical=drawn.critical,
        n_problems=points.n_problems,
        left_out=scored.n_problems - points.n_problems,
        policy=policy,
        notes=(
            *_by_code(data_notes(scored, metric.k, over) for metric in metrics),
            *drawn.notes,
        ),
    )


def _monotone(points: Curve, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Draw the ends in to where the curve, which only rises or only falls, can be.

    All ends hold at once: what pass@k is at least, pass@(k+1) of the same problems is, too. Of
    intervals for one k each that is not so: the best of several would hold less often than one.
    """
    direction = _DIRECTIONS.get(curve_name(points.metric).key)
    if direction is None:
        return low, high
    low, high = low.copy(), high.copy()
    (cuts,) = np.diff(points.n_problems).nonzero()
    for part in np.split(np.arange(len(points.k)), cuts + 1):
        rising = part[::direction]
        low[rising] = np.maximum.accumulate(low[rising])
        high[rising[::-1]] = np.minimum.accumulate(high[rising[::-1]])
    return low, high


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


@dataclass(frozen=True)
class _Drawn:
    """The critical value of a band, its ends at every k, and notes on them."""

    critical: float
    ends: list[tuple[float, float]]
    notes: tuple[Note, ...]


def _request(
    outcomes: Outcomes, metric: Metric, value: float, over: Over, level: float
) -> IntervalRequest:
    means = (value,) if metric.is_mean else tuple(metric.means(outcomes))
    return IntervalRequest(outcomes, metric, means, value, over, level, None)


def _of_counts(requests: list[IntervalRequest]) -> _Drawn:
    critical = critical_of_counts(requests)
    ends = [ends_of_counts(request, critical) for request in requests]
    return _Drawn(critical, ends, _by_code(map(notes_of_counts, requests)))


def _of_graded(requests: list[IntervalRequest]) -> _Drawn:
    """Draw the band; a blend with a factor of zero has the interval of its factors."""
    units = [request.unit for request in requests]
    if units[0] is not requests[0]:
        scale, drawn = requests[0].outcomes.scale, _of_graded(units)
        ends = [(scale.at_share(low), scale.at_share(high)) for low, high in drawn.ends]
        return replace(drawn, ends=ends)
    plain = [r for r in requests if not r.metric.has_zero_factor(r.means)]
    samples = samples_of(plain)
    critical = critical_of_graded(samples, requests[0].level)
    by_k = {sample.request.k: ends_of_graded(sample, critical) for sample in samples}
    for request in requests:
        if request.k not in by_k:
            interval = auto(replace(request, level=level_of(critical)))
            by_k[request.k] = interval.low or 0.0, interval.high or 0.0
    notes = _by_code(notes_of_graded(sample, by_k[sample.request.k]) for sample in samples)
    return _Drawn(critical, [by_k[request.k] for request in requests], notes)


def _of_votes(
    outcomes: Outcomes, metrics: list[Metric], values: Floats, over: Over, level: float
) -> _Drawn:
    """Draw the band of a vote, which depends on answers and not on numbers of successes."""
    critical = critical_value(vote_covariance(outcomes, metrics, over), level)
    ends = vote_band(outcomes, metrics, values, over, critical)
    return _Drawn(critical, list(zip(ends.low, ends.high, strict=True)), ends.notes)


def _by_code(several: Iterable[Iterable[Note]]) -> tuple[Note, ...]:
    """Collect notes at single k, one of each code: the first that is more than a remark, if any."""
    by_code: dict[str, Note] = {}
    for note in chain.from_iterable(several):
        if note.code not in by_code or by_code[note.code].severity == "remark":
            by_code[note.code] = note
    return tuple(by_code.values())
