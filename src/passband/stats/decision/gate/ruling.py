"""Rulings on several checks at once: which are regressions, which pass, which are open.

Any of m checks may look worse by chance, so the p-values of being worse are adjusted by Holm's
method: the chance of one regression or more that is none is at most the allowed error, however the
checks depend on each other. All checks must pass for a gate to pass, and that takes no correction:
it is an intersection-union test, wrong only where the one check that should have failed passes.

Holm (1979), Scandinavian Journal of Statistics 6, 65-70; Berger (1982), Technometrics 24, 295-300.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from passband.stats.decision.gate.check import PValues
from passband.stats.decision.ranking.adjusted import holm

__all__ = ["LookErrors", "Ruling", "Verdict", "rule", "rule_at_look"]

Verdict = Literal["pass", "worse-within-tolerance", "regression", "undecided"]


@dataclass(frozen=True)
class Ruling:
    """The verdict on one of several checks."""

    verdict: Verdict
    p_adjusted: float | None  #: of being worse, allowing for the number of checks


@dataclass(frozen=True)
class LookErrors:
    """The errors that one of several planned looks may make, on each comparison by itself."""

    regression: float  #: a comparison that is no worse, called a regression
    passing: float  #: a loss of the tolerance or more, passed

    @property
    def level(self) -> float:
        """The level of the interval whose lower end decides whether a comparison passes."""
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


def _verdict(is_worse: bool, is_within: bool) -> Verdict:
    if is_worse:
        return "worse-within-tolerance" if is_within else "regression"
    return "pass" if is_within else "undecided"
