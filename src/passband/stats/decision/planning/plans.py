"""Plan how many problems and trials an evaluation needs, and which difference it detects."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from passband.errors import InvalidInput, NotEnoughData
from passband.json_values import json_values
from passband.notes import Note, claim_refused, joined
from passband.stats.checks import (
    Over,
    as_correlation,
    as_level,
    as_positive,
    as_share,
    as_whole,
)
from passband.stats.data.outcomes import Outcomes, Policy, check_outcomes
from passband.stats.decision.planning.file import Plan, PlannedDesign
from passband.stats.decision.planning.variances import (
    CORRELATION,
    assumed_correlation,
    pair_of_numbers,
    pair_of_pilot,
)
from passband.stats.decision.planning.widths import (
    MOST_PROBLEMS,
    TOO_SMALL,
    numbers_of_trials,
    plan_width,
    widths_of,
)
from passband.stats.decision.variance import spread_of
from passband.stats.evidence.collect import require_claims
from passband.stats.interval.default.wilson import normal_quantile, student_quantile
from passband.stats.metric.registry import parse_metric
from passband.types import Floats

_MOST = 2.0**51


def problems_for_power(
    variances: Floats, delta: float, level: float, power: float, assurance: float | None
) -> float:
    """Return the least number of problems, before rounding up, that give the power.

    `variances` are those of the difference on one problem that are possible. With M problems a
    difference is found with probability ``Phi(delta sqrt(M / v) - t)``, t being Student's quantile
    with M - 1 degrees of freedom. Without an assurance its mean over v is to be `power`, which is
    what repeating pilot and plan would give; with one, that share of the v is to have it.

    >>> round(problems_for_power(np.array([0.09]), 0.05, 0.95, 0.8, None), 1)
    284.3
    """
    from passband.stats.special import ndtr

    scaled = delta / np.sqrt(np.maximum(variances, 1e-300))

    def is_enough(problems: float) -> bool:
        reach = student_quantile(level, max(problems - 1.0, 1.0))
        found = ndtr(np.minimum(scaled * problems**0.5, 1e9) - reach)
        mean = found.mean() if assurance is None else np.quantile(found, 1.0 - assurance)
        return bool(mean >= power)

    low, high = 0.0, 1.0
    while not is_enough(high) and high < _MOST:
        low, high = high, 2.0 * high
    for _ in range(50):
        middle = (low + high) / 2.0
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def plan(
    *,
    half_width: float | None = None,
    difference: float | None = None,
    pilot: Outcomes | None = None,
    metric: str = "pass@1",
    over: Over | None = None,
    between: float | None = None,
    within: float | None = None,
    trials: int | None = None,
    problems: int | None = None,
    correlation: float | None = None,
    level: float = 0.95,
    power: float | None = None,
    assurance: float | None = None,
    policy: Policy = "drop",
) -> Plan:
    """Return a plan for a half-width (`plan_width`) or for a difference (`plan_difference`).

    Use it before a run, with either `half_width` or `difference`; an argument that does not
    apply to it is refused. A difference takes its variances from `between` and `within`, or
    from a pilot of one model: the other is taken to have the same ones, and values correlated with
    the pilot's across problems by `correlation` (0.5 by default).

    >>> print(plan(difference=0.03, between=1 / 9, within=1 / 6, trials=10))
    1260 x 10 for a difference of 0.03 at level 0.95 with power 0.8
    """
    if (half_width is None) == (difference is None):
        raise InvalidInput("give either half_width or difference, and not both.")
    if half_width is not None:
        _refuse("a half-width", trials=trials, power=power, correlation=correlation)
        return plan_width(
            half_width,
            pilot=pilot,
            metric=metric,
            over=over or "problems",
            between=between,
            within=within,
            problems=problems,
            level=level,
            assurance=0.8 if assurance is None else assurance,
            policy=policy,
        )
    assert difference is not None
    _refuse("a difference", over=over, problems=problems)
    return plan_difference(
        difference,
        between=between,
        within_a=within,
        pilot=pilot,
        correlation=correlation,
        trials=trials,
        level=level,
        power=0.8 if power is None else power,
        assurance=assurance,
        metric=metric,
        policy=policy,
    )


def _refuse(goal: str, **arguments: object) -> None:
    """Refuse arguments that do not apply to a goal."""
    for name, value in arguments.items():
        if value is not None:
            raise InvalidInput(f"{name} does not apply to {goal}; leave it out.")


def plan_difference(
    delta: float,
    *,
    between: float | None = None,
    within_a: float | None = None,
    within_b: float | None = None,
    pilot: Outcomes | None = None,
    correlation: float | None = None,
    trials: int | None = None,
    level: float = 0.95,
    power: float = 0.8,
    assurance: float | None = None,
    metric: str | None = None,
    policy: Policy = "drop",
) -> Plan:
    """Return the number of shared problems needed to detect a difference of `delta`.

    `between` is the variance, across problems, of the difference of the two models' values at
    unlimited trials; `within_a` and `within_b` are the variances of one trial's score around its
    problem's value, which n trials divide by n; at worst `between` is the sum of both models' own
    variances between problems. With a `pilot` of one model instead, both are taken to have its
    variances, and values correlated across problems by `correlation` (0.5): `between` is then
    2 (1 - correlation) times the pilot's. `trials` is by default the least that the metric needs.

        M = (z_{alpha/2} + z_beta)^2 (w^2 + s_a^2 / n + s_b^2 / n) / delta^2

    That is for numbers, which are taken as known. The variances of a pilot are not: the power is
    then its mean over those that the pilot leaves possible; with an `assurance` of, say, 0.8 it is
    the power that four in five of them have at least.

    Use it before a run. It is a normal approximation and optimistic below some 30 problems.

    Miller (2024), Adding Error Bars to Evals, arXiv 2411.00640.

    >>> [f"{plan_difference(0.03, between=1/9, within_a=s, trials=k).exact:.1f}"
    ...     for s, k in ((0, 1), (1/6, 1), (1/6, 10))]
    ['969.0', '3876.0', '1259.7']
    """
    delta, level, power = (
        as_positive("delta", delta),
        as_level(level),
        as_share("power", power),
    )
    if pilot is not None:
        if not (between is within_a is within_b is None):
            raise InvalidInput("give either a pilot or between and within, not both.")
        assumed = pair_of_pilot(pilot, metric or "pass@1", policy, correlation)
    else:
        _refuse("a difference without a pilot", correlation=correlation)
        _refuse("a difference without a pilot", assurance=assurance)
        assumed = pair_of_numbers(between, within_a, within_b)
    n = assumed.fewest if trials is None else as_whole("trials", trials)
    if n < assumed.fewest:
        raise InvalidInput(f"{metric} needs {assumed.fewest} trials or more; got trials={n}.")
    if pilot is not None:
        widths = widths_of(pilot, metric or "pass@1", "problems", level, policy, share=1.0)
        chance = None if assurance is None else as_share("assurance", assurance)

        def problems_at(n: int) -> float:
            variances = assumed.possible(*widths.variances(n))
            return problems_for_power(variances, delta, level, power, chance)
    else:
        factor = _squared(_quantiles(level, power) / delta)

        def problems_at(n: int) -> float:
            return factor * (assumed.between + sum(assumed.noise(n)))

    chosen = _design(problems_at, n)
    return Plan(
        goal="difference",
        target=delta,
        problems=chosen.problems,
        trials=chosen.trials,
        exact=chosen.exact,
        level=level,
        power=power,
        metric=metric or ("pass@1" if pilot is not None else None),
        over="problems",
        between=assumed.between,
        within=assumed.noise(n),
        options=tuple(_design(problems_at, n) for n in numbers_of_trials(assumed.fewest)),
        notes=assumed.notes,
        assurance=assurance,
    )


def _design(problems_at: Callable[[int], float], trials: int) -> PlannedDesign:
    exact = problems_at(trials)
    if not exact < MOST_PROBLEMS:
        raise InvalidInput(TOO_SMALL)
    return PlannedDesign(max(math.ceil(exact - 1e-9), 1), trials, exact)


@dataclass(frozen=True)
class Detectable:
    """The smallest difference that the data at hand are likely to show."""

    metric: str
    delta: float
    n_problems: int
    level: float
    power: float
    variance: float  #: of the difference of two models' values on one problem
    notes: tuple[Note, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Convert to a JSON-serialisable dict."""
        return json_values(self)


