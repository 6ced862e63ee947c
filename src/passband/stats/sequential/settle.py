"""Repeated looks at two models: is b worse than a, beyond noise and beyond a tolerance?

Before the first look it is laid down after how many rounds one will look, what error may be made,
and which loss is tolerated. At look j the interval of b - a is the package's own `compare` at level
2 Phi(b_j) - 1, with the boundary b_j of `passband.stats.sequential.spending`. It is a repeated
confidence interval (Jennison and Turnbull 1989): all looks together miss the difference with
probability alpha at most, in large samples. Its upper end below 0 says regression, its lower end
above -tolerance says no regression beyond it, both say worse but within tolerance.

The value at an early stop overstates the difference: an estimate that is far out is what stops.

Jennison and Turnbull (1989), JRSS B 51, 305-361.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Literal

import numpy as np

from passband.errors import InvalidInput
from passband.stats.checks import Over, as_positive, as_share, as_whole, check_over
from passband.stats.data.outcomes import Outcomes, Policy
from passband.stats.decision.comparison import Comparison, compare
from passband.stats.decision.planning.file import content_hash, load_content, save_content
from passband.stats.interval.default.wilson import level_of, normal_quantile
from passband.stats.metric.registry import parse_metric
from passband.stats.sequential.spending import (
    Spending,
    boundaries,
    boundaries_spending,
    spent,
)
from passband.types import Floats

FORMAT = "passband looks 1"
LookVerdict = Literal["regression", "no-regression", "worse-within-tolerance", "undecided"]
_SHARES = (1 / 16, 3 / 32, 1 / 8, 3 / 16, 1 / 4, 3 / 8, 1 / 2, 3 / 4, 1.0)


def geometric_looks(rounds: int, first: int = 2) -> tuple[int, ...]:
    """Return at most nine looks, each about a third more than the one before.

    >>> geometric_looks(32), geometric_looks(5)
    ((2, 3, 4, 6, 8, 12, 16, 24, 32), (2, 3, 4, 5))
    """
    if rounds < first:
        raise InvalidInput(f"there must be at least {first} rounds to look at; got {rounds}.")
    return tuple(sorted({max(first, math.ceil(rounds * share)) for share in _SHARES}))


def looks_from(there: int, rounds: int, first: int = 2) -> tuple[int, ...]:
    """Return the looks where some rounds are there already: these first, then as usual.

    >>> looks_from(8, 32), looks_from(1, 5), looks_from(4, 32, first=5)
    ((8, 12, 16, 24, 32), (2, 3, 4, 5), (5, 6, 8, 12, 16, 24, 32))
    """
    later = tuple(look for look in geometric_looks(rounds, first) if look > there)
    return (there, *later) if there >= first else later


@dataclass(frozen=True)
class LookPlan:
    """Schedule and tolerance of looks, fixed before the first."""

    looks: tuple[int, ...]  #: rounds, that is trials of every problem by each model
    tolerance: float  #: a loss up to this is no regression to act on
    metric: str = "pass@1"
    over: Over = "trials"
    alpha: float = 0.05  #: two-sided; each of the two false verdicts has half of it
    spending: Spending = "power"
    comparisons: int = 1  #: tasks or metrics any of which may show a regression

    def __post_init__(self) -> None:
        object.__setattr__(self, "looks", tuple(self.looks))
        parse_metric(self.metric)
        check_over(self.over)
        as_positive("tolerance", self.tolerance)
        as_share("alpha", self.alpha)
        as_whole("comparisons", self.comparisons)
        for rounds in self.looks:
            as_whole("a look", rounds)
        boundaries(self.fractions, alpha=self.alpha, spending=self.spending)

    @property
    def fractions(self) -> tuple[float, ...]:
        """The share of all rounds that each look has seen."""
        return tuple(rounds / self.looks[-1] for rounds in self.looks) if self.looks else ()

    def levels(self, alpha: float | None = None) -> tuple[float, ...]:
        """Return the level of the interval at each look.

        >>> [round(level, 4) for level in plan_looks(32, tolerance=0.02).levels()][:3]
        [0.9992, 0.9991, 0.9989]
        """
        share = self.alpha if alpha is None else alpha
        bounds = boundaries(self.fractions, alpha=share, spending=self.spending)
        return tuple(map(level_of, bounds))

    def level_if_last(self, number: int, alpha: float) -> float:
        """Return the level of a look after which there will be none, though more were planned."""
        return self.level_at_end(self.looks[number - 1], alpha)

    def level_at_end(self, rounds: float, alpha: float, taken: int | None = None) -> float:
        """Return the level of a last look after these rounds, planned or not: alpha ends there.

        `taken` are the rounds of the look before it, by default the last one planned before.

        >>> plan = plan_looks(32, tolerance=0.02)
        >>> round(plan.level_at_end(32, 0.05), 4), round(plan.level_at_end(20, 0.05), 4)
        (0.9688, 0.9567)
        """
        last = rounds if taken is None else taken
        before = [look for look in self.looks if look < rounds and look <= last]
        cumulative = [spent(self.spending, look / self.looks[-1], alpha) for look in before]
        return level_of(boundaries_spending([*before, rounds], [*cumulative, alpha])[-1])

    @property
    def sha256(self) -> str:
        """The hash of the plan's content, whatever file it is in."""
        return content_hash(asdict(self))

    def save(self, path: str | Path) -> None:
        """Write the plan as JSON, with the hash of its content."""
        save_content(path, FORMAT, asdict(self))

    @classmethod
    def load(cls, path: str | Path) -> LookPlan:
        """Read a plan, and refuse one that was changed after it was saved."""
        names = {field.name for field in fields(cls)}
        content = load_content(path, FORMAT, names, noun="plan of looks")
        try:
            return cls(**content)
        except TypeError as error:
            raise InvalidInput(f"{path}: the plan cannot be read; {error}.") from None


