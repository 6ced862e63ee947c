"""`passband gate --settle`: the plan, the looks as they are taken, and the result."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from passband.run.settle import SettleRequest
    from passband.run.settle_plan import SettlePlan
    from passband.summary.gate.result import GateResult
    from passband.summary.gate.settled import GateLook

__all__ = ["print_plan", "settled_gate"]


def print_plan(request: SettleRequest, *, as_json: bool) -> None:
    """Print what settling would take; nothing is asked, and nothing is looked at."""
    from json import dumps

    from passband.report.gate.looks import plan_lines

    forecast = request.prepare().forecast()
    if as_json:
        typer.echo(dumps(forecast.as_json(), indent=2))
        return
    for line in plan_lines(forecast):
        typer.echo(line)


def settled_gate(request: SettleRequest, *, as_json: bool, quiet: bool) -> GateResult:
    """Settle a gate, and show each look as it is taken."""
    from passband.report.gate.looks import look_line
    from passband.report.terminal.live import make_display

    settling = request.prepare()
    with make_display(as_json=False, quiet=quiet or as_json) as display:

        def show(look: GateLook, plan: SettlePlan) -> None:
            if not (quiet or as_json):
                display.note(look_line(look, len(plan.looks)))

        return settling.settle(display, show)
