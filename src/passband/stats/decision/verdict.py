"""The verdict on a difference: better, worse, equivalent, no worse, or undecided.

All verdicts are read from one interval, so that any of them may be read without a correction for
having looked for several. At level 0.95 each of the one-sided statements behind them (above 0,
below 0, above -margin, below margin) is wrong with probability 0.025 at most. Equivalence is two
such statements, the two one-sided tests of Schuirmann; for tests at 0.05 each, the usual choice in
studies of equivalence, ask for level 0.9.

Schuirmann (1987), Journal of Pharmacokinetics and Biopharmaceutics 15, 657-680.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from passband.errors import InvalidInput
from passband.notes import Note
from passband.stats.checks import as_positive
from passband.stats.decision.difference import Contrast
from passband.stats.decision.more_data import MoreData
from passband.stats.decision.paired import Ends

Verdict = Literal[
    "better", "worse", "equivalent", "no-worse", "no-better", "undecided", "not-comparable"
]


@dataclass(frozen=True)
class Decision:
    """Read verdicts off the interval of a difference; higher values are better."""

    verdict: Verdict
    margin: float | None  #: the largest difference that does not matter; None if none was given
    within_margin: bool | None  #: whether the interval, unseen problems allowed for, is in +-margin
    p_no_worse: float | None  #: one-sided, of b being worse than a by the margin or more
    p_no_better: float | None  #: one-sided, of b being better than a by the margin or more
    p_equivalent: float | None = None  #: of the two one-sided tests: the larger of the two
    more: MoreData | None = None  #: what would settle an open question, where it was asked for

    def words(self, a: str = "a", b: str = "b") -> str:
        """Return the verdict in words.

        >>> Decision("better", 0.05, True, 0.001, 0.01).words("base", "tuned")
        'tuned is better than base, by less than the margin of 0.05'
        """
        margin = "" if self.margin is None else f"{self.margin:g}"
        small = f", by less than the margin of {margin}" if self.within_margin else ""
        return {
            "better": f"{b} is better than {a}{small}",
            "worse": f"{b} is worse than {a}{small}",
            "equivalent": f"{a} and {b} are equivalent within the margin of {margin}",
            "no-worse": f"{b} is not worse than {a} by {margin} or more",
            "no-better": f"{b} is not better than {a} by {margin} or more",
            "undecided": "undecided",
            "not-comparable": "not comparable",
        }[self.verdict]

    def __str__(self) -> str:
        return self.words()


def as_margin(margin: object, span: float | None) -> float:
    """Return a margin above 0 and, where the metric's range is known, below the range."""
    number = as_positive("margin", margin)
    if span is not None and number >= span:
        raise InvalidInput(
            f"margin must be below {span:g}, the largest difference there can be, or any two "
            f"models would be equivalent; got {margin!r}."
        )
    return number


def verdict_of(contrast: Contrast, level: float, margin: float | None) -> Verdict:
    """Return the verdict that an interval of b - a allows."""
    return ruled(contrast.ends(level), contrast.guarded_ends(level), margin)


def ruled(ends: Ends | None, guarded: Ends | None, margin: float | None) -> Verdict:
    """Return the verdict of an interval, and of the ends that allow for unseen problems.

    >>> ruled((0.01, 0.05), None, None), ruled((-0.01, 0.05), (-0.015, 0.05), 0.02)
    ('better', 'no-worse')
    """
    if ends is None:
        return "undecided"
    if ends[0] > 0.0 or ends[1] < 0.0:
        return "better" if ends[0] > 0.0 else "worse"
    within = [margin is not None and gap < margin for gap in _gaps(guarded)]
    return in_margin(*within)


def in_margin(no_worse: bool, no_better: bool) -> Verdict:
    """Return the verdict where neither side is shown to be better."""
    if no_worse and no_better:
        return "equivalent"
    return "no-worse" if no_worse else "no-better" if no_better else "undecided"


def decide(
    contrast: Contrast, level: float, margin: float | None, p_value: float | None
) -> Decision:
    """Return the verdict of an interval; better and worse need any other p-value to agree.

    A verdict about a margin allows for problems of a kind that was not drawn: of M problems none
    shows what happens to a share q with probability (1 - q)^M. So it needs the ends of
    `Contrast.guarded_ends` within the margin, and its p-values are those of
    `Contrast.guarded_tail`.
    """
    ends, guarded = contrast.ends(level), contrast.guarded_ends(level)
    if ends is not None and p_value is not None and p_value >= 1.0 - level:
        ends = min(ends[0], 0.0), max(ends[1], 0.0)  # a stricter test than the interval's
    verdict = ruled(ends, guarded, margin)
    if margin is None:
        return Decision(verdict, None, None, None, None)
    within = None if guarded is None else max(_gaps(guarded)) < margin
    below, above = _beyond(contrast, -margin), _beyond(contrast, margin)
    if below is None or above is None:
        return Decision(verdict, margin, within, None, None)
    no_better = 1.0 - above
    return Decision(verdict, margin, within, below, no_better, max(below, no_better))


def rare_losses(contrast: Contrast, level: float, margin: float | None) -> tuple[Note, ...]:
    """Return the note on a margin that the interval keeps, but unseen problems need not."""
    unseen, ends = contrast.unseen, contrast.ends(level)
    if margin is None or unseen is None:
        return ()
    if ruled(ends, ends, margin) == verdict_of(contrast, level, margin):
        return ()
    tail = (1.0 - level) / 2.0
    missed = 1.0 - tail ** (1.0 / unseen.units)
    at = math.copysign(margin, -contrast.value)
    return (rare_loss(missed, margin, unseen.needed(0.0, at, tail) * unseen.units),)


def _gaps(ends: Ends | None) -> Ends:
    """Return the interval's extents below and above 0."""
    return (math.inf, math.inf) if ends is None else (-ends[0], ends[1])


def not_comparable(margin: float | None) -> Decision:
    """Return the verdict on data that allow no claim about a difference."""
    return Decision("not-comparable", margin, None, None, None)


def _beyond(contrast: Contrast, at: float) -> float | None:
    """Return the one-sided p-value of the difference being `at` or less."""
    tail = contrast.guarded_tail(at)
    return None if tail is None else tail if contrast.value > at else 1.0 - tail


def rare_loss(missed: float, margin: float, needed: float) -> Note:
    """Return the note on a margin that problems of a kind that was not drawn may exceed."""
    return Note(
        "rare-loss",
        f"the interval is within the margin of {margin:g}, but of problems like these up to "
        f"{missed:.1%} may be lost entirely and not have shown; to rule that out takes about "
        f"{math.ceil(needed):,} problems",
        "weak",
    )
