"""`passband doctor`: try to break out of the sandboxes of this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from passband.cli.options import JsonOption


def doctor(
    run: Annotated[
        Path | None, typer.Argument(help="With --bundle: the run directory that it is about.")
    ] = None,
    bundle: Annotated[
        Path | None,
        typer.Option(help="Write a ZIP file for a bug report, without texts and keys."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Say which sandbox holds for programs that models write: probe it, a line each.

    Exits with 1 if none holds. With --bundle it writes what a bug report needs: versions, PASSBAND_
    variables, what the probes found, the log that PASSBAND_LOG names, and of a run its settings,
    counts and findings; no prompt, no answer, no key.
    """
    from dataclasses import asdict
    from json import dumps

    from passband.errors import InvalidInput
    from passband.report import doctor_lines, printable
    from passband.score import examine

    if run is not None and bundle is None:
        raise InvalidInput(f"{run}: a run goes with --bundle FILE.zip, which describes it.")
    diagnoses = examine()
    if bundle is not None:
        from passband.summary import write_bug_report

        members = write_bug_report(bundle, run, diagnoses)
        typer.echo(f"wrote {printable(str(bundle))}: {', '.join(members)}")
        return
    if json:
        shown = [asdict(each) | {"holds": each.holds} for each in diagnoses]
        typer.echo(dumps(shown, indent=2))
    else:
        for line in doctor_lines(diagnoses):
            typer.echo(printable(line))
    if not any(each.holds for each in diagnoses):
        raise typer.Exit(1)
