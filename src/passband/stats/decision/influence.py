"""Find the problems that carry a difference, and whether the verdict hangs on a few."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from passband.stats.checks import ROUNDING_DIGITS
from passband.stats.decision.paired import Paired
from passband.stats.decision.verdict import Verdict, verdict_of
from passband.types import Floats, Ints

NAMED = 5
MOST_DROPPED = 10


class Influential(NamedTuple):
    """A problem that moves the difference much."""

    problem: str
    value_a: float
    value_b: float
    difference: float  #: b - a over the other problems
    verdict: Verdict  #: on the other problems


@dataclass(frozen=True)
class Influence:
    """The problems that move a difference most, and how many of them its verdict hangs on."""

    problems: tuple[Influential, ...]  #: those that move it most
    tied: int  #: further problems that move it as much as the last of them
    tried: int  #: problems left out together, at most
    dropped: tuple[str, ...]  #: fewest problems without which the verdict changes; () if none do
    becomes: Verdict | None  #: the verdict without them

    def mirrored(self, scored: Callable[[float], float]) -> Influence:
        """Return the same of scores of which lower ones are better."""
        problems = tuple(
            one._replace(
                value_a=scored(one.value_a),
                value_b=scored(one.value_b),
                difference=-one.difference,
            )
            for one in self.problems
        )
        return replace(self, problems=problems)

    def __str__(self) -> str:
        """Format how robust the verdict is."""
        if not self.dropped:
            noun = "problem" if self.tried == 1 else f"{self.tried} problems"
            return f"the verdict holds without the {noun} farthest to either side"
        names = ", ".join(self.dropped[:NAMED]) + ", ..." * (len(self.dropped) > NAMED)
        count = len(self.dropped)
        left_out = f"problem {names}" if count == 1 else f"{count} problems ({names})"
        return f"without {left_out} the verdict would be '{self.becomes}'"


def influence_of(
    paired: Paired,
    values: tuple[Floats, Floats],
    names: Sequence[str],
    level: float,
    margin: float | None,
) -> Influence | None:
    """Return the effect of leaving out problems; None for a single problem.

    One problem is left out at a time, and then up to ten together, though no more than a fifth,
    from either end of the differences: those that favour b most, or a. All of it takes a fixed
    number of passes over the problems.
    """
    change = paired.change
    if len(change) < 2:
        return None
    verdict = verdict_of(paired, level, margin)
    away = _alike(np.abs(change - paired.value))
    order = np.argsort(-away, kind="stable")
    named = order[: min(NAMED, int(np.count_nonzero(away)))]
    problems = []
    for index in named.tolist():
        rest = paired.without(np.array([index]))
        value_a, value_b = (float(side[index]) for side in values)
        left = verdict_of(rest, level, margin)
        problems.append(Influential(names[index], value_a, value_b, rest.value, left))
    tied = _tied(away, away[named])
    tried = min(MOST_DROPPED, max(1, len(change) // 5))
    dropped, becomes = _fewest(paired, verdict, tried, level, margin)
    without = tuple(names[index] for index in dropped.tolist())
    return Influence(tuple(problems), tied, tried, without, becomes)


def _alike(away: Floats) -> Floats:
    """Return deviations with those equal that differ by rounding alone."""
    _, exponent = np.frexp(away.max())
    rounded: Floats = np.ldexp(np.ldexp(away, -exponent).round(ROUNDING_DIGITS), exponent)
    return rounded


def _tied(away: Floats, named: Floats) -> int:
    """Count the unnamed problems that deviate as much as the last named one."""
    if len(named) == 0:
        return 0
    return int(np.count_nonzero(away == named[-1]) - np.count_nonzero(named == named[-1]))


def _fewest(
    paired: Paired, verdict: Verdict, most: int, level: float, margin: float | None
) -> tuple[Ints, Verdict | None]:
    """Return the fewest problems at either end of the differences that change the verdict."""
    order = np.argsort(paired.change, kind="stable")
    ends: list[Ints] = []
    if verdict != "worse":
        ends.append(order[::-1])
    if verdict != "better":
        ends.append(order)

    def without(dropped: Ints) -> Verdict:
        return verdict_of(paired.without(dropped), level, margin)

    best: tuple[Ints, Verdict | None] = order[:0], None
    for end in ends:
        few, many = 0, most if best[1] is None else len(best[0]) - 1
        if many < 1 or without(end[:many]) == verdict:
            continue
        while many - few > 1:
            middle = (few + many) // 2
            few, many = (few, middle) if without(end[:middle]) != verdict else (middle, many)
        best = end[:many], without(end[:many])
    return best
