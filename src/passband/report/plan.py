"""Render plans: the designs in a table, and the chosen one in a sentence."""

from __future__ import annotations

from passband.report.noted import Noted, note_lines, shown, warnings
from passband.report.rendering import printable, render
from passband.stats.decision import Detectable, Plan


def plan_text(plan: Plan | Detectable, *, every: bool = False, quiet: bool = False) -> str:
    """Return a plan, or the smallest difference that data detect, with notes unless `quiet`."""
    lines = note_lines(map(Noted, plan.notes))
    below = [*warnings(lines), *([] if quiet else shown(lines, every=every))]
    notes = "".join(f"{printable(line)}\n" for line in below)
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
