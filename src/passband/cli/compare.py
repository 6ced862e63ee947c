"""`passband compare`: is one model better than another, beyond noise?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from passband.cli.options import (
    ClusterColumn,
    Format,
    FormatOption,
    JsonOption,
    Level,
    Metrics,
    Over,
    Policies,
    PolicyOption,
    ProblemColumn,
    Quiet,
    ScoreColumn,
    Target,
    Threshold,
    TrialColumn,
)

__all__ = ["compare"]


def compare(
    files: Annotated[
        list[Path], typer.Argument(help="Two files or more, or one that holds several models.")
    ],
    metric: Metrics = None,
    problem: ProblemColumn = None,
    trial: TrialColumn = None,
    score: ScoreColumn = None,
    cluster: ClusterColumn = None,
    threshold: Threshold = None,
    over: Over = Target.problems,
    level: Level = 0.95,
    unpaired: Annotated[
        bool, typer.Option("--unpaired", help="The two were asked different problems on purpose.")
    ] = False,
    policy: PolicyOption = Policies.drop,
    format: FormatOption = Format.table,
    json: JsonOption = False,
    quiet: Quiet = False,
) -> None:
    """Compare models problem by problem: difference, interval, p-value, who flipped."""
    from passband.report.compare import compare_files
    from passband.report.render import printable, render

    report = compare_files(
        files,
        metric or [],
        columns={"problem": problem, "trial": trial, "score": score, "cluster": cluster},
        threshold=threshold,
        over=over.value,
        level=level,
        paired=not unpaired,
        policy=policy.value,
    )
    if json or format is Format.json:
        from json import dumps

        typer.echo(dumps(report.as_json(), indent=2))
        return
    if not quiet:
        for line in report.remarks:
            typer.echo(printable(line), err=True)
    rows = report.full_rows() if format is Format.csv else report.rows()
    typer.echo(render(rows, format.value), nl=False)
    if report.rankings and format is not Format.csv:
        typer.echo("\n" + render(report.pair_rows(), format.value), nl=False)
    if not quiet:
        typer.echo("", err=True)
        for line in report.explanation():
            typer.echo(printable(line), err=True)
