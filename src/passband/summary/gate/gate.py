"""Gate a new model against a base: a verdict on each metric of each task, and on all.

Comparisons that the data leave open: why, and what would settle them.

Why a comparison is not certified: no shared data or scale, failed trials, problems left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from passband.errors import InvalidInput
from passband.notes import Note, claim_refused
from passband.stats.data import Outcomes
from passband.stats.decision import (
    Check,
    Comparison,
    ComparisonGoal,
    Failed,
    LookErrors,
    MoreData,
    PValues,
    Ruling,
    all_right,
    all_wrong,
    check,
    compare,
    goal_of,
    rule,
    rule_at_look,
)
from passband.stats.metric import measured_on
from passband.summary.gate.limits import limit_lines
from passband.summary.gate.policy import TOLERANCE, GatePolicy, Tier, metric_names
from passband.summary.gate.result import (
    OTHER,
    GateLine,
    GateResult,
    GateSide,
    OtherTarget,
    verdict_of,
)
from passband.summary.judged.compared import JudgedPair


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
    return rare or "could be no loss, or a loss beyond the tolerance"


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
        n_asked = side.n_trials + side.n_unscored
        if side.n_unscored > most * n_asked:
            reasons.append(
                f"{side.n_unscored} of {n_asked} trials of {name} have no score{_kinds(side)}, "
                f"more than the {100 * most:g}% that max_failed allows"
            )
    return "; ".join(reasons)


def left_out_reason(comparison: Comparison, most: float) -> str:
    """Return how many of the base's problems are not compared, if they are too many."""
    n_asked = comparison.n_shared + comparison.only_a
    if comparison.only_a + comparison.left_out <= most * n_asked:
        return ""
    parts = [
        (comparison.only_a, "not in NEW"),
        (comparison.left_out, f"with too few scored trials for {comparison.metric}"),
    ]
    kinds = ", ".join(f"{count} {why}" for count, why in parts if count)
    return (
        f"{comparison.only_a + comparison.left_out} of {n_asked} problems of BASE are not compared "
        f"({kinds}), more than the {100 * most:g}% that max_left_out allows"
    )


_LABEL_MORE = (
    "could be no loss, or a loss beyond the tolerance; label more trials of both, or ask more "
    "problems"
)


@dataclass(frozen=True)
class Pair:
    """One task of both models; None where a model was not asked it."""

    base: Outcomes | None
    new: Outcomes | None
    unlike: str = ""  #: why the sides should not be compared: other scorers, other targets
    judged: JudgedPair | None = None  #: where scores are a judge's


def gate(
    base: Mapping[str, Outcomes],
    new: Mapping[str, Outcomes],
    policy: GatePolicy | None = None,
    *,
    sides: tuple[GateSide, GateSide] = (GateSide("base", "base"), GateSide("new", "new")),
    unlike: Mapping[str, str] | None = None,
    judged: Mapping[str, JudgedPair] | None = None,
) -> GateResult:
    """Return whether a new model may replace a base, from the outcomes of each task.

    `unlike` names tasks whose sides should not be compared, each with the reason; their
    comparisons are not certified. Nor are those of scores that are a judge's, unless labels of both
    sides correct them: `judged` holds such tasks.

    >>> old = Outcomes.from_counts([3, 0, 8, 5, 1, 7, 0, 2] * 25, 8)
    >>> same = Outcomes.from_counts([3, 0, 7, 5, 2, 7, 0, 2] * 25, 8)
    >>> worse = Outcomes.from_counts([2, 0, 7, 4, 0, 6, 0, 1] * 25, 8)
    >>> policy = GatePolicy(tolerance=0.03)
    >>> gate({"sums": old}, {"sums": same}, policy).verdict
    'pass'
    >>> gate({"sums": old}, {"sums": worse}, policy).verdict
    'regression'
    """
    policy = policy or GatePolicy()
    names = dict.fromkeys([*policy.tasks, *base, *new])
    reasons, judges = unlike or {}, judged or {}
    pairs = {
        name: Pair(
            _accepting(base.get(name), policy),
            _accepting(new.get(name), policy),
            reasons.get(name, ""),
            judges.get(name),
        )
        for name in names
    }
    over = OTHER[policy.over]
    others = gate_lines(pairs, replace(policy, over=over), explains=False)
    lines = tuple(
        replace(line, other=OtherTarget(over, other.verdict, other.low, other.high))
        for line, other in zip(gate_lines(pairs, policy), others, strict=True)
    )
    return GateResult(verdict_of(lines), policy, *sides, lines)


