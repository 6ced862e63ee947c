"""`passband report`: what a run shows, as one HTML file to read and to send."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from passband.cli.options import (
    Accept,
    AnswerColumn,
    ClusterColumn,
    First,
    JudgeColumn,
    LabelColumn,
    Level,
    LowerIsBetter,
    Metrics,
    Policies,
    PolicyOption,
    PricesOption,
    ProblemColumn,
    Quiet,
    ScoreColumn,
    SkipBad,
    StatusColumn,
    TrialColumn,
    scales_of,
)

if TYPE_CHECKING:
    from passband.report import Chart


def report(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN",
            help="Run directories, folders of them, logs of other tools, or tables of trials.",
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="File to write, or folder for report.html.")
    ] = Path("report.html"),
    charts: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Also write each chart: SVG, PNG, PDF, Vega-Lite."),
    ] = None,
    title: Annotated[str | None, typer.Option(help="Heading of the report.")] = None,
    metric: Metrics = None,
    level: Level = 0.95,
    policy: PolicyOption = Policies.drop,
    task: Annotated[list[str] | None, typer.Option(help="Only this task (repeatable).")] = None,
    model: Annotated[list[str] | None, typer.Option(help="Only this model (repeatable).")] = None,
    by: Annotated[
        str | None,
        typer.Option(help="Column of the problems' data that says what kind each is."),
    ] = None,
    margin: Annotated[
        float | None,
        typer.Option(
            "--margin",
            "--tolerance",
            help="Of two models: the largest difference that does not matter.",
        ),
    ] = None,
    transcripts: Annotated[
        int, typer.Option(metavar="KB", help="Kilobytes of transcripts in the file.", min=0)
    ] = 400,
    no_transcripts: Annotated[
        bool, typer.Option("--no-transcripts", help="Numbers and charts, no texts of the model.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite a file that is not a report.")
    ] = False,
    problem: ProblemColumn = None,
    trial: TrialColumn = None,
    score: ScoreColumn = None,
    status: StatusColumn = None,
    cluster: ClusterColumn = None,
    answer: AnswerColumn = None,
    judge: JudgeColumn = None,
    label: LabelColumn = None,
    prices: PricesOption = None,
    lower_is_better: LowerIsBetter = None,
    skip_bad: SkipBad = False,
    first: First = None,
    accept: Accept = None,
    quiet: Quiet = False,
) -> None:
    """Write the results of runs as one HTML file that opens offline and needs nothing else.

    Where two or more models were asked the same task, they are compared.
    """
    from passband.report import charts_by_folder, report_page, target_of, write_report
    from passband.summary import (
        ComparisonOptions,
        ReportRequest,
        Request,
        compared_sources,
        parse_prices,
        read_findings,
    )

    target = target_of(output, runs, force=force)
    request = ReportRequest(
        Request(
            tuple(metric or ()),
            level=level,
            policy=policy.value,
            judge=judge,
            label=label,
            prices=None if prices is None else parse_prices(prices),
            accept=tuple(accept or ()),
            first=first,
        ),
        by=by,
        transcripts=0 if no_transcripts else 1000 * transcripts,
    )
    columns = {
        "problem": problem, "trial": trial, "score": score, "status": status, "cluster": cluster,
        "answer": answer, "judge": judge, "label": label,
    }  # fmt: skip
    scales = scales_of(lower_is_better)
    found = read_findings(
        runs, request, tasks=task or (), models=model or (), columns=columns, skip_bad=skip_bad,
        scales=scales,
    )  # fmt: skip
    compared = compared_sources(
        runs,
        found,
        ComparisonOptions(
            request.summary.metrics,
            level=level,
            policy=policy.value,
            margin=margin,
            accept=request.summary.accept,
            first=first,
        ),
        tasks=task or (),
        models=model or (),
        columns=columns,
        scales=scales,
        skip_bad=skip_bad,
        transcripts=request.transcripts // 4,
    )
    size = write_report(target, report_page(found, title=title, compared=compared))
    from passband.cli.output import print_notes
    from passband.report import refused_lines, sampled_text

    print_notes([*refused_lines(found, compared), *([] if quiet else [sampled_text(found)])])
    typer.echo(f"{target} ({size / 1000:,.0f} kB)")
    if charts is not None:
        _write_charts(charts, charts_by_folder(found, compared), quiet=quiet)


def _write_charts(folder: Path, drawn: dict[str, list[Chart]], *, quiet: bool) -> None:
    from passband.cli.output import print_notes
    from passband.report import missing_note, write_charts

    paths = [path for name, charts in drawn.items() for path in write_charts(charts, folder / name)]
    typer.echo(f"{folder} ({len(paths)} files)")
    if not quiet and (note := missing_note()):
        print_notes([note])
