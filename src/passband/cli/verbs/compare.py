"""`passband compare`: compare models, with intervals and p-values."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from passband.cli.options import (
    AnswerColumnOptions,
    ChoiceOptions,
    FormatOptions,
    MetricOptions,
    NumberOptions,
    RecordOptions,
    TargetOptions,
    ThresholdOptions,
)

if TYPE_CHECKING:
    from passband.summary import ComparisonSummary

Option = typer.Option


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ContestOptions(MetricOptions):
    """What is compared, and how."""

    GROUP = "Comparison"
    task: Annotated[
        tuple[str, ...], Option(help="Task to compare (repeatable). Default: all.")
    ] = ()
    by: Annotated[str | None, Option(help="Column that separates the models, e.g. checkpoint.")] = (
        None
    )
    unpaired: Annotated[
        bool, Option("--unpaired", help="The two models were asked different problems.")
    ] = False
    margin: Annotated[
        float | None,
        Option(help="Largest difference that does not matter; also tests equivalence."),
    ] = None
    test: Annotated[
        Literal["interval", "exact", "mid-p"],
        Option(help="P-value: from the interval, or by sign flips (exact, or mid-p)."),
    ] = "interval"
    ranking: Annotated[
        Literal["logit", "bradley-terry"] | None,
        Option(help="Rank by a model of abilities; models may have different problems."),
    ] = None
    details: Annotated[
        bool,
        Option(
            "--details",
            help="Name the problems behind each difference, and what would settle it.",
            rich_help_panel="Output",
        ),
    ] = False


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CompareOptions(
    ContestOptions,
    TargetOptions,
    FormatOptions,
    NumberOptions,
    ThresholdOptions,
    ChoiceOptions,
    RecordOptions,
    AnswerColumnOptions,
):
    """The options of `passband compare`."""

    COMMON = (
        "metric", "task", "by", "unpaired", "margin", "over", "details", "format", "json",
        "quiet",
    )  # fmt: skip
    files: Annotated[
        tuple[str, ...],
        typer.Argument(
            metavar="SOURCE",
            help="Two or more files of trials or run directories; or one with several models, or "
            "a folder of run directories.",
        ),
    ]

    def compare(self) -> "ComparisonSummary":
        """Return the comparison of the sources."""
        from passband.summary import ComparisonOptions, compare_sources

        return compare_sources(
            self.files,
            ComparisonOptions(
                self.metric, self.over, self.level, not self.unpaired, self.policy, self.margin,
                self.test, settle=True, ranking=self.ranking, accept=self.accept, first=self.first,
            ),
            columns=self.columns,
            by=self.by,
            tasks=self.task,
            threshold=self.threshold,
            scales=self.scales,
            skip_bad=self.skip_bad,
        )  # fmt: skip


def compare(options: CompareOptions) -> None:
    """Compare models, task by task, with intervals, p-values and verdicts. Problems are paired."""
    from passband.cli.output import print_notes
    from passband.report import (
        comparison_explanation,
        comparison_rows,
        comparison_warnings,
        full_comparison_rows,
        pair_rows,
        printable,
        render,
    )
    from passband.summary import choice_lines

    as_json, is_csv = options.is_json, options.format == "csv"
    summary = options.compare()
    if as_json:
        from json import dumps

        typer.echo(dumps(summary.as_json(), indent=2))
        return
    for remark in summary.remarks:
        if remark.important or not options.quiet:
            typer.echo(printable(str(remark)), err=True)
    style = options.style
    tables = (full_comparison_rows if is_csv else comparison_rows)(summary, style)
    if not is_csv and (pairs := pair_rows(summary, style)):
        tables.append(pairs)
    typer.echo("\n".join(render(table, options.format) for table in tables), nl=False)
    print_notes(choice_lines(options.first, options.accept))
    print_notes(comparison_warnings(summary))
    if not options.quiet:
        print_notes(["", *comparison_explanation(summary, style, details=options.details)])