@dataclass(frozen=True)
class LookResult:
    """One look: the interval at its level, and the verdict."""

    verdict: LookVerdict
    number: int  #: of the look, from 1
    looks: int  #: planned
    rounds: int
    value: float  #: b - a; at an early stop it tends to overstate
    low: float | None
    high: float | None
    level: float  #: of the lower end's interval
    regression_level: float  #: of the upper end's
    comparison: Comparison

    @property
    def is_early(self) -> bool:
        """Whether a verdict was reached before the last planned look."""
        return self.verdict != "undecided" and self.number < self.looks


def plan_looks(
    rounds: int,
    *,
    tolerance: float,
    metric: str = "pass@1",
    over: Over = "trials",
    alpha: float = 0.05,
    spending: Spending = "power",
    comparisons: int = 1,
) -> LookPlan:
    """Return a plan of at most nine looks within this many rounds; save it before the first.

    >>> plan = plan_looks(32, tolerance=0.02)
    >>> plan.looks, plan.sha256[:8]
    ((2, 3, 4, 6, 8, 12, 16, 24, 32), '544c092e')
    """
    k = parse_metric(metric).k
    looks = geometric_looks(as_whole("rounds", rounds), 2 if k == 1 else k + 1)
    return LookPlan(looks, tolerance, metric, over, alpha, spending, comparisons)


def likely_rounds(plan: LookPlan, noise: float, difference: float) -> tuple[float, float]:
    """Return a plan's mean number of rounds and its probability of no decision.

    `noise` is the standard error of the difference after one round; that after r rounds is taken
    as noise / sqrt(r), and the estimate as normal. 20,000 simulated plans.

    >>> rounds, undecided = likely_rounds(plan_looks(32, tolerance=0.02), 0.0375, 0.0)
    >>> round(rounds, 1), round(undecided, 2)
    (22.4, 0.15)
    """
    looks = np.array(plan.looks, dtype=np.float64)
    steps = np.sqrt(np.diff(looks, prepend=0.0))
    walks = np.cumsum(
        np.random.default_rng(0).standard_normal((20_000, len(looks))) * steps, axis=1
    )
    values = difference + noise * walks / looks
    reach = noise / np.sqrt(looks)
    low = values - reach * _quantiles(plan.levels(plan.alpha))
    high = values + reach * _quantiles(plan.levels(plan.alpha / plan.comparisons))
    decided = (high < 0.0) | (low > -plan.tolerance)
    first = np.where(decided.any(axis=1), decided.argmax(axis=1), len(looks) - 1)
    return float(looks[first].mean()), float(1.0 - decided.any(axis=1).mean())


def _quantiles(levels: tuple[float, ...]) -> Floats:
    return np.array([normal_quantile(level) for level in levels])


def take_look(
    plan: LookPlan,
    number: int,
    a: Outcomes,
    b: Outcomes,
    *,
    is_last: bool = False,
    policy: Policy = "drop",
) -> LookResult:
    """Compare b with a at look `number`, the first being 1, and give the verdict.

    Say `is_last` where the budget ends here: the error that is left is then spent at this look.
    That is right as long as what trials cost does not depend on the difference.

    Of several comparisons any may show a regression by chance, so the upper end is at alpha divided
    by their number; all of them must pass, so the lower end is at alpha.
    """
    if not 1 <= number <= len(plan.looks):
        raise InvalidInput(f"the plan has looks 1 to {len(plan.looks)}; got {number}.")
    rounds = plan.looks[number - 1]
    for side, outcomes in (("a", a), ("b", b)):
        _require_rounds(side, outcomes, rounds, number)
    level = _level(plan, number, plan.alpha, is_last)
    strict = _level(plan, number, plan.alpha / plan.comparisons, is_last)
    result = compare(a, b, plan.metric, over=plan.over, level=level, policy=policy)
    wide = result
    if strict != level:
        wide = compare(a, b, plan.metric, over=plan.over, level=strict, policy=policy)
    low, high = result.low, wide.high
    verdict = _verdict(low, high, plan.tolerance)
    if result.lower_is_better:
        low, high = wide.low, result.high
        verdict = _verdict(_negative(high), _negative(low), plan.tolerance)
    return LookResult(
        verdict=verdict,
        number=number,
        looks=len(plan.looks),
        rounds=rounds,
        value=result.value,
        low=low,
        high=high,
        level=level,
        regression_level=strict,
        comparison=result,
    )


def _level(plan: LookPlan, number: int, alpha: float, is_last: bool) -> float:
    if is_last and number < len(plan.looks):
        return plan.level_if_last(number, alpha)
    return plan.levels(alpha)[number - 1]


def _negative(end: float | None) -> float | None:
    return None if end is None else -end


def _verdict(low: float | None, high: float | None, tolerance: float) -> LookVerdict:
    if low is None or high is None:
        return "undecided"
    if high < 0.0:
        return "worse-within-tolerance" if low > -tolerance else "regression"
    return "no-regression" if low > -tolerance else "undecided"


def _require_rounds(side: str, outcomes: Outcomes, rounds: int, number: int) -> None:
    """Refuse outcomes that do not match the look's rounds."""
    n_asked = outcomes.trials + sum(outcomes.unscored.values())
    wrong = np.flatnonzero(n_asked != rounds)
    if len(wrong):
        first = int(wrong[0])
        raise InvalidInput(
            f"look {number} is after {rounds} trials of every problem; {side} has {n_asked[first]} "
            f"of problem {outcomes.problems[first]!r}."
        )
