"""The variances behind a plan, from a pilot or from numbers.

`MomentWidths` makes half-widths from a pilot's moments, for graded scores, blends of averages and
clusters. There is no model of such trials to draw new ones from. The pilot's variance is what there
is; how uncertain it is comes from random weights on the pilot's problems, or clusters of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from passband.errors import InvalidInput, NotEnoughData
from passband.notes import Note, joined
from passband.stats.checks import Over, as_correlation, as_variance
from passband.stats.data.outcomes import Outcomes, Policy, check_outcomes
from passband.stats.decision.variance import spread_of
from passband.stats.evidence.collect import require_claims
from passband.stats.interval.bootstrap.units import data_seed
from passband.stats.interval.default.wilson import student_quantile
from passband.stats.interval.seeds import generator
from passband.stats.metric.metric import Metric
from passband.stats.metric.registry import parse_metric
from passband.types import Floats

PLAN_BY_MOMENTS = Note(
    "plan-by-moments",
    "planned with a t interval of the pilot's variance; the printed interval follows the skewness "
    "of the scores as well and may be wider",
)

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
        """Return the possible variances of a difference, given those of one model."""
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
    """Return the variances of a difference between two models like the pilot's."""
    shared = as_correlation(CORRELATION if correlation is None else correlation)
    single = from_pilot(pilot, metric, policy)
    require_claims("the pilot allows no plan", pilot.counted(policy), "problems", single.fewest)
    notes = (*single.notes, assumed_correlation(shared))
    between = 2.0 * (1.0 - shared) * single.between
    return Assumed(between, lambda n: single.noise(n) * 2, single.fewest, notes, shared)


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


_DRAWS = 400
_SHARE = 0.5  # of a problem that each of the pilot's counts for, as in `simulation`

_LEAST = 1e-300


@dataclass(frozen=True, eq=False)
class MomentWidths:
    """The half-widths of t intervals, one for each variance that a pilot leaves possible."""

    assumed: Assumed
    over: Over
    level: float
    n_problems: int  #: of the pilot
    size: float  #: problems of a cluster, on average
    factors: Floats  # (draws,) what to multiply the pilot's variance by
    seed: int

    @property
    def fewest(self) -> int:
        return max(self.assumed.fewest, 1 if self.over == "problems" else 2)

    @property
    def widest(self) -> float:
        return float("inf")

    @property
    def notes(self) -> tuple[Note, ...]:
        return (*self.assumed.notes, PLAN_BY_MOMENTS)

    def variances(self, trials: int) -> tuple[Floats, Floats]:
        """Return the variances between problems and of sampling, per draw."""
        return self.factors * self.assumed.between, self.factors * sum(self.assumed.noise(trials))

    def at(self, problems: int | None, trials: int) -> Floats:
        """Return the half-widths of runs; without a number, of the pilot's own problems."""
        count = self.n_problems if problems is None else problems
        between, within = self.variances(trials)
        variance = within if self.over == "trials" else between + within
        freedom = max(count / self.size - 1.0, 1.0)
        if self.over == "trials":
            freedom = float(count)
        found = generator(self.seed).chisquare(freedom, len(variance)) / freedom
        half: Floats = student_quantile(self.level, freedom) * np.sqrt(variance * found / count)
        return half


def moment_widths(
    outcomes: Outcomes, metric: Metric, over: Over, level: float, *, share: float = _SHARE
) -> MomentWidths:
    """Draw the variances that a pilot of any kind leaves possible."""
    assumed = from_pilot(outcomes, metric.name, "drop")
    values = metric.by_problem(outcomes)
    linear = metric.linear(list(values.T), values.mean(axis=0).tolist())
    units = linear - linear.mean()
    if over == "problems" and outcomes.is_clustered:
        enough = outcomes.trials >= max(metric.k, 1)
        units = np.bincount(outcomes.cluster_codes(enough), weights=units).astype(np.float64)
    seed = data_seed(metric, linear)
    factors = _factors(units, over, share, generator(seed))
    size = len(linear) / len(units)
    return MomentWidths(assumed, over, level, len(linear), size, factors, seed)


def _factors(units: Floats, over: Over, share: float, rng: np.random.Generator) -> Floats:
    """Draw possible ratios of the population's variance to the pilot's."""
    count = len(units)
    if over == "trials" or count < 2:
        freedom = max(share * count, 1.0)
        factors: Floats = freedom / rng.chisquare(freedom, _DRAWS)
        return factors
    weights = rng.gamma(share, size=(_DRAWS, count))
    weights /= weights.sum(axis=1, keepdims=True)
    mean = weights @ units
    drawn = weights @ units**2 - mean**2
    return (1.0 + 1.0 / (share * count)) * drawn / max(float(units.var()), _LEAST)


def assumed_correlation(correlation: float) -> Note:
    """Return the note on the second model that a plan imagines."""
    return Note(
        "assumed-correlation",
        f"a second model with correlation {correlation:g} across problems is assumed",
    )