def _accepting(outcomes: Outcomes | None, policy: GatePolicy) -> Outcomes | None:
    return None if outcomes is None else outcomes.accepting(policy.accept)


def gate_lines(
    pairs: Mapping[str, Pair],
    policy: GatePolicy,
    errors: LookErrors | None = None,
    *,
    explains: bool = True,
) -> tuple[GateLine, ...]:
    """Return a line for each task and metric, with its verdict.

    Comparisons that can shut the gate are one family, and advisory ones another: what decides
    nothing costs the others no power. `errors` are those of one of several planned looks, and
    intervals are at its level. With `explains`, open lines have what would settle them.
    """
    level = policy.level if errors is None else errors.level
    items = [item for task, pair in pairs.items() for item in _items(task, pair, policy, level)]
    for is_advisory in (False, True):
        family = [i for i in items if i.check and (i.line.tier == "advisory") == is_advisory]
        _rule(family, policy, errors, explains=explains)
    limits = [line for task, pair in pairs.items() for line in limit_lines(task, pair.new, policy)]
    return (*(item.line for item in items), *limits)


# -- one comparison --------------------------------------------------------------------------


@dataclass
class _Item:
    """A line in the making; without a check it is not certified."""

    line: GateLine
    check: Check | None = None
    sides: tuple[Outcomes, Outcomes] | None = None


def _items(task: str, pair: Pair, policy: GatePolicy, level: float) -> list[_Item]:
    sides = [side for side in (pair.base, pair.new) if side is not None]
    if pair.base is None and task not in policy.tasks:
        return []  # nothing to be worse than, and nobody asks for it
    most = min((side.most_trials() for side in sides), default=1)
    texts = [*policy.metrics_of(task)] or [_default(sides)]
    names = dict.fromkeys(name for text in texts for name in metric_names(text, max(most, 1)))
    return [_item(task, name, pair, policy, level) for name in names]


def _default(sides: list[Outcomes]) -> str:
    return "pass@1" if all(side.is_binary for side in sides) else "avg"


def _item(task: str, metric: str, pair: Pair, policy: GatePolicy, level: float) -> _Item:
    tier = policy.tier_of(task, metric)
    given = policy.tolerance_of(task, metric)
    open_line = GateLine(task, metric, tier, "not-certified", given or TOLERANCE)
    if pair.base is None or pair.new is None:
        return _Item(replace(open_line, reason=_missing(pair, tier)))
    try:
        sides = measured_on(pair.base, metric), measured_on(pair.new, metric)
    except InvalidInput as error:
        return _Item(replace(open_line, reason=str(error)))
    share = all(side.is_share for side in sides)
    _check_tolerance(open_line, given, is_share=share)
    line = replace(
        open_line,
        trials=(sides[0].n_trials, sides[1].n_trials),
        failed=(sides[0].n_unscored, sides[1].n_unscored),
        is_share=share,
    )
    if apart := apart_reason(sides, policy.failed):
        return _Item(replace(line, reason=apart))
    try:
        result = _checked(pair, sides, line, policy, level)
    except InvalidInput as error:
        return _Item(replace(line, reason=str(error)))
    line = _measured(line, result)
    if reason := _objection(pair, sides, line, result, policy):
        return _Item(replace(line, reason=reason))
    return _Item(line, result, None if pair.judged else sides)


