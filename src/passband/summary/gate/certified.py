"""Why a comparison is not certified: no shared data or scale, failed trials, problems left out."""

from __future__ import annotations

from passband.stats.data import Outcomes
from passband.stats.decision import Comparison, Failed, all_wrong
from passband.summary.judged.compared import JudgedPair


def apart_reason(sides: tuple[Outcomes, Outcomes], failed: Failed) -> str:
    """Return why two sides cannot be compared at all; nothing if they can.

    >>> broken = Outcomes.from_counts([0], 0, unscored={"timeout": [4]})
    >>> apart_reason((Outcomes.from_counts([1], 4), broken), "bracket")
    'no trial of NEW has a score (4 timeout)'
    """
    named = list(zip(("BASE", "NEW"), sides, strict=True))
    empty = [
        f"no trial of {name} has a score{_kinds(side)}"
        for name, side in named
        if not (all_wrong(side) if failed == "wrong" else side).n_trials
    ]
    if empty:
        return "; ".join(empty)
    if not set(sides[0].problems).isdisjoint(sides[1].problems):
        return ""
    some = [f"{name} has {', '.join(map(repr, side.problems[:3]))}" for name, side in named]
    return (
        f"no problem is on both sides; {' ..., and '.join(some)} ...: the same problem must have "
        "the same name"
    )


def scale_reason(sides: tuple[Outcomes, Outcomes]) -> str:
    """Return which side alone has scores beyond 0 to 1; nothing if both or neither have.

    >>> shares, percents = (Outcomes.from_array([[0, 0.5], [top, top]]) for top in (1, 100))
    >>> scale_reason((shares, percents))
    'scores of NEW go beyond 0 to 1 and those of BASE do not, so they may be on different scales'
    """
    base, new = (side.is_share for side in sides)
    if base == new:
        return ""
    beyond, within = ("NEW", "BASE") if base else ("BASE", "NEW")
    return (
        f"scores of {beyond} go beyond 0 to 1 and those of {within} do not, so they may be on "
        "different scales"
    )


def judge_reason(pair: JudgedPair | None) -> str:
    """Return why scores of a judge are not certified; nothing if labels correct them."""
    if pair is None or not pair.reason:
        return ""
    judge = pair.sides[0].title
    return (
        f"judged by {judge}, and a judge alone certifies nothing: {pair.reason}; or gate by "
        "another scorer with --score"
    )


def _kinds(side: Outcomes) -> str:
    """Return what became of failed trials, in brackets; nothing if none failed."""
    counts = {status: n for status, n in side.status_counts.items() if status != "ok"}
    return f" ({', '.join(f'{n} {status}' for status, n in counts.items())})" if counts else ""


def failed_reason(sides: tuple[Outcomes, Outcomes], most: float) -> str:
    """Return which side has too large a share of failed trials; nothing if neither has.

    >>> whole = Outcomes.from_counts([1, 2], 4)
    >>> holed = Outcomes.from_counts([1, 2], 3, unscored={"timeout": [1, 1]})
    >>> failed_reason((whole, holed), 0.05)
    '2 of 8 trials of NEW have no score (2 timeout), more than the 5% that max_failed allows'
    """
    reasons = []
    for name, side in zip(("BASE", "NEW"), sides, strict=True):
        asked = side.n_trials + side.n_unscored
        if side.n_unscored > most * asked:
            reasons.append(
                f"{side.n_unscored} of {asked} trials of {name} have no score{_kinds(side)}, more "
                f"than the {100 * most:g}% that max_failed allows"
            )
    return "; ".join(reasons)


def left_out_reason(comparison: Comparison, most: float) -> str:
    """Return how many of the base's problems are not compared, if they are too many."""
    asked = comparison.n_shared + comparison.only_a
    if comparison.only_a + comparison.left_out <= most * asked:
        return ""
    parts = [
        (comparison.only_a, "not in NEW"),
        (comparison.left_out, f"with too few scored trials for {comparison.metric}"),
    ]
    kinds = ", ".join(f"{count} {why}" for count, why in parts if count)
    return (
        f"{comparison.only_a + comparison.left_out} of {asked} problems of BASE are not compared "
        f"({kinds}), more than the {100 * most:g}% that max_left_out allows"
    )
