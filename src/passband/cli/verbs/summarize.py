"""`passband summarize`: write metrics_summary.json, with the fields of EVA."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from passband.cli.options import (
    Accept,
    ClusterColumn,
    First,
    Level,
    LowerIsBetter,
    Notes,
    Over,
    Policies,
    PolicyOption,
    ProblemColumn,
    Quiet,
    ScoreColumn,
    SkipBad,
    StatusColumn,
    Target,
    TrialColumn,
    scales_of,
)

_DIGITS = 100  # of a seed; far beyond what any generator uses


def summarize(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN",
            help="Run directories of passband or EVA, logs of other tools, or tables of trials.",
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="File to write, or folder in which to write metrics_summary.json. "
            "Default: standard output.",
        ),
    ] = None,
    composites: Annotated[
        str | None,
        typer.Option(
            help="YAML file of composites and thresholds, or eva, or none. Default: eva for a run "
            "of EVA, none for others."
        ),
    ] = None,
    k: Annotated[
        int | None,
        typer.Option(
            "-k",
            help="The k of pass@k. Default: the planned trials of a problem, or else as many as "
            "every problem has.",
        ),
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            help="Interval method (docs/which-interval.md), or eva to get EVA's own numbers."
        ),
    ] = "auto",
    over: Over = Target.problems,
    level: Level = 0.95,
    policy: PolicyOption = Policies.drop,
    seed: Annotated[
        str | None,
        typer.Option(
            help="Number or name that seeds random intervals. Default: the name of the run."
        ),
    ] = None,
    task: Annotated[list[str] | None, typer.Option(help="Only this task (repeatable).")] = None,
    model: Annotated[list[str] | None, typer.Option(help="Only this model (repeatable).")] = None,
    problem: ProblemColumn = None,
    trial: TrialColumn = None,
    score: ScoreColumn = None,
    status: StatusColumn = None,
    cluster: ClusterColumn = None,
    lower_is_better: LowerIsBetter = None,
    skip_bad: SkipBad = False,
    first: First = None,
    accept: Accept = None,
    notes: Notes = False,
    quiet: Quiet = False,
) -> None:
    """Write every metric of a run as JSON, in the fields of EVA."""
    from passband.cli.output import print_json, print_notes
    from passband.notes import Note
    from passband.report import Noted, note_lines, shown, warnings
    from passband.summary import document_of, metrics_summaries, target_of, write_document

    columns = {
        "problem": problem, "trial": trial, "score": score, "status": status, "cluster": cluster,
    }  # fmt: skip
    summaries = [
        summary
        for run in runs
        for summary in metrics_summaries(
            run,
            composites=composites,
            k=k,
            method=method,
            over=over.value,
            level=level,
            policy=policy.value,
            seed=_seed(seed),
            task=task or (),
            model=model or (),
            columns=columns,
            scales=scales_of(lower_is_better),
            skip_bad=skip_bad,
            first=first,
            accept=accept or (),
        )
    ]
    text = document_of(summaries)
    if output is None or output == Path("-"):
        print_json(text)
    else:
        sources = [*runs, *([Path(composites)] if composites else [])]
        write_document(text, target_of(output, summaries, sources))
    lines = note_lines(
        Noted(Note(**dict(note)), str(one.run), name)
        for one in summaries
        for name, note in one.noted()
        if not name or note.severity == "invalid"
    )
    if not quiet:
        print_notes(f"{one.run}: {remark}" for one in summaries for remark in one.remarks)
    refused = [line for line in lines if line.is_invalid]
    print_notes(warnings(refused) if quiet else [*warnings(lines), *shown(lines, every=notes)])


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
