"""`passband backup`: copy a run directory, also while a run is writing it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from passband.cli.options import JsonOption


def backup(
    run: Annotated[Path, typer.Argument(help="Run directory; it is not changed.")],
    to: Annotated[Path, typer.Argument(help="Directory to make.")],
    json: JsonOption = False,
) -> None:
    """Copy a run directory, even one that is being written."""
    from dataclasses import asdict
    from json import dumps

    from passband.report import audit_lines, printable
    from passband.trials import backup_store

    report = backup_store(run, to)
    if json:
        typer.echo(dumps(asdict(report), indent=2))
        return
    for line in audit_lines(report.directory, report.rows, report.damage):
        typer.echo(printable(line))
