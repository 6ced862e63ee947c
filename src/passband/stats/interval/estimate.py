"""Estimates: a value with an interval, and the target that the interval is for."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, overload

from passband.notes import Note, notes_as_json
from passband.stats.checks import (
    Over,
    as_level,
    check_outcomes,
    check_over,
    check_text,
    names_in,
)
from passband.stats.data.outcomes import Outcomes, Policy
from passband.stats.interval.methods import interval_for
from passband.stats.interval.request import IntervalRequest
from passband.stats.interval.seeds import seed_of
from passband.stats.interval.trial_counts import trial_count_notes
from passband.stats.metric.metric import Metric
from passband.stats.metric.registry import expand_metrics, parse_metric
from passband.stats.tolerance import ROUNDING

__all__ = ["Estimate", "Over", "estimate"]


@dataclass(frozen=True)
class Estimate:
    """A metric's value, its interval, and everything the interval rests on.

    ``over`` names the target. "problems": problems like these, the model sampled again. "trials":
    these very problems, the model sampled again. The two differ, often by a factor of three.
    """

    metric: str
    value: float  #: observed; the posterior mean of a method with a prior
    low: float | None
    high: float | None
    se: float | None  #: standard error, on the scale of the value
    level: float
    over: Over
    method: str
    n_problems: int
    n_trials: int
    left_out: int  #: problems with too few trials for this k
    n_unscored: int  #: trials without a score
    policy: Policy  #: what was done with them
    seed: int | None  #: None where nothing is random
    notes: tuple[Note, ...] = ()  #: where the coverage of the interval is known to be weak

    def as_json(self) -> dict[str, Any]:
        """Convert to a JSON-serialisable dict."""
        return {**asdict(self), "notes": notes_as_json(self.notes)}

    def __str__(self) -> str:
        """Format the value with its interval, rounded by the error.

        >>> from passband import Outcomes
        >>> print(estimate(Outcomes.from_counts([3, 0, 8, 5] * 10, 8), "pass@1"))
        pass@1 0.50 [0.39, 0.61]
        """
        from passband.stats.interval.rounding import rounded

        return f"{self.metric} {rounded(self.value, self.low, self.high)}"


@overload
def estimate(
    outcomes: Outcomes,
    metrics: str,
    *,
    over: Over = ...,
    method: str = ...,
    level: float = ...,
    policy: Policy = ...,
    seed: int | str | None = ...,
) -> Estimate: ...
@overload
def estimate(
    outcomes: Outcomes,
    metrics: list[str] | tuple[str, ...],
    *,
    over: Over = ...,
    method: str = ...,
    level: float = ...,
    policy: Policy = ...,
    seed: int | str | None = ...,
) -> list[Estimate]: ...
def estimate(
    outcomes: Outcomes,
    metrics: str | list[str] | tuple[str, ...],
    *,
    over: Over = "problems",
    method: str = "auto",
    level: float = 0.95,
    policy: Policy = "drop",
    seed: int | str | None = None,
) -> Estimate | list[Estimate]:
    """Return a metric with its interval, or a list of them for a list of names.

    `over` is the target: "problems" for problems like these, "trials" for these problems with the
    model sampled again. `method` names how the interval is made; see docs/intervals.md for all of
    them and docs/coverage.md for how often each contains the truth. `seed` is a number or a name,
    used by the methods that draw random numbers; without it the data decide.

    >>> from passband import Outcomes
    >>> outcomes = Outcomes.from_counts([3, 0, 8, 5] * 10, 8)
    >>> result = estimate(outcomes, "pass@1", over="trials")
    >>> round(result.value, 3), round(result.low, 3), round(result.high, 3)
    (0.5, 0.46, 0.54)
    """
    check_outcomes("outcomes", outcomes)
    check_over(over)
    level = as_level(level)
    check_text("method", method, "auto")
    names = [] if isinstance(metrics, str) else names_in(metrics)
    scored = outcomes.under(policy)
    template = _Template(outcomes, scored, over, method, level, policy, seed_of(seed))
    if isinstance(metrics, str):
        return template.filled(parse_metric(metrics, scored.most_trials()))
    return [
        template.filled(metric)
        for name in names
        for metric in expand_metrics(name, scored.most_trials())
    ]


@dataclass(frozen=True)
class _Template:
    """Everything of an estimate except the metric."""

    outcomes: Outcomes  # as they were given
    scored: Outcomes  # as the policy reads them
    over: Over
    method: str
    level: float
    policy: Policy
    seed: int | None

    def filled(self, metric: Metric) -> Estimate:
        tally = self.scored.trial_tally
        used = int(tally[metric.k :].sum())
        means = metric.means(self.scored)
        value = metric.combine(means)
        request = IntervalRequest(
            self.scored, metric, tuple(means), value, self.over, self.level, self.seed
        )
        interval = interval_for(self.method, request)
        value = value if interval.value is None else interval.value
        return Estimate(
            metric=metric.name,
            value=value,
            low=_moved(interval.low, value, is_beyond=operator.gt),
            high=_moved(interval.high, value, is_beyond=operator.lt),
            se=interval.se,
            level=self.level,
            over=self.over,
            method=self.method,
            n_problems=used,
            n_trials=int(tally[metric.k :] @ range(metric.k, len(tally))),
            left_out=self.scored.n_problems - used,
            n_unscored=self.outcomes.n_unscored,
            policy=self.policy,
            seed=interval.seed,
            notes=(*trial_count_notes(self.scored, metric.k, self.over), *interval.notes),
        )


def _moved(
    end: float | None, value: float, *, is_beyond: Callable[[float, float], bool]
) -> float | None:
    """Return an end of an interval, or the value if the end passes it by a rounding error.

    At the end of a metric's range the value is a sum and the end a product: 0.8 in both cases, but
    for the last digit.
    """
    if end is not None and is_beyond(end, value) and math.isclose(end, value, rel_tol=ROUNDING):
        return value
    return end
