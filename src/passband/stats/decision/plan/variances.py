"""The variances that a plan rests on, from a pilot or from numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from passband.errors import InvalidInput, NotEnoughData
from passband.notes import Note, assumed_correlation, joined
from passband.stats.checks import Over, as_correlation, as_variance, check_outcomes
from passband.stats.data.outcomes import Outcomes, Policy
from passband.stats.decision.variance import spread_of
from passband.stats.evidence.evidence_of import require_claims
from passband.stats.metric.metric import Metric
from passband.stats.metric.registry import parse_metric
from passband.types import Floats

__all__ = [
    "CORRELATION",
    "Assumed",
    "from_numbers",
    "from_pilot",
    "pair_of_numbers",
    "pair_of_pilot",
    "refuse_votes",
]

CORRELATION = 0.5


@dataclass(frozen=True)
class Assumed:
    """The variances behind a plan."""

    between: float
    noise: Callable[[int], tuple[float, ...]]  #: of a problem's value of each side, by its trials
    fewest: int
    notes: tuple[Note, ...] = ()
    correlation: float = 0.0  #: between the values of two models

    def possible(self, between: Floats, within: Floats) -> Floats:
        """Return the variances of a difference, given those of one model that are possible."""
        return 2.0 * (1.0 - self.correlation) * between + 2.0 * within


def from_pilot(pilot: Outcomes, metric: str, policy: Policy) -> Assumed:
    """Return the variances of a metric on a pilot."""
    check_outcomes("pilot", pilot)
    scored = pilot.counted(policy)
    wanted = parse_metric(metric, max(1, scored.most_trials()))
    refuse_votes(wanted)
    scored.require(wanted.k)
    spread = spread_of(scored, wanted)
    if spread.between is None:
        raise NotEnoughData(f"the pilot does not determine the variances: {joined(spread.notes)}.")
    return Assumed(
        spread.between, lambda n: (spread.within_at(lambda _: n),), max(wanted.k, 1), spread.notes
    )


def refuse_votes(metric: Metric) -> None:
    """Raise `InvalidInput` for a metric of answers, which no fitted law draws."""
    if metric.parts[0].needs_answers:
        raise InvalidInput(
            f"{metric.name} cannot be planned from a pilot, as it depends on how answers agree; "
            "plan for pass@1, or give between and within."
        )


def pair_of_pilot(
    pilot: Outcomes, metric: str, policy: Policy, correlation: float | None
) -> Assumed:
    """Return the variances of a difference to a model like that of the pilot."""
    shared = as_correlation(CORRELATION if correlation is None else correlation)
    one = from_pilot(pilot, metric, policy)
    require_claims("the pilot allows no plan", pilot.counted(policy), "problems", one.fewest)
    notes = (*one.notes, assumed_correlation(shared))
    between = 2.0 * (1.0 - shared) * one.between
    return Assumed(between, lambda n: one.noise(n) * 2, one.fewest, notes, shared)


def pair_of_numbers(
    between: float | None, within_a: float | None, within_b: float | None
) -> Assumed:
    """Return the variances of a difference, from numbers."""
    if between is None:
        raise InvalidInput("give between, the variance of the differences, or a pilot.")
    spread = as_variance("between", between)
    a = as_variance("within_a", 0.0 if within_a is None else within_a)
    b = a if within_b is None else as_variance("within_b", within_b)
    if spread + a + b == 0.0:
        raise InvalidInput("between, within_a and within_b must not all be 0.")
    return Assumed(spread, lambda n: (a / n, b / n), 1)


def from_numbers(between: float | None, within: float | None, over: Over) -> Assumed:
    """Return the variances of one model, from numbers."""
    if within is None or (between is None and over == "problems"):
        raise InvalidInput(
            "give a pilot, or both between and within (only within for over='trials')."
        )
    spread = as_variance("between", 0.0 if between is None else between)
    noise = as_variance("within", within)
    if (spread if over == "problems" else 0.0) + noise == 0.0:
        raise InvalidInput("between and within must not both be 0.")
    return Assumed(spread, lambda n: (noise / n,), 1)
