"""Trace an adaptive test: each item, why it was asked, and the ability after it."""

from __future__ import annotations

from dataclasses import dataclass

from passband.stats.interval import normal_quantile
from passband.summary.summary import AdaptiveResult


@dataclass(frozen=True)
class AbilityAfter:
    """An item that was asked, why, its score, and ability with an interval after it."""

    item: str
    reason: str
    difficulty: float
    score: float | None  #: mean of its trials; None: no trial has a score
    theta: float
    low: float  #: theta and its standard error, taken as normal
    high: float


def ability_path(result: AdaptiveResult, level: float) -> tuple[AbilityAfter, ...]:
    """Return ability after each item with the interval of a normal posterior."""
    reach = normal_quantile(level)
    return tuple(
        AbilityAfter(
            step.key,
            step.reason,
            step.difficulty,
            step.score,
            step.theta,
            step.theta - reach * step.se,
            step.theta + reach * step.se,
        )
        for step in result.path
    )
