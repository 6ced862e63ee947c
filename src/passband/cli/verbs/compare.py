"""`passband compare`: compare models, with intervals and p-values."""

from __future__ import annotations

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
    Level,
    LowerIsBetter,
    Metrics,
    Notes,
    Over,
    Percent,
    Policies,
    PolicyOption,
    ProblemColumn,
    Quiet,
    Rankings,
    ScoreColumn,
    SkipBad,
    StatusColumn,
    Target,
    Tests,
    Threshold,
    TrialColumn,
    is_json,
    scales_of,
)


def compare(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE",
            help="Two or more files of trials or run directories; or one with several models, or "
            "a folder of run directories.",
        ),
    ],
    metric: Metrics = None,
    task: Annotated[
        list[str] | None, typer.Option(help="Task to compare (default: all; repeatable).")
    ] = None,
    by: Annotated[
        str | None, typer.Option(help="Column that tells the models apart, e.g. checkpoint.")
    ] = None,
    problem: ProblemColumn = None,
    trial: TrialColumn = None,
    score: ScoreColumn = None,
    status: StatusColumn = None,
    cluster: ClusterColumn = None,
    answer: AnswerColumn = None,
    judge: JudgeColumn = None,
    label: LabelColumn = None,
    threshold: Threshold = None,
    lower_is_better: LowerIsBetter = None,
    skip_bad: SkipBad = False,
    over: Over = Target.problems,
    level: Level = 0.95,
    unpaired: Annotated[
        bool, typer.Option("--unpaired", help="The two models were asked different problems.")
    ] = False,
    margin: Annotated[
        float | None,
        typer.Option(help="Largest difference that does not matter; also tests equivalence."),
    ] = None,
    test: Annotated[
        Tests,
        typer.Option(help="P-value: from the interval, or by sign flips (exact, or mid-p)."),
    ] = Tests.interval,
    ranking: Annotated[
        Rankings | None,
        typer.Option(help="Rank by a model of abilities; models may have different problems."),
    ] = None,
    first: First = None,
    accept: Accept = None,
    policy: PolicyOption = Policies.drop,
    format: FormatOption = Format.table,
    digits: Digits = None,
    percent: Percent = False,
    json: JsonOption = False,
    notes: Notes = False,
    details: Annotated[
        bool,
        typer.Option(
            "--details", help="Say which problems carry each difference, and what would settle it."
        ),
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Compare models, task by task, with intervals, p-values and verdicts. Problems are paired."""
    from passband.cli.output import print_notes
    from passband.report import (
        Style,
        comparison_explanation,
        comparison_rows,
        comparison_warnings,
        full_comparison_rows,
        pair_rows,
        printable,
        render,
    )
    from passband.summary import ComparisonOptions, choice_lines, compare_sources

    as_json = is_json(format, json)
    summary = compare_sources(
        files,
        ComparisonOptions(
            tuple(metric or ()), over.value, level, not unpaired, policy.value, margin, test.value,
            settle=True, ranking=None if ranking is None else ranking.value,
            accept=tuple(accept or ()), first=first,
        ),
        columns={
            "problem": problem, "trial": trial, "score": score, "status": status,
            "cluster": cluster, "answer": answer, "judge": judge, "label": label,
        },
        by=by,
        tasks=task or (),
        threshold=threshold,
        scales=scales_of(lower_is_better),
        skip_bad=skip_bad,
    )  # fmt: skip
    if as_json:
        from json import dumps

        typer.echo(dumps(summary.as_json(), indent=2))
        return
    for remark in summary.remarks:
        if remark.important or not quiet:
            typer.echo(printable(str(remark)), err=True)
    style = Style(digits, percent, notes=notes)
    to_rows = full_comparison_rows if format is Format.csv else comparison_rows
    tables = to_rows(summary, style)
    if format is not Format.csv and (pairs := pair_rows(summary, style)):
        tables.append(pairs)
    typer.echo("\n".join(render(table, format.value) for table in tables), nl=False)
    print_notes(choice_lines(first, accept or ()))
    print_notes(comparison_warnings(summary))
    if not quiet:
        print_notes(["", *comparison_explanation(summary, style, details=details)])
