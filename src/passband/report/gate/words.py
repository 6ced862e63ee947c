"""Word a gate: its headline, its target, each comparison, and its interim looks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from passband.notes import Note
from passband.report.noted import Noted, note_lines
from passband.report.rendering import printable
from passband.report.style import PLAIN, Figure, Style
from passband.report.words import counted
from passband.run import SettleForecast
from passband.stats.decision import Failed
from passband.stats.interval import Rounding, rounded
from passband.summary import OTHER, GateLine, GateLook, GateResult, Settled


def look_line(look: GateLook, planned: int) -> str:
    """Return one look as a line."""
    last = ", the last" if look.is_last else ""
    head = (
        f"look {look.number} of {planned}{last}, after {look.rounds} rounds ({look.trials} trials)"
    )
    if len(look.lines) == 1:
        return printable(f"{head}: {_measured(look.lines[0])}, {look.lines[0].verdict}")
    still = [line for line in look.lines if line.verdict == "undecided"]
    shown = "; ".join(map(_measured, still[:3]))
    more = f" and {len(still) - 3} more" if len(still) > 3 else ""
    text = f"{len(still)} of {counted(len(look.lines), 'comparison')} undecided"
    return printable(f"{head}: {text}{f': {shown}{more}' if still else ''}")


def _measured(line: GateLine) -> str:
    if line.difference is None:
        return f"{line.task} {line.metric}, no interval yet"
    return f"{line.task} {line.metric} {rounded(line.difference, line.low, line.high)}"


def settled_lines(settled: Settled) -> Iterator[str]:
    """Yield how a gate was settled, and the guarantee of its looks."""
    cost = "" if not settled.cost else f", cost {settled.cost:.3g}"
    ends = {
        "decided": "",
        "last-look": "; the plan is used up",
        "budget": "; the budget ended before the last planned look, which makes it the last",
        "not-certified": "; more trials would not certify it",
    }
    yield (
        f"Took {len(settled.looks)} of at most {counted(len(settled.planned), 'look')}, the last "
        f"after {settled.looks[-1].rounds} rounds ({counted(settled.asked, 'more trial')}{cost})"
        f"{ends[settled.end]}. The levels allow for these looks, in large samples, and not for an "
        f"earlier gate on the same trials."
    )
    if settled.end in ("last-look", "budget"):
        yield (
            "A plan cannot be extended after its looks: for more, gate fresh trials in other "
            "directories."
        )


def plan_lines(forecast: SettleForecast) -> Iterator[str]:
    """Yield the largest and the average number of trials of a plan."""
    plan, last = forecast.plan, forecast.plan.looks[-1]
    begun = " (it has begun)" if forecast.has_begun else ""
    yield f"plan {plan.sha256[:12]}{begun}: looks after {', '.join(map(str, plan.looks))} rounds"
    yield (
        f"{plan.before} rounds are there; at most {_effort(forecast, last)}, for "
        f"{counted(plan.comparisons, 'comparison')}"
    )
    for one in forecast.likely:
        yield (
            f"if NEW differs by {one.difference:+g}: {one.rounds:.1f} rounds on average, "
            f"{_effort(forecast, one.rounds)}; undecided in {100 * one.undecided:.0f}%"
        )


def _effort(forecast: SettleForecast, rounds: float) -> str:
    trials, cost = forecast.trials_to(rounds), forecast.cost_to(rounds)
    priced = "" if not cost else f", cost {cost:.3g}"
    return f"{trials} more trials{priced}"


HEADLINES = {
    "pass": "PASS",
    "regression": "REGRESSION",
    "undecided": "UNDECIDED",
    "not-certified": "NOT CERTIFIED",
}


_TARGETS = {"trials": "these very problems", "problems": "problems like these"}


def headline(result: GateResult) -> str:
    """Return the verdict on a gate, and its reason."""
    return f"{HEADLINES[result.verdict]}: {sentence(result)}"


def sentence(result: GateResult) -> str:
    """Return the reason for the gate's verdict."""
    lines = result.deciding
    if result.verdict == "pass":
        worse = sum(line.verdict == "worse-within-tolerance" for line in lines)
        within = f"; {worse} of them worse, within the tolerance" if worse else ""
        return (
            f"no loss beyond the tolerance in {counted(len(lines), 'required comparison')}{within}"
        )
    if result.verdict == "regression":
        return f"{_listed(lines)} lost more than chance explains"
    if result.verdict == "undecided":
        return f"too little data to decide {_listed(lines)}"
    if not lines:
        return "no comparison is required, so nothing could be shown"
    return f"the runs allow no verdict on {_listed(lines)}"


