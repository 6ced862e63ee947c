"""Rule on a gate's checks: which are regressions, which pass, which are open.

A `Check` says for one metric of one task how sure it is that the new model is worse, or is not by a
tolerance; `Failed` trials, which have no score, bound it from both sides.

Any of m checks may look worse by chance, so the p-values of being worse are adjusted by Holm's
method: the chance of one regression or more that is none is at most the allowed error, however the
checks depend on each other. All checks must pass for a gate to pass, and that takes no correction:
it is an intersection-union test, wrong only where the one check that should have failed passes.

Holm (1979), Scandinavian Journal of Statistics 6, 65-70; Berger (1982), Technometrics 24, 295-300.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from passband.errors import InvalidInput
from passband.stats.checks import Over
from passband.stats.data.outcomes import Outcomes
from passband.stats.decision.comparison import Comparison, compare
from passband.stats.decision.ranking.simultaneous import holm
from passband.stats.metric.registry import needs_answers

Failed = Literal["bracket", "wrong", "drop"]
"""What failed trials count as: whatever is against a verdict, wrong answers, or nothing."""


def all_wrong(outcomes: Outcomes) -> Outcomes:
    """Return the outcomes with every failed trial a wrong answer."""
    return outcomes.under("fail")


def all_right(outcomes: Outcomes) -> Outcomes:
    """Return the outcomes with every failed trial a right answer.

    >>> counts = Outcomes.from_counts([1, 2], 4, unscored={"timeout": [0, 3]})
    >>> right = all_right(counts)
    >>> right.successes.tolist(), right.trials.tolist()
    ([1, 5], [4, 7])
    """
    if not outcomes.unscored:
        return outcomes
    absent = np.sum(list(outcomes.unscored.values()), axis=0)
    is_raised = not outcomes.scale.lower_is_better
    successes = outcomes.required_successes() + is_raised * absent
    return replace(outcomes, successes=successes, trials=outcomes.trials + absent, unscored={})


def check_bracket(a: Outcomes, b: Outcomes, metric: str) -> None:
    """Refuse failed trials that cannot be counted as right."""
    for outcomes in (a, b):
        if not outcomes.n_unscored:
            continue
        if needs_answers([metric]):
            _refuse(outcomes, "the vote of right answers that were never given is not known")
        if not outcomes.is_binary:
            _refuse(outcomes, "scores are not 0 or 1, so the best that they could be is not known")


def _refuse(outcomes: Outcomes, reason: str) -> None:
    raise InvalidInput(
        f"{outcomes.n_unscored} trials failed, and {reason}; say what failed trials count as: "
        "wrong, or drop."
    )


@dataclass(frozen=True)
class PValues:
    """Two one-sided p-values of a difference new - base; None where the data allow none."""

    p_worse: float | None  #: of the new model being no worse; small where it is worse
    p_beyond: float | None  #: of a loss of the tolerance or more; small where there is none


@dataclass(frozen=True)
class Check:
    """A comparison, and the same with failed trials counted for and against the new model."""

    comparison: Comparison
    worst: Comparison | None = None  #: the base's failed trials right, the new model's wrong
    best: Comparison | None = None  #: the other way round

    @property
    def plain(self) -> PValues:
        """The evidence if failed trials are like the others."""
        return _evidence(self.comparison)

    @property
    def evidence(self) -> PValues:
        """The evidence that holds whatever the failed trials would have been."""
        every = [self.plain]
        every += [_evidence(case) for case in (self.worst, self.best) if case is not None]
        return PValues(
            _largest([one.p_worse for one in every]), _largest([one.p_beyond for one in every])
        )

    @property
    def bracket(self) -> tuple[float, float] | None:
        """The difference with failed trials counted against and for the new model, if any did."""
        if self.worst is None or self.best is None:
            return None
        return self.worst.value, self.best.value


def check(
    base: Outcomes,
    new: Outcomes,
    metric: str,
    *,
    tolerance: float,
    over: Over = "trials",
    level: float = 0.95,
    failed: Failed = "bracket",
) -> Check:
    """Compare a new model with its base, and see what its failed trials could change.

    With failed="bracket" a p-value is the largest of three: failed trials left out; those of the
    base right and those of the new model wrong; and the reverse. A verdict that it allows holds
    whatever each failed trial would have been. "wrong" counts them as wrong answers on both sides,
    "drop" leaves them out.

    >>> base = Outcomes.from_counts([6] * 50, 8)
    >>> new = Outcomes.from_counts([5] * 50, 7, unscored={"timeout": [1] * 50})
    >>> low, high = check(base, new, "pass@1", tolerance=0.02).bracket
    >>> round(low, 3), round(high, 3)
    (-0.125, 0.0)
    """

    def compared(a: Outcomes, b: Outcomes) -> Comparison:
        return compare(a, b, metric, over=over, level=level, margin=tolerance, settle=False)

    if failed == "wrong":
        return Check(compared(all_wrong(base), all_wrong(new)))
    if failed == "drop" or not base.n_unscored + new.n_unscored:
        return Check(compared(base, new))
    check_bracket(base, new, metric)
    worst = compared(all_right(base), all_wrong(new))
    best = compared(all_wrong(base), all_right(new))
    return Check(compared(base, new), worst, best)


def _evidence(comparison: Comparison) -> PValues:
    return PValues(comparison.confidence, comparison.decision.p_no_worse)


def _largest(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return max(known) if len(known) == len(values) else None


CheckVerdict = Literal["pass", "worse-within-tolerance", "regression", "undecided"]


@dataclass(frozen=True)
class Ruling:
    """The verdict on one of several checks."""

    verdict: CheckVerdict
    p_adjusted: float | None  #: of being worse, allowing for the number of checks


@dataclass(frozen=True)
class LookErrors:
    """The errors that one of several planned looks may make, on each comparison by itself."""

    regression: float  #: a comparison that is no worse, called a regression
    passing: float  #: a loss of the tolerance or more, passed

    @property
    def level(self) -> float:
        """Level of the interval whose lower end decides whether a comparison passes."""
        return 1.0 - 2.0 * self.passing


def rule(
    family: Sequence[PValues], *, error: float = 0.025, pass_error: float | None = None
) -> list[Ruling]:
    """Return the verdicts on a family of checks.

    `error` is the chance of any false regression among them, `pass_error` that of passing a check
    whose loss is the tolerance or more (default: the same).

    >>> alike = PValues(p_worse=0.4, p_beyond=0.001)
    >>> [one.verdict for one in rule([PValues(0.001, 0.9), PValues(0.02, 0.5), alike])]
    ['regression', 'undecided', 'pass']
    """
    limit = error if pass_error is None else pass_error
    adjusted = holm([1.0 if one.p_worse is None else one.p_worse for one in family])
    return [
        Ruling(
            _verdict(p <= error, one.p_beyond is not None and one.p_beyond <= limit),
            None if one.p_worse is None else p,
        )
        for one, p in zip(family, adjusted, strict=True)
    ]


def rule_at_look(family: Sequence[PValues], errors: LookErrors) -> list[Ruling]:
    """Return the verdicts on a family of checks at one of several looks.

    The errors allow for the number of checks already; Holm's steps are not taken, as the levels of
    later looks depend on what was spent on a check before.

    >>> [one.verdict for one in rule_at_look([PValues(0.001, 0.9)], LookErrors(0.0005, 0.01))]
    ['undecided']
    """
    return [
        Ruling(
            _verdict(
                one.p_worse is not None and one.p_worse <= errors.regression,
                one.p_beyond is not None and one.p_beyond <= errors.passing,
            ),
            None,
        )
        for one in family
    ]


def _verdict(is_worse: bool, is_within: bool) -> CheckVerdict:
    if is_worse:
        return "worse-within-tolerance" if is_within else "regression"
    return "pass" if is_within else "undecided"