def _check_tolerance(line: GateLine, given: float | None, *, is_share: bool) -> None:
    """Refuse a tolerance that no one chose, and one that lets every loss pass."""
    if given is None and not is_share:
        raise InvalidInput(
            f"{line.task}: scores are not on a scale from 0 to 1, so there is no usual tolerance; "
            "give one for its metrics, in a policy or with --tolerance."
        )
    if is_share and line.tolerance >= 1.0:
        raise InvalidInput(
            f"{line.task}: a tolerance of {line.tolerance:g} would let any loss of {line.metric} "
            "pass; for two points in a hundred write 0.02."
        )


def _objection(
    pair: Pair,
    sides: tuple[Outcomes, Outcomes],
    line: GateLine,
    result: Check,
    policy: GatePolicy,
) -> str:
    """Return the first reason why a measured difference certifies nothing."""
    return (
        pair.unlike
        or judge_reason(pair.judged)
        or scale_reason(sides)
        or claim_refused(line.notes)
        or failed_reason(sides, policy.max_failed)
        or left_out_reason(result.comparison, policy.max_left_out)
    )


def _checked(
    pair: Pair,
    sides: tuple[Outcomes, Outcomes],
    line: GateLine,
    policy: GatePolicy,
    level: float,
) -> Check:
    """Compare the sides: by their scores, or by labels that correct those of a judge."""
    if pair.judged is not None and not pair.judged.reason:
        return Check(
            pair.judged.difference(
                line.metric, over=policy.over, level=level, margin=line.tolerance
            )
        )
    return check(
        *sides, line.metric, tolerance=line.tolerance, over=policy.over, level=level,
        failed=policy.failed,
    )  # fmt: skip


def _missing(pair: Pair, tier: Tier) -> str:
    sides = [name for name, side in (("BASE", pair.base), ("NEW", pair.new)) if side is None]
    text = f"missing in {' and '.join(sides)}"
    return f"required, but {text}" if tier == "required" else text


def _measured(line: GateLine, result: Check) -> GateLine:
    comparison = result.comparison
    return replace(
        line,
        base=comparison.value_a,
        new=comparison.value_b,
        difference=comparison.value,
        low=comparison.low,
        high=comparison.high,
        p_worse=result.evidence.p_worse,
        p_beyond=result.evidence.p_beyond,
        bracket=result.bracket,
        n_problems=comparison.n_problems,
        left_out=comparison.only_a + comparison.left_out,
        notes=tuple(map(_of_side, comparison.notes)),
        lower_is_better=comparison.lower_is_better,
    )


def _of_side(note: Note) -> Note:
    """Return a note on one side of a comparison as one on BASE or NEW."""
    side = {"a: ": "BASE: ", "b: ": "NEW: "}.get(note.text[:3])
    return note if side is None else note._replace(text=side + note.text[3:])


# -- all of them -----------------------------------------------------------------------------


def _rule(
    family: list[_Item], policy: GatePolicy, errors: LookErrors | None, *, explains: bool
) -> None:
    """Give each line of a family its verdict, and what would settle it if it is open."""
    checks = [item.check for item in family if item.check is not None]
    rulings = _rulings([one.evidence for one in checks], policy, errors)
    plain = _rulings([one.plain for one in checks], policy, errors)
    for item, ruling, without in zip(family, rulings, plain, strict=True):
        line = replace(item.line, verdict=ruling.verdict, p_adjusted=ruling.p_adjusted)
        if explains and ruling.verdict == "undecided":
            line = (
                opened(line, item.sides, without, policy, len(family))
                if item.sides is not None
                else replace(line, reason=_LABEL_MORE)
            )
        item.line = line


def _rulings(
    evidence: list[PValues], policy: GatePolicy, errors: LookErrors | None
) -> list[Ruling]:
    if errors is None:
        return rule(evidence, error=policy.error)
    return rule_at_look(evidence, errors)
