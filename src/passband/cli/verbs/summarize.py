"""`passband summarize`: write metrics_summary.json, with the fields of EVA."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from passband.cli.options import (
    ChoiceOptions,
    ColumnOptions,
    NoteOptions,
    RecordOptions,
    TargetOptions,
    TaskFilterOptions,
)

if TYPE_CHECKING:
    from passband.summary import MetricsSummary

_DIGITS = 100  # of a seed; far beyond what any generator uses


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SummarizeOptions(
    TargetOptions, ChoiceOptions, RecordOptions, TaskFilterOptions, ColumnOptions, NoteOptions
):
    """The options of `passband summarize`."""

    GROUP = "Document"
    COMMON = ("output", "composites", "k", "method", "over", "level", "task", "model", "quiet")
    runs: Annotated[
        tuple[Path, ...],
        typer.Argument(
            metavar="RUN",
            help="Runs of passband or EVA, logs of other tools, or tables of trials.",
        ),
    ]
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="File to write, or folder for metrics_summary.json. Default: standard output.",
        ),
    ] = None
    composites: Annotated[
        str | None,
        typer.Option(
            help="YAML file of composites and thresholds, or eva, or none. Default: eva for a run "
            "of EVA, none for others."
        ),
    ] = None
    k: Annotated[
        int | None,
        typer.Option(
            "-k",
            help="The k of pass@k. Default: the planned trials of a problem, or else as many as "
            "every problem has.",
        ),
    ] = None
    method: Annotated[
        str,
        typer.Option(help="Interval method (docs/which-interval.md); eva for EVA's own numbers."),
    ] = "auto"
    seed: Annotated[
        str | None,
        typer.Option(help="Seed of random intervals: a number or a name. Default: the run's name."),
    ] = None

    def summaries(self) -> "list[MetricsSummary]":
        """Return the summaries of every run."""
        from passband.summary import metrics_summaries

        seed = _seed(self.seed)
        return [
            summary
            for run in self.runs
            for summary in metrics_summaries(
                run,
                composites=self.composites,
                k=self.k,
                method=self.method,
                over=self.over,
                level=self.level,
                policy=self.policy,
                seed=seed,
                task=self.task,
                model=self.model,
                columns=self.columns,
                scales=self.scales,
                skip_bad=self.skip_bad,
                first=self.first,
                accept=self.accept,
            )
        ]


def summarize(options: SummarizeOptions) -> None:
    """Write every metric of a run as JSON, in the fields of EVA."""
    from passband.cli.output import print_json, print_notes
    from passband.notes import Note
    from passband.report import Noted, note_lines, shown, warnings
    from passband.summary import document_of, target_of, write_document

    summaries, output, quiet = options.summaries(), options.output, options.quiet
    text = document_of(summaries)
    if output is None or output == Path("-"):
        print_json(text)
    else:
        composites = [Path(options.composites)] if options.composites else []
        write_document(text, target_of(output, summaries, [*options.runs, *composites]))
    lines = note_lines(
        Noted(Note(**dict(note)), str(one.run), name)
        for one in summaries
        for name, note in one.noted()
        if not name or note.severity == "invalid"
    )
    if not quiet:
        print_notes(f"{one.run}: {remark}" for one in summaries for remark in one.remarks)
    refused = [line for line in lines if line.is_invalid]
    every = options.notes
    print_notes(warnings(refused) if quiet else [*warnings(lines), *shown(lines, every=every)])


def _seed(text: str | None) -> int | str | None:
    """Return digits as a number, and anything else as a name."""
    from passband.errors import InvalidInput

    if text is None or not text.removeprefix("-").isdecimal():
        if text == "":
            raise InvalidInput("--seed is empty; give a number or a name.")
        return text
    if len(text) > _DIGITS:
        raise InvalidInput(f"--seed has {len(text):,} digits; give at most {_DIGITS}.")
    return int(text)