def _listed(lines: Sequence[GateLine], most: int = 4) -> str:
    names = [f"{line.task} {line.metric}" for line in lines[:most]]
    more = len(lines) - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "")


def on_target(result: GateResult) -> str:
    """Return the target of the verdict, and the verdict for the other target."""
    own, other = result.policy.over, OTHER[result.policy.over]
    text = f"That is for {_TARGETS[own]}"
    if result.other_verdict is None:
        return f"{text}."
    also = " too" if result.other_verdict == result.verdict else ""
    verdict = HEADLINES[result.other_verdict]
    return f"{text}; for {_TARGETS[other]} (--over {other}) it is {verdict}{also}."


def top_reasons(result: GateResult) -> list[str]:
    """Return why a gate is not certified, to print before any number."""
    if result.verdict != "not-certified":
        return []
    noted = [Noted(Note("no-verdict", line.reason), *_where(line)) for line in result.deciding]
    return [line.text for line in note_lines(noted)]


def _where(line: GateLine) -> tuple[str, str]:
    return line.task, line.metric


def tolerance_text(result: GateResult) -> str:
    """Return the tolerated loss if all comparisons share it."""
    tolerances = {line.tolerance for line in result.lines}
    return f"; a loss of up to {tolerances.pop():g} is tolerated" if len(tolerances) == 1 else ""


def target(result: GateResult) -> str:
    """Return the target of the verdicts, and their error rates."""
    policy = result.policy
    these = _TARGETS[policy.over]
    chance = f"{100 * policy.error:g}%"
    if not result.n_deciding:
        return f"Verdicts are for {these}; nothing that decides the gate could be compared."
    if result.settled is not None:
        return (
            f"Verdicts and {100 * policy.level:g}% intervals are for {these}, at all looks "
            f"together. A model that is no worse is called a regression in at most {chance} of "
            f"such gates ({counted(result.n_deciding, 'comparison')}), and one that is worse by "
            f"the tolerance passes in at most {chance}. {' '.join(settled_lines(result.settled))}"
        )
    among = f" among {result.n_deciding:,} comparisons" if result.n_deciding > 1 else ""
    in_all = " in all (Holm)" if among else ""
    return (
        f"Verdicts and {100 * policy.level:g}% intervals are for {these}. The chance of a false "
        f"regression{among} is at most {chance}{in_all}, and so is that of passing a loss as large "
        f"as the tolerance.{_of_limits(result, chance)}"
    )


def _of_limits(result: GateResult, chance: str) -> str:
    if not any(line.is_limit for line in result.lines):
        return ""
    return f" Each limit is ruled by its own interval, wrong in at most {chance} to either side."


def roundings(result: GateResult, style: Style = PLAIN) -> list[Rounding]:
    """Return how the numbers of each line are written."""
    return style.roundings([_figure(line) for line in result.lines])


def line_texts(line: GateLine, rounding: Rounding, failed: Failed) -> Iterator[str]:
    """Yield why a comparison is undecided, the data that would settle it, and its notes."""
    trials = f"failed trials ({line.failed[0]} of BASE, {line.failed[1]} of NEW)"
    if line.reason:
        yield line.reason
    if line.more is not None:
        yield f"to settle it: {line.more}"
    if line.bracket is not None:
        low, high = (rounding.value(end) for end in line.bracket)
        yield f"{trials}: the difference is between {low} and {high}, whatever they would have been"
    elif any(line.failed) and line.difference is not None:
        yield f"{trials} {'count as wrong' if failed == 'wrong' else 'are left out'}, as asked"
    if line.left_out and line.verdict != "not-certified":
        yield f"{counted(line.left_out, 'problem')} of BASE not compared"
    if line.other is not None and line.other.verdict != line.verdict:
        yield f"for {_TARGETS[line.other.over]}: {verdict_word(line.other.verdict)}"


def line_notes(line: GateLine) -> Iterator[Note]:
    """Yield the notes on a comparison that are not among its texts."""
    for note in line.notes:
        if note.code != "unscored-trials" and note.text not in line.reason:
            yield note


def verdict_word(verdict: str) -> str:
    """Return a verdict as it is written in a sentence.

    >>> verdict_word("not-certified")
    'not certified'
    """
    return verdict.replace("-", " ")


def p_text(value: float | None) -> str | None:
    """Return a p-value with three digits."""
    if value is None:
        return None
    return f"{value:.3f}" if value >= 0.001 else f"{value:.1e}"


def _figure(line: GateLine) -> Figure | None:
    if line.difference is None:
        return None
    return Figure(line.difference, line.low, line.high, line.is_share)
