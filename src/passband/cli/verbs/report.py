"""`passband report`: what a run shows, as one HTML file to read and to send."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from passband.cli.options import (
    AnswerColumnOptions,
    ChoiceOptions,
    IntervalOptions,
    MetricOptions,
    PurchaseOptions,
    QuietOptions,
    RecordOptions,
    TaskFilterOptions,
)

if TYPE_CHECKING:
    from passband.report import Chart
    from passband.summary import ComparedFindings, SourceFindings

Option = typer.Option


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PageOptions(QuietOptions):
    """What to write, and what the page holds."""

    output: Annotated[
        Path, Option("--output", "-o", help="File to write, or folder for report.html.")
    ] = Path("report.html")
    charts: Annotated[
        Path | None, Option(metavar="DIR", help="Also write each chart: SVG, PNG, PDF, Vega-Lite.")
    ] = None
    title: Annotated[str | None, Option(help="Heading of the report.")] = None
    transcripts: Annotated[
        int, Option(metavar="KB", help="Kilobytes of transcripts in the file.", min=0)
    ] = 400
    no_transcripts: Annotated[
        bool, Option("--no-transcripts", help="Numbers and charts only, no texts of the model.")
    ] = False
    force: Annotated[bool, Option("--force", help="Overwrite a file that is not a report.")] = False


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ReportOptions(
    MetricOptions,
    PurchaseOptions,
    PageOptions,
    IntervalOptions,
    TaskFilterOptions,
    ChoiceOptions,
    RecordOptions,
    AnswerColumnOptions,
):
    """The options of `passband report`."""

    GROUP = "Metrics"
    COMMON = (
        "output", "metric", "margin", "by", "task", "model", "charts", "title",
        "no_transcripts", "quiet",
    )  # fmt: skip
    runs: Annotated[
        tuple[Path, ...],
        typer.Argument(
            metavar="RUN",
            help="Run directories, logs of other tools or tables; or folders of run directories.",
        ),
    ]
    by: Annotated[
        str | None, Option(help="Column of the problems' data with the kind of each.")
    ] = None
    margin: Annotated[
        float | None,
        Option("--margin", "--tolerance", help="Largest difference of two models that is no loss."),
    ] = None

    def findings(self) -> "tuple[list[SourceFindings], ComparedFindings | None]":
        """Return what the runs show, and how their models compare."""
        from passband.summary import (
            ComparisonOptions,
            ReportRequest,
            Request,
            compared_sources,
            parse_prices,
            read_findings,
        )

        request = ReportRequest(
            Request(
                self.metric,
                level=self.level,
                policy=self.policy,
                judge=self.judge,
                label=self.label,
                prices=None if self.prices is None else parse_prices(self.prices),
                accept=self.accept,
                first=self.first,
            ),
            by=self.by,
            transcripts=0 if self.no_transcripts else 1000 * self.transcripts,
        )
        options = ComparisonOptions(
            self.metric, level=self.level, policy=self.policy, margin=self.margin,
            accept=self.accept, first=self.first,
        )  # fmt: skip
        source: dict[str, Any] = {
            "tasks": self.task, "models": self.model, "columns": self.columns,
            "skip_bad": self.skip_bad, "scales": self.scales,
        }  # fmt: skip
        found = read_findings(self.runs, request, **source)
        texts = request.transcripts // 4
        return found, compared_sources(self.runs, found, options, transcripts=texts, **source)


def report(options: ReportOptions) -> None:
    """Write the results of runs as one HTML file that opens offline and needs nothing else.

    Where two or more models were asked the same task, they are compared.
    """
    from passband.report import charts_by_folder, report_page, target_of, write_report

    target = target_of(options.output, options.runs, force=options.force)
    found, compared = options.findings()
    size = write_report(target, report_page(found, title=options.title, compared=compared))
    from passband.cli.output import print_notes
    from passband.report import refused_lines, sampled_text

    quiet = options.quiet
    print_notes([*refused_lines(found, compared), *([] if quiet else [sampled_text(found)])])
    typer.echo(f"{target} ({size / 1000:,.0f} kB)")
    if options.charts is not None:
        _write_charts(options.charts, charts_by_folder(found, compared), quiet=quiet)


def _write_charts(folder: Path, drawn: "dict[str, list[Chart]]", *, quiet: bool) -> None:
    from passband.cli.output import print_notes
    from passband.report import missing_note, write_charts

    paths = [path for name, charts in drawn.items() for path in write_charts(charts, folder / name)]
    typer.echo(f"{folder} ({len(paths)} files)")
    if not quiet and (note := missing_note()):
        print_notes([note])
