"""The width rule: make complete rounds until the interval is narrow enough.

After a round t, with c_i successes of problem i and W = sum c_i (t - c_i) / (t - 1),

    g = z sqrt(W + 4) / (M t)

is a guard: the half-width of a normal interval that four more units of variance keep from
collapsing where nearly all trials agree. The interval of the rule is the hull of the default
interval over trials and of mean +- g; the rule stops when half the width of the hull, not cut to
the scale, is at most h. Looking only at the width is nearly harmless, as the width hardly depends
on the side on which the estimate errs; docs/measured.md has the measured coverage.

The guard is for pass@1. For pass@k and pass^k with k > 1 the rule looks at the default interval
from round k + 1 on, and so it does for problems like these. With a proof the interval is that of
`passband.stats.sequential.bernstein`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from passband.errors import InvalidInput
from passband.json_values import json_values
from passband.stats.checks import Over, as_level, as_positive, as_whole, check_over
from passband.stats.data.outcomes import Outcomes
from passband.stats.interval.default.wilson import normal_quantile
from passband.stats.interval.estimation import Estimate, estimate
from passband.stats.metric.names import parse_name
from passband.stats.sequential.bernstein import BernsteinSequence, Rounds, bernstein_interval

Reason = Literal["reached", "most", "floor"]
FORECAST_AFTER = 4  #: rounds
_ADDED = 4.0  # units of variance in the guard
_LOOKS = 12  # looks while the rounds double, about
_MEASURED = ("pass@", "pass^")


@dataclass(frozen=True)
class WidthRule:
    """Stop when the interval of a metric is within +-half_width, or after `most` rounds.

    >>> rule = WidthRule(0.02, most=32)
    >>> list(rule.looks())[:4], list(rule.looks())[-4:]
    ([2, 3, 4, 5], [26, 28, 30, 32])
    """

    half_width: float
    most: int  #: rounds
    metric: str = "pass@1"
    over: Over = "trials"
    level: float = 0.95
    proof: bool = False
    start: int = 0  #: rounds that there were when the rule was set

    def __post_init__(self) -> None:
        if as_positive("half_width", self.half_width) >= 0.5:
            raise InvalidInput(f"half_width must be below 0.5; got {self.half_width:g}.")
        as_whole("most", self.most)
        as_level(self.level)
        check_over(self.over)
        self._check_metric()
        if self.most < self.least:
            raise InvalidInput(
                f"a width rule for {self.metric} first looks after {self.least} rounds; got "
                f"at most {self.most} (-n)."
            )

    def _check_metric(self) -> None:
        name = parse_name(self.metric)
        if self.metric != "avg" and (name.key not in _MEASURED or len(name.ks or ()) != 1):
            raise InvalidInput(
                f"a width rule is for one metric whose error under it is known: pass@k or pass^k; "
                f"got {self.metric!r}."
            )
        if self.proof and (self.k > 1 or self.over != "trials"):
            raise InvalidInput(
                "the proof is for the mean score of these problems: pass@1 over trials; got "
                f"{self.metric} over {self.over}."
            )

    @property
    def k(self) -> int:
        return max(parse_name(self.metric).ks or (1,))

    @property
    def first(self) -> int:
        """The round of the first look."""
        return max(self.least, self.start)

    @property
    def least(self) -> int:
        """The rounds before which the interval is no guide."""
        return 2 if self.k == 1 else self.k + 1

    def looks(self) -> Iterator[int]:
        """Yield the rounds after which the rule looks: each one, then every twelfth more."""
        rounds = self.first
        while rounds < self.most:
            yield rounds
            rounds += max(1, rounds // _LOOKS)
        yield max(self.most, self.first)

    def is_same_goal(self, other: WidthRule) -> bool:
        """Return whether two rules differ only in how far they may go and where they began."""
        return replace(self, most=other.most, start=other.start) == other

    def as_json(self) -> dict[str, Any]:
        """Return the rule as JSON-serialisable values."""
        return json_values(self)


class WidthLook(NamedTuple):
    """The interval of a rule after some rounds; `half_width` is not cut to the scale."""

    rounds: int
    estimate: Estimate
    half_width: float


@dataclass(frozen=True)
class WidthStop:
    """State of a width rule: last look, reason to stop, rounds missing."""

    rule: WidthRule
    look: WidthLook
    reason: Reason | None  #: None while it has not stopped
    needed: int | None = None  #: rounds, or problems at a floor, that would do

    def as_json(self) -> dict[str, Any]:
        """Return the stop as JSON-serialisable values."""
        measured = self.look.estimate
        return {
            **self.rule.as_json(),
            "reason": self.reason,
            "rounds": self.look.rounds,
            "n_problems": measured.n_problems,
            "n_trials": measured.n_trials,
            "value": measured.value,
            "low": measured.low,
            "high": measured.high,
            "reached": self.look.half_width if math.isfinite(self.look.half_width) else None,
            "needed": self.needed,
        }


def guard(outcomes: Outcomes, level: float = 0.95) -> float:
    """Return the half-width g of the guard.

    Where trials have no score, problem i has n trials of its own and adds c (n - c) / (n - 1) / n^2
    to the variance; one with a single trial adds the most it can, 1/4.

    >>> round(guard(Outcomes.from_counts([8, 8, 4, 0], 8)), 4)  # W = 16/7, 1.96 sqrt(W + 4) / 32
    0.1536
    """
    counted = outcomes.trials > 0
    n = outcomes.trials[counted].astype(np.float64)
    if not len(n):
        return math.inf
    c = outcomes.required_successes()[counted]
    several = n > 1
    sums = np.where(several, c * (n - c) / (np.maximum(n - 1.0, 1.0) * n**2), 0.25)
    variance = sums.sum() + _ADDED / n.mean() ** 2
    return float(normal_quantile(level) * math.sqrt(variance) / len(n))


def can_look(rule: WidthRule, rounds: Rounds, count: int) -> bool:
    """Return whether the metric has a value after `count` rounds: k scores of some problem.

    Rounds in which every trial was refused, truncated or given up have none.
    """
    scored = np.isfinite(rounds.scores[:, :count]).sum(axis=1)
    return bool(scored.max(initial=0) >= rule.k)


def look_at(rule: WidthRule, rounds: Rounds, count: int) -> WidthLook:
    """Return the interval of the rule after the first `count` rounds."""
    outcomes = rounds.upto(count)
    if not outcomes.is_binary:
        raise InvalidInput(
            "--until needs scores of 0 or 1: for other scores the error of stopping by width has "
            "not been measured. Score with a threshold, or run a fixed number of trials with -n."
        )
    measured = estimate(outcomes, rule.metric, over=rule.over, level=rule.level)
    if measured.low is None or measured.high is None:
        return WidthLook(count, measured, math.inf)
    low, high = measured.low, measured.high
    if rule.proof:
        low, high = bernstein_interval(
            Rounds(rounds.scores[:, :count]), rule.half_width, rule.level
        )
    elif rule.k == 1 and rule.over == "trials":
        reach = guard(outcomes, rule.level)
        low, high = min(low, measured.value - reach), max(high, measured.value + reach)
    hull = replace(
        measured,
        low=min(max(low, 0.0), measured.value),
        high=max(min(high, 1.0), measured.value),
        method="bernstein" if rule.proof else "guarded",
        # A problem without a score has one of 0 at the lower end and one of 1 at the upper.
        n_problems=rounds.n_problems if rule.proof else measured.n_problems,
    )
    return WidthLook(count, hull, (high - low) / 2.0)


def reason_to_stop(rule: WidthRule, look: WidthLook, rounds: Rounds) -> Reason | None:
    """Return why a rule stops after a look, or None where it goes on."""
    if look.half_width <= rule.half_width:
        return "reached"
    if look.rounds >= rule.most:
        return "most"
    if rule.over == "problems" and look.rounds >= FORECAST_AFTER:
        floor = floor_of(rule, rounds.upto(look.rounds))
        return "floor" if floor is not None and floor > rule.half_width else None
    return None


def replay(rule: WidthRule, rounds: Rounds) -> WidthStop | None:
    """Return the rule's state after these rounds; None before the first.

    It looks at the rounds in their order, as the run did, and so ends where the run ended.
    """
    for count in rule.looks():
        if count > rounds.count:
            break
        if not can_look(rule, rounds, count):
            continue
        look = look_at(rule, rounds, count)
        reason = reason_to_stop(rule, look, rounds)
        if reason is not None:
            return WidthStop(rule, look, reason, _needed(rule, look, rounds))
    if not can_look(rule, rounds, rounds.count):
        return None
    look = look_at(rule, rounds, rounds.count)
    return WidthStop(rule, look, None, _needed(rule, look, rounds))


def forecast(rule: WidthRule, look: WidthLook, rounds: Rounds) -> int | None:
    """Return about how many rounds will do: t (half-width / h)^2.

    The width falls as one over the root of the rounds; the forecast is rough while trials are few.
    With the proof it is what the sequence lacks, over what a round brings; None where trials
    without a score keep its ends apart for ever.
    """
    if not math.isfinite(look.half_width):
        return None
    needed = look.rounds * (look.half_width / rule.half_width) ** 2
    if rule.proof:
        seen = Rounds(rounds.scores[:, : look.rounds])
        sequence = BernsteinSequence.of(seen, rule.half_width, rule.level)
        needed = look.rounds + sequence.rounds_left()
        if not math.isfinite(needed):
            return None
    return max(look.rounds + 1, math.ceil(needed))


def floor_of(rule: WidthRule, outcomes: Outcomes) -> float | None:
    """Return the half-width for problems like these that unlimited trials would leave.

    It is z sqrt(between / M), with `between` the variance of the values across problems; None where
    the trials do not show it.
    """
    from passband.stats.decision.variance import split_variance

    between = split_variance(outcomes, rule.metric).between
    if not between:
        return None
    return normal_quantile(rule.level) * math.sqrt(between / outcomes.n_problems)


def least_half_width(problems: int, level: float = 0.95) -> float:
    """Return half the width that M problems leave over problems like these, whatever they show.

    Were all M alike in all trials, a share of 1 - tail^(1/M) of others could still differ.

    >>> round(least_half_width(200), 4)
    0.0091
    """
    tail = (1.0 - level) / 2.0
    return float(1.0 - tail ** (1.0 / problems)) / 2.0


def most_rounds(rule: WidthRule, problems: int) -> int:
    """Return the default of the most rounds that a rule may take: twice the most it could need.

    Coin tosses, the noisiest trials there are, need z^2 / (4 M h^2) rounds; the proof twice that.

    >>> most_rounds(WidthRule(0.02, 2), 200), most_rounds(WidthRule(0.02, 2, proof=True), 200)
    (25, 49)
    """
    worst = normal_quantile(rule.level) ** 2 / (4.0 * problems * rule.half_width**2)
    return max(16, 4 * rule.k, math.ceil(worst * (4.0 if rule.proof else 2.0)))


def _needed(rule: WidthRule, look: WidthLook, rounds: Rounds) -> int | None:
    """Return about how many rounds would do, or problems where no number of rounds will."""
    if look.half_width <= rule.half_width:
        return None
    outcomes = rounds.upto(look.rounds)
    if rule.over == "problems":
        floor = floor_of(rule, outcomes) if look.rounds > 1 else None
        if floor is not None and floor > rule.half_width:
            ratio = (look.half_width / rule.half_width) ** 2
            return math.ceil(rounds.n_problems * ratio) if math.isfinite(ratio) else None
    return forecast(rule, look, rounds)
