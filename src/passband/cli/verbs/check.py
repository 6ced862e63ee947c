"""`passband check`: read every row of run directories and report damage."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from passband.cli.options import JsonOption


def check(
    runs: Annotated[list[Path], typer.Argument(help="Run directories; they are not changed.")],
    json: JsonOption = False,
) -> None:
    """Check every row of run directories for damage."""
    from dataclasses import asdict
    from json import dumps

    from passband.report import audit_lines, printable
    from passband.trials import audit_store

    audits = [audit_store(run) for run in runs]
    if json:
        typer.echo(
            dumps([asdict(each) | {"is_intact": each.is_intact} for each in audits], indent=2)
        )
    else:
        for each in audits:
            for line in audit_lines(each.directory, each.rows, each.damage):
                typer.echo(printable(line))
    if not all(each.is_intact for each in audits):
        raise typer.Exit(1)
