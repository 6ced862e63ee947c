"""Plans as text: the designs in a table, and the chosen one in a sentence."""

from __future__ import annotations

from passband.report.render import printable, render
from passband.stats.decision.plan.plan import Detectable, Plan

__all__ = ["plan_text"]


def plan_text(plan: Plan | Detectable) -> str:
    """Return a plan, or the smallest difference that data detect, as lines of text."""
    notes = "".join(f"{printable(str(note))}\n" for note in plan.notes)
    if isinstance(plan, Detectable):
        return (
            f"{plan.n_problems} problems find a difference in {printable(plan.metric)} of "
            f"{plan.delta:.3f} with power {plan.power:g} at level {plan.level:g}\n{notes}"
        )
    rows = [
        {"trials each": design.trials, "problems": design.problems, "in all": design.total}
        for design in plan.options
    ]
    table = render(rows, "table") + "\n" if rows else ""
    return f"{table}{plan}\n{notes}"
