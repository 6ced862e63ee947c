"""`passband score`: re-score recorded completions, or add a scorer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from passband.cli.options import JsonOption, Quiet, Truncated, TrustTaskCode, UnsafeCode

__all__ = ["score"]


def score(
    run: Annotated[Path, typer.Argument(help="Run directory.")],
    scorer: Annotated[
        list[str] | None,
        typer.Option(help="Scorer to add, such as numeric, math or f1 (repeatable)."),
    ] = None,
    extract: Annotated[
        str | None,
        typer.Option(help="Rules that find the answer, such as boxed,marker,last_number."),
    ] = None,
    task: Annotated[
        list[str] | None,
        typer.Option(help="Task or YAML file whose scorers to use; by default those of the run."),
    ] = None,
    main: Annotated[bool, typer.Option("--main", help="Make the new scorer the main one.")] = False,
    truncated: Annotated[
        Truncated | None,
        typer.Option(help="How to treat truncated completions: leave unscored, or score."),
    ] = None,
    trust_task_code: TrustTaskCode = False,
    unsafe_code: UnsafeCode = False,
    json: JsonOption = False,
    quiet: Quiet = False,
) -> None:
    """Re-score recorded completions. Sends no requests; keeps earlier scores."""
    from json import dumps

    from passband.cli.output import print_notes, print_rows
    from passband.report.score import ScoreReport
    from passband.run.rescore import rescore_run
    from passband.summary.run_summary import summarize_scorers

    rescored = rescore_run(
        run,
        scorers=scorer or [],
        rules=[rule.strip() for rule in extract.split(",")] if extract else None,
        task_names=task or [],
        main=main,
        truncated=None if truncated is None else truncated.value,
        trust=trust_task_code,
        unsafe=unsafe_code,
    )
    report = ScoreReport(rescored.added, summarize_scorers(run, tasks=rescored.tasks))
    if scorer and not extract:
        _warn_of_filters(run, scorer)
    if json:
        typer.echo(dumps(report.as_json(), indent=2))
        return
    print_rows(report.rows())
    if not quiet:
        print_notes(["", f"{report.added} scores added to {run}"])


def _warn_of_filters(run: Path, added: list[str]) -> None:
    """Warn that scorers added by name do not get the answers that the task's filters find."""
    from passband.report.render import printable
    from passband.score.pipeline import filters_in
    from passband.trials.reader import Trials

    with Trials(run) as trials:
        records = [record for task in trials.runs() for record in task.scorers]
    names = [
        name
        for record in records
        if record.name not in added
        for name in filters_in(record.identity)
    ]
    if names:
        typer.echo(
            printable(
                f"warning: {', '.join(added)} scored whole completions, without the task's filters "
                f"({', '.join(dict.fromkeys(names))}); --extract RULES finds the answer in them."
            ),
            err=True,
        )
