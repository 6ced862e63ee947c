"""`passband stats`: metrics of any table of trials."""

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

__all__ = ["stats"]


def stats(
    file: Annotated[
        Path,
        typer.Argument(
            help="Run directory, or CSV, TSV, JSON, JSONL, Parquet, .npy or .npz file of trials."
        ),
    ],
    metric: Metrics = None,
    problem: ProblemColumn = None,
    trial: TrialColumn = None,
    score: ScoreColumn = None,
    status: Annotated[str | None, typer.Option(help="Column with the fate of a trial.")] = None,
    cluster: ClusterColumn = None,
    by: Annotated[
        list[str] | None, typer.Option(help="Column to split by, such as model; repeatable.")
    ] = None,
    threshold: Threshold = None,
    policy: PolicyOption = Policies.drop,
    over: Over = Target.problems,
    level: Level = 0.95,
    method: Annotated[str, typer.Option(help="How the intervals are made.")] = "auto",
    seed: Annotated[
        str | None, typer.Option(help="Number or name, for methods that draw random numbers.")
    ] = None,
    plan: Annotated[
        Path | None, typer.Option(help="Plan to check the trials against (passband plan --out).")
    ] = None,
    format: FormatOption = Format.table,
    json: JsonOption = False,
    quiet: Quiet = False,
) -> None:
    """Print metrics, with intervals, of a file with one row per trial or of a matrix."""
    from passband.report.render import printable, render
    from passband.report.stats import Wanted, measure_file

    report = measure_file(
        file,
        metric or [],
        columns={
            "problem": problem,
            "trial": trial,
            "score": score,
            "status": status,
            "cluster": cluster,
        },
        by=by or [],
        threshold=threshold,
        wanted=Wanted(
            over=over.value,
            method=method,
            level=level,
            policy=policy.value,
            seed=int(seed) if seed and seed.isdecimal() else seed,
        ),
    )
    said = [*report.explanation(), *report.against(plan)]
    if json or format is Format.json:
        from json import dumps

        typer.echo(dumps(report.as_json(), indent=2))
        return
    for line in report.warnings() if quiet else report.remarks():
        typer.echo(printable(line), err=True)
    rows = report.full_rows() if format is Format.csv else report.rows()
    typer.echo(render(rows, format.value), nl=False)
    if not quiet:
        typer.echo("", err=True)
        for line in said:
            typer.echo(printable(line), err=True)
