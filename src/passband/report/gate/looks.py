"""The looks of a gate that is being settled, a line each, and the plan that they follow."""

from __future__ import annotations

from collections.abc import Iterator

from passband.report.rendering import printable
from passband.report.words import counted
from passband.run import SettleForecast
from passband.stats.interval import rounded
from passband.summary import GateLine, GateLook, Settled


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
    """Yield how a gate was settled, and what its looks guarantee."""
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
    """Yield what a plan will do at most, and on average."""
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