def detectable(
    outcomes: Outcomes,
    metric: str,
    *,
    against: Outcomes | None = None,
    correlation: float = CORRELATION,
    level: float = 0.95,
    power: float = 0.8,
    policy: Policy = "drop",
) -> Detectable:
    """Return the smallest difference that would be found with the wanted power.

    With `against`, a second model on the same problems, the variance of the difference is that of
    the pairs. Without, a second model is imagined with the same variances and as many trials,
    whose values at unlimited trials are correlated with these across problems by `correlation`:
    0 for models that have nothing in common, which is what unpaired problems amount to.

        delta = (z_{alpha/2} + z_beta) sqrt(v / M),  v = 2 (1 - correlation) w^2 + 2 s^2

    Use it on a finished run to say what it could have shown. Do not use it to explain a difference
    that was not found: the interval of the difference says that better.

    >>> least = detectable(Outcomes.from_counts([3, 0, 8, 5] * 10, 8), "pass@1")
    >>> round(least.delta, 3)
    0.174
    """
    level, power, correlation = (
        as_level(level),
        as_share("power", power),
        as_correlation(correlation),
    )
    if against is not None:
        from passband.stats.decision.comparison import compare

        both = compare(outcomes, against, metric, level=level, policy=policy)
        if both.decision.verdict == "not-comparable":
            raise NotEnoughData(f"the two are not comparable: {claim_refused(both.notes)}.")
        if both.se is None:
            raise NotEnoughData(
                "the two models differ by the same amount on every problem: the spread is unknown."
            )
        delta = _quantiles(level, power) * both.se
        variance = both.se**2 * both.n_problems
        return Detectable(both.metric, delta, both.n_problems, level, power, variance, both.notes)
    check_outcomes("outcomes", outcomes)
    scored = outcomes.counted(policy)
    wanted = parse_metric(metric, max(1, scored.most_trials()))
    scored.require(wanted.k)
    require_claims("these trials tell no difference", scored, "problems", wanted.k)
    spread = spread_of(scored, wanted)
    if spread.total is None or spread.is_flat:
        raise NotEnoughData(f"the variance of {wanted.name} is unknown: {joined(spread.notes)}.")
    notes = (*spread.notes, assumed_correlation(correlation))
    within = spread.within or 0.0  # with one trial the correlation is that of the scores
    variance = 2.0 * (1.0 - correlation) * (spread.total - within) + 2.0 * within
    delta = _quantiles(level, power) * math.sqrt(variance / spread.n_problems)
    return Detectable(wanted.name, delta, spread.n_problems, level, power, variance, notes)


def _squared(value: float) -> float:
    return value * value  # infinite where ** would raise


def _quantiles(level: float, power: float) -> float:
    return normal_quantile(level) + NormalDist().inv_cdf(power)
