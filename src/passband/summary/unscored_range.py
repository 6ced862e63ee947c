"""Bound a metric by counting every unscored trial as wrong, then as right."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from passband.stats.data import SPENT_METRICS
from passband.stats.metric import bounds
from passband.summary.judged.result import rests_on_labels

if TYPE_CHECKING:
    from passband.stats.data import Outcomes
    from passband.stats.interval import Estimate
    from passband.summary.summary import Group, Line


@dataclass(frozen=True)
class UnscoredRange:
    """Range of a metric over the scores that unscored trials may have, if beyond its interval."""

    metric: str  #: the label of the line
    low: float  #: every trial without a score a failure
    high: float  #: every one a success


def with_unscored_range(group: Group, outcomes: Outcomes, scorer: str | None) -> Group:
    """Return the group with the range of its first metric that has one, if it is wide.

    Losing trials is harmless as long as this range is narrower than the interval; beyond that,
    the interval understates what is not known.
    """
    if not outcomes.n_unscored:
        return group
    for line in group.lines:
        name = metric_of(line, scorer)
        extremes = None if name is None else bounds(outcomes, name)
        if line.estimate is not None and extremes is not None:
            bracket = UnscoredRange(line.metric, *extremes)
            return replace(group, bracket=bracket) if _is_wide(bracket, line.estimate) else group
    return group


def metric_of(line: Line, scorer: str | None) -> str | None:
    """Return the metric that a line measures on the trials of the main scorer, if it does."""
    estimate = line.estimate
    if estimate is None or line.scorer != scorer:
        return None
    if estimate.metric in SPENT_METRICS:
        return None
    if estimate.method.startswith("unstopped") or rests_on_labels(estimate):
        return None
    if line.name is None:
        return estimate.metric
    return "avg" if line.reduction == "mean" else None


def _is_wide(bracket: UnscoredRange, estimate: Estimate) -> bool:
    if estimate.low is None or estimate.high is None:
        return bracket.high > bracket.low
    return bracket.high - bracket.low > estimate.high - estimate.low
