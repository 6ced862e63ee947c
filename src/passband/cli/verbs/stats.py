"""`passband stats`: metrics of any table of trials."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from passband.cli.options import (
    Accept,
    AnswerColumn,
    ClusterColumn,
    Digits,
    First,
    Format,
    FormatOption,
    JsonOption,
    JudgeColumn,
    LabelColumn,
    LayoutOption,
    Layouts,
    Level,
    LowerIsBetter,
    Metrics,
    Notes,
    Over,
    Percent,
    Policies,
    PolicyOption,
    PricesOption,
    ProblemColumn,
    Quiet,
    ScoreColumn,
    SkipBad,
    StatusColumn,
    Target,
    Threshold,
    TrialColumn,
    is_json,
    scales_of,
)


def stats(
    source: Annotated[
        list[str],
        typer.Argument(
            help="Run directories, folders of them, CSV, TSV, JSON, JSONL, Parquet, .npy or .npz "
            "files of trials, or data sets of Parquet files: a quoted glob, a folder, an address."
        ),
    ],
    metric: Metrics = None,
    task: Annotated[
        list[str] | None, typer.Option(help="Only this task of a run directory (repeatable).")
    ] = None,
    problem: ProblemColumn = None,
    trial: TrialColumn = None,
    score: ScoreColumn = None,
    status: StatusColumn = None,
    cluster: ClusterColumn = None,
    answer: AnswerColumn = None,
    judge: JudgeColumn = None,
    label: LabelColumn = None,
    prices: PricesOption = None,
    by: Annotated[
        list[str] | None, typer.Option(help="Column to split by, such as model (repeatable).")
    ] = None,
    weights: Annotated[
        str | None,
        typer.Option(
            help="Add a weighted mean over the groups: equal, size, NAME=SHARE,..., or a CSV."
        ),
    ] = None,
    population: Annotated[
        int | None,
        typer.Option(help="Size of the benchmark that these problems are a random part of.", min=1),
    ] = None,
    threshold: Threshold = None,
    lower_is_better: LowerIsBetter = None,
    skip_bad: SkipBad = False,
    first: First = None,
    accept: Accept = None,
    policy: PolicyOption = Policies.drop,
    over: Over = Target.problems,
    level: Level = 0.95,
    method: Annotated[str, typer.Option(help="Interval method (docs/which-interval.md).")] = "auto",
    seed: Annotated[
        str | None, typer.Option(help="Seed of methods that draw random numbers: number or name.")
    ] = None,
    stopped_after: Annotated[
        int | None,
        typer.Option(
            help="Successes that ended the trials of a problem; 0: their number was fixed.", min=0
        ),
    ] = None,
    cap: Annotated[
        int | None, typer.Option(help="With --stopped-after: the most trials of a problem.", min=1)
    ] = None,
    certify: Annotated[
        bool | None,
        typer.Option(
            help="Simulate the coverage to expect (by default only where the data are unusual)."
        ),
    ] = None,
    calibrate: Annotated[
        bool, typer.Option(help="Widen intervals whose simulated coverage is too low.")
    ] = False,
    plan: Annotated[
        Path | None, typer.Option(help="Plan to check the trials against (passband plan --out).")
    ] = None,
    on: Annotated[
        str | None,
        typer.Option(help="Count the files of a data set on a cluster: ray, or ray://HOST:PORT."),
    ] = None,
    format: FormatOption = Format.table,
    layout: LayoutOption = Layouts.long,
    digits: Digits = None,
    percent: Percent = False,
    json: JsonOption = False,
    notes: Notes = False,
    quiet: Quiet = False,
) -> None:
    """Print metrics with intervals for recorded trials."""
    from passband.cli.output import print_json, print_notes, print_rows, print_table
    from passband.readers import reading_datasets
    from passband.report import Style, explanation, full_rows, remark_lines, rows, warning_lines
    from passband.summary import choice_lines, parse_prices, read_weights, summarize

    as_json = is_json(format, json)
    again = partial(
        summarize,
        source if len(source) > 1 else source[0],
        metric or [],
        method=method,
        level=level,
        policy=policy.value,
        seed=int(seed) if seed and seed.isdecimal() else seed,
        task=task or [],
        by=by or [],
        problem=problem,
        trial=trial,
        score=score,
        status=status,
        cluster=cluster,
        answer=answer,
        threshold=threshold,
        plan=plan,
        scales=scales_of(lower_is_better),
        skip_bad=skip_bad,
        stopped_after=stopped_after,
        cap=cap,
        weights=None if weights is None else read_weights(weights),
        population=population,
        judge=judge,
        label=label,
        prices=None if prices is None else parse_prices(prices),
        first=first,
        accept=accept or [],
    )
    with reading_datasets(on) as session:
        summary = again(over=over.value, certify=certify, calibrate=calibrate)
        session.require_counted()
        summary.require_estimate()
        if as_json:
            print_json(summary.to_json())
            return
        print_notes(remark_lines(summary, quiet=quiet))
        style = Style(digits, percent, layout.value, notes)
        if format is Format.table:
            print_table(summary, style, partial(again, over="trials"), quiet=quiet)
        else:
            table = full_rows if format is Format.csv else rows
            print_rows(table(summary, style), format.value)
    print_notes(choice_lines(first, accept or ()))
    print_notes(warning_lines(summary))
    if not quiet:
        print_notes(["", *explanation(summary, style)])
