"""`passband plan`: how many problems and trials a question needs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from passband.cli.options import Target

__all__ = ["plan"]


def plan(
    half_width: Annotated[
        float | None, typer.Option(help="Half-width that the interval should have.")
    ] = None,
    difference: Annotated[
        float | None, typer.Option(help="Difference between two models that should be found.")
    ] = None,
    pilot: Annotated[
        Path | None, typer.Option(help="File of trials to take the variances from.")
    ] = None,
    metric: Annotated[str, typer.Option("--metric", "-m", help="Metric of the pilot.")] = "pass@1",
    over: Annotated[
        Target | None,
        typer.Option(help="Half-width for problems like these (default), or for these alone."),
    ] = None,
    between: Annotated[
        float | None,
        typer.Option(help="Variance across problems, of values or of their differences."),
    ] = None,
    within: Annotated[
        float | None, typer.Option(help="Variance of one trial around its problem's value.")
    ] = None,
    trials: Annotated[
        int | None, typer.Option(help="Trials per problem, for a difference; 1 unless told.")
    ] = None,
    problems: Annotated[
        int | None, typer.Option(help="Problems there are, for a half-width.")
    ] = None,
    correlation: Annotated[
        float | None,
        typer.Option(help="Of the two models' values, for a difference from a pilot; 0.5."),
    ] = None,
    level: Annotated[float, typer.Option(help="Coverage, or one minus the error rate.")] = 0.95,
    power: Annotated[
        float | None, typer.Option(help="Chance to find the difference; 0.8 unless told.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the plan here, for passband stats --plan.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the plan as JSON.")] = False,
) -> None:
    """Say how many problems and trials are needed, or what a pilot could detect."""
    from passband.report.plan import make_plan

    report = make_plan(
        half_width=half_width,
        difference=difference,
        pilot=pilot,
        metric=metric,
        over=None if over is None else over.value,
        between=between,
        within=within,
        trials=trials,
        problems=problems,
        correlation=correlation,
        level=level,
        power=power,
    )
    if out is not None:
        report.save(out)
    typer.echo(report.as_json() if json else report.text(), nl=False)
    if out is not None and not json:
        typer.echo(f"written to {out}; check a run against it with passband stats --plan {out}")
