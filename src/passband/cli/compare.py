"""`passband compare`: is one model better than another, beyond noise?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from passband.cli.stats import Format, Policies, Target

__all__ = ["compare"]


def compare(
    files: Annotated[
        list[Path], typer.Argument(help="Two files or more, or one that holds several models.")
    ],
    metric: Annotated[
        list[str] | None, typer.Option("--metric", "-m", help="Such as pass@1,8; repeatable.")
    ] = None,
    problem: Annotated[str | None, typer.Option(help="Column that names the problem.")] = None,
    trial: Annotated[str | None, typer.Option(help="Column that numbers the trial.")] = None,
    score: Annotated[str | None, typer.Option(help="Column that holds the score.")] = None,
    cluster: Annotated[str | None, typer.Option(help="Column that groups problems.")] = None,
    threshold: Annotated[
        float | None, typer.Option(help="Scores of at least this count as successes.")
    ] = None,
    over: Annotated[
        Target, typer.Option(help="Intervals for problems like these, or for these very problems.")
    ] = Target.problems,
    level: Annotated[float, typer.Option(help="Coverage that the intervals aim at.")] = 0.95,
    unpaired: Annotated[
        bool, typer.Option("--unpaired", help="The two were asked different problems on purpose.")
    ] = False,
    policy: Annotated[
        Policies, typer.Option(help="Trials without a score: leave out, count as 0, or stop.")
    ] = Policies.drop,
    format: Annotated[Format, typer.Option(help="How to print the result.")] = Format.table,
    json: Annotated[bool, typer.Option("--json", help="Short for --format json.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the result.")] = False,
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
    typer.echo(render(report.rows(), format.value), nl=False)
    if report.rankings:
        typer.echo("\n" + render(report.pair_rows(), format.value), nl=False)
    if not quiet:
        typer.echo("", err=True)
        for line in report.explanation():
            typer.echo(printable(line), err=True)
