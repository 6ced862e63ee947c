"""`passband stats`: metrics of any table of trials."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from passband.cli.options import (
    AnswerColumnOptions,
    ChoiceOptions,
    FormatOptions,
    MetricOptions,
    PurchaseOptions,
    RecordOptions,
    TableOptions,
    TargetOptions,
    ThresholdOptions,
    seed_of,
)

if TYPE_CHECKING:
    from passband.summary import Summary

Option = typer.Option


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class GroupingOptions(MetricOptions):
    """How trials are divided, and the groups' mean."""

    task: Annotated[
        tuple[str, ...], Option(help="Only this task of a run directory (repeatable).")
    ] = ()
    by: Annotated[
        tuple[str, ...], Option(help="Column to split by, such as model (repeatable).")
    ] = ()
    weights: Annotated[
        str | None,
        Option(help="Add a weighted mean over groups: equal, size, NAME=SHARE,..., or a CSV file."),
    ] = None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MethodOptions(TargetOptions):
    """How intervals are computed and checked."""

    method: Annotated[str, Option(help="Interval method (docs/which-interval.md).")] = "auto"
    seed: Annotated[
        str | None, Option(help="Seed of methods that draw random numbers: a number or a name.")
    ] = None
    population: Annotated[
        int | None,
        Option(help="Size of the benchmark from which these problems are a random sample.", min=1),
    ] = None
    stopped_after: Annotated[
        int | None,
        Option(help="Successes that ended a problem's trials; 0: their number was fixed.", min=0),
    ] = None
    cap: Annotated[
        int | None, Option(help="With --stopped-after: the most trials of a problem.", min=1)
    ] = None
    certify: Annotated[
        bool | None,
        Option(help="Simulate the expected coverage. Default: only if the data are unusual."),
    ] = None
    calibrate: Annotated[
        bool, Option(help="Widen intervals whose simulated coverage is too low.")
    ] = False
    plan: Annotated[
        Path | None, Option(help="Plan to check the trials against (passband plan --out).")
    ] = None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class StatsOptions(
    GroupingOptions,
    PurchaseOptions,
    MethodOptions,
    FormatOptions,
    TableOptions,
    ThresholdOptions,
    ChoiceOptions,
    RecordOptions,
    AnswerColumnOptions,
):
    """The options of `passband stats`."""

    GROUP = "Reading"
    COMMON = ("metric", "by", "task", "over", "level", "first", "score", "format", "json", "quiet")
    source: Annotated[
        tuple[str, ...],
        typer.Argument(
            help="Run directories, or files of trials: CSV, TSV, JSON, JSONL, Parquet, .npy or "
            ".npz; folders of them; Parquet data sets: a quoted glob, a folder, an address."
        ),
    ]
    on: Annotated[
        str | None,
        Option(help="Count the files of a data set on a cluster: ray, or ray://HOST:PORT."),
    ] = None

    def summary(self, **choices: Any) -> "Summary":
        """Return the summary of the sources; `choices` are its target and checks of coverage."""
        from passband.summary import parse_prices, read_weights, summarize

        return summarize(
            self.source if len(self.source) > 1 else self.source[0],
            self.metric,
            method=self.method,
            level=self.level,
            policy=self.policy,
            seed=seed_of(self.seed),
            task=self.task,
            by=self.by,
            problem=self.problem,
            trial=self.trial,
            score=self.score,
            status=self.status,
            cluster=self.cluster,
            answer=self.answer,
            judge=self.judge,
            label=self.label,
            threshold=self.threshold,
            plan=self.plan,
            scales=self.scales,
            skip_bad=self.skip_bad,
            stopped_after=self.stopped_after,
            cap=self.cap,
            weights=None if self.weights is None else read_weights(self.weights),
            population=self.population,
            prices=None if self.prices is None else parse_prices(self.prices),
            first=self.first,
            accept=self.accept,
            **choices,
        )


def stats(options: StatsOptions) -> None:
    """Print metrics with intervals for recorded trials."""
    from passband.cli.output import print_json, print_notes, print_rows, print_table
    from passband.readers import reading_datasets
    from passband.report import explanation, full_rows, remark_lines, rows, warning_lines
    from passband.summary import choice_lines

    as_json, quiet = options.is_json, options.quiet
    with reading_datasets(options.on) as session:
        summary = options.summary(
            over=options.over, certify=options.certify, calibrate=options.calibrate
        )
        session.require_counted()
        summary.require_estimate()
        if as_json:
            print_json(summary.to_json())
            return
        print_notes(remark_lines(summary, quiet=quiet))
        style = options.style
        if options.format == "table":
            print_table(summary, style, partial(options.summary, over="trials"), quiet=quiet)
        else:
            table = full_rows if options.format == "csv" else rows
            print_rows(table(summary, style), options.format)
    print_notes(choice_lines(options.first, options.accept))
    print_notes(warning_lines(summary))
    if not quiet:
        print_notes(["", *explanation(summary, style)])
