"""`passband import`: store logs of other tools as a run directory."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from passband.cli.options import JsonOption, Quiet, SkipBad


def import_(
    logs: Annotated[list[Path], typer.Argument(help="Logs of other tools, or files of trials.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Run directory to write; it may hold trials.")
    ],
    task: Annotated[list[str] | None, typer.Option(help="Only this task (repeatable).")] = None,
    model: Annotated[list[str] | None, typer.Option(help="Only this model (repeatable).")] = None,
    append: Annotated[
        bool,
        typer.Option("--append", help="Number the trials of each log after the existing ones."),
    ] = False,
    skip_bad: SkipBad = False,
    json: JsonOption = False,
    quiet: Quiet = False,
) -> None:
    """Store logs of other tools as a run directory. The logs are not changed."""
    from json import dumps

    from passband.cli.output import print_notes
    from passband.readers import Options, import_logs, read_logs
    from passband.report import printable

    options = Options.of(None, (), task or (), model or (), texts=True, skip_bad=skip_bad)
    read = (log for path in logs for log in read_logs(path, options))
    report = import_logs(read, output, append=append)
    if json:
        typer.echo(dumps(report.as_json(), indent=2))
        return
    print_notes(str(r) for r in report.remarks if r.important or not quiet)
    typer.echo(
        f"{printable(report.directory)}: {report.trials} trials, {report.problems} problems and "
        f"{report.scores} scores added; {report.trials_there} trials were there already."
    )
