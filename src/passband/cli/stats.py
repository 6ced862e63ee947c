"""`passband stats`: metrics of any table of trials."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["Format", "Policies", "Target", "stats"]


class Format(str, enum.Enum):
    """How a result is printed."""

    table = "table"
    json = "json"
    csv = "csv"
    markdown = "markdown"
    latex = "latex"


class Target(str, enum.Enum):
    """What an interval is for."""

    problems = "problems"
    trials = "trials"


class Policies(str, enum.Enum):
    """What to do with trials that have no score."""

    drop = "drop"
    fail = "fail"
    error = "error"


def stats(
    file: Annotated[
        Path, typer.Argument(help="CSV, TSV, JSON, JSONL, Parquet, .npy or .npz file of trials.")
    ],
    metric: Annotated[
        list[str] | None,
        typer.Option("--metric", "-m", help="Such as pass@1,8, pass^8, pass@*, avg; repeatable."),
    ] = None,
    problem: Annotated[str | None, typer.Option(help="Column that names the problem.")] = None,
    trial: Annotated[str | None, typer.Option(help="Column that numbers the trial.")] = None,
    score: Annotated[str | None, typer.Option(help="Column that holds the score.")] = None,
    status: Annotated[str | None, typer.Option(help="Column with the fate of a trial.")] = None,
    cluster: Annotated[str | None, typer.Option(help="Column that groups problems.")] = None,
    by: Annotated[
        list[str] | None, typer.Option(help="Column to split by, such as model; repeatable.")
    ] = None,
    threshold: Annotated[
        float | None, typer.Option(help="Scores of at least this count as successes.")
    ] = None,
    policy: Annotated[
        Policies, typer.Option(help="Trials without a score: leave out, count as 0, or stop.")
    ] = Policies.drop,
    over: Annotated[
        Target, typer.Option(help="Intervals for problems like these, or for these very problems.")
    ] = Target.problems,
    level: Annotated[float, typer.Option(help="Coverage that the intervals aim at.")] = 0.95,
    method: Annotated[str, typer.Option(help="How the intervals are made.")] = "auto",
    seed: Annotated[
        str | None, typer.Option(help="Number or name, for methods that draw random numbers.")
    ] = None,
    plan: Annotated[
        Path | None, typer.Option(help="Plan to check the trials against (passband plan --out).")
    ] = None,
    format: Annotated[Format, typer.Option(help="How to print the result.")] = Format.table,
    json: Annotated[bool, typer.Option("--json", help="Short for --format json.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the result.")] = False,
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
    if json or format is Format.json:
        from json import dumps

        typer.echo(dumps(report.as_json(), indent=2))
        return
    if not quiet:
        for line in report.remarks():
            typer.echo(printable(line), err=True)
    rows = report.full_rows() if format is Format.csv else report.rows()
    typer.echo(render(rows, format.value), nl=False)
    if not quiet:
        typer.echo("", err=True)
        for line in [*report.explanation(), *report.against(plan)]:
            typer.echo(printable(line), err=True)
