"""Comparisons that the data leave open: why, and what would settle them."""

from __future__ import annotations

from dataclasses import replace

from passband.stats.data import Outcomes
from passband.stats.decision import (
    ComparisonGoal,
    MoreData,
    Ruling,
    all_right,
    all_wrong,
    compare,
    goal_of,
)
from passband.summary.gate.policy import GatePolicy
from passband.summary.gate.result import GateLine


def opened(
    line: GateLine,
    sides: tuple[Outcomes, Outcomes],
    plain: Ruling,
    policy: GatePolicy,
    family: int,
) -> GateLine:
    """Return an open line with its reason: failed trials, or too little data, and how much more.

    `plain` is the ruling if failed trials are left out, `family` the number of comparisons that
    are allowed for.
    """
    if plain.verdict != "undecided":
        return replace(line, reason=_flipped(line, plain))
    more = _more(line, sides, policy, family)
    reason = _open(line, family, policy)
    if more is None and line.bracket is not None:
        reason = f"{reason}; more data will not settle it as long as so many trials fail"
    return replace(line, reason=reason, more=more)


def _flipped(line: GateLine, plain: Ruling) -> str:
    count = sum(line.failed)
    word = "a regression" if plain.verdict == "regression" else "a pass"
    return (
        f"it depends on {count} failed trial{'s' * (count != 1)}: left out, it would be {word}, "
        "but not whatever they would have been; make them again, or say with --failed, or in a "
        "policy, what they count as"
    )


def _open(line: GateLine, family: int, policy: GatePolicy) -> str:
    if line.p_worse is None:
        return "the data allow no interval"
    if line.p_worse <= policy.error:
        return f"worse on its own, but not after allowing for {family} comparisons"
    rare = next((note.text for note in line.notes if note.code == "rare-loss"), None)
    return rare or "the data allow both no loss and a loss beyond the tolerance"


def _more(
    line: GateLine, sides: tuple[Outcomes, Outcomes], policy: GatePolicy, family: int
) -> MoreData | None:
    """Return the data that would probably settle it, were failed trials as bad as can be for it.

    A regression takes a higher level than a pass, as it allows for all comparisons. None where
    failed trials stand in the way of either.
    """
    goal, _ = goal_of(line.gain, line.tolerance)
    level = 1.0 - policy.alpha / family if goal == "worse" else policy.level
    more = compare(
        *_against(goal, sides, policy), line.metric, over=policy.over, level=level,
        margin=line.tolerance, settle=True,
    ).decision.more  # fmt: skip
    is_blocked = line.bracket is not None and (more is None or more.goal != goal)
    return None if is_blocked else more


def _against(
    goal: ComparisonGoal, sides: tuple[Outcomes, Outcomes], policy: GatePolicy
) -> tuple[Outcomes, Outcomes]:
    """Return the sides with failed trials counted as the policy says, against a goal if it may."""
    base, new = sides
    if policy.failed == "wrong":
        return all_wrong(base), all_wrong(new)
    if policy.failed == "drop" or not base.n_unscored + new.n_unscored:
        return base, new
    return (
        (all_wrong(base), all_right(new)) if goal == "worse" else (all_right(base), all_wrong(new))
    )
