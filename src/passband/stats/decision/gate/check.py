"""One metric of one task: how sure it is that the new model is worse, or is not by a tolerance."""

from __future__ import annotations

from dataclasses import dataclass

from passband.stats.checks import Over
from passband.stats.data.outcomes import Outcomes
from passband.stats.decision.compare import Comparison, compare
from passband.stats.decision.gate.failed import Failed, all_right, all_wrong, check_bracket

__all__ = ["Check", "PValues", "check"]


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
