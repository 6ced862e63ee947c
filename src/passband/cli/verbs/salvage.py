"""`passband salvage`: copy the readable rows of a damaged run to a new directory."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from passband.cli.options import JsonOption

_NAMES = {
    "run": "tasks",
    "session": "sessions",
    "problem": "problems",
    "trial": "trials",
    "body": "completions",
    "attempt": "failed attempts",
    "scorer": "scorers",
    "score": "scores",
    "call": "calls to judges",
}


def salvage(
    run: Annotated[Path, typer.Argument(help="Damaged run directory; it is not changed.")],
    new: Annotated[Path, typer.Argument(help="Directory to make.")],
    json: JsonOption = False,
) -> None:
    """Copy the readable rows of a damaged run to a new run directory."""
    from dataclasses import asdict
    from json import dumps

    from passband.report import Row, printable, render
    from passband.trials import salvage_store

    salvaged = salvage_store(run, new)
    if json:
        typer.echo(dumps(asdict(salvaged), indent=2))
        return
    rows: list[Row] = [
        {
            "what": name,
            "rescued": salvaged.rows[table],
            "left out": salvaged.incomplete.get(table, 0),
        }
        for table, name in _NAMES.items()
        if table != "call" or salvaged.rows[table] or table in salvaged.incomplete
    ]
    typer.echo(render(rows, "table"), nl=False)
    typer.echo(
        f"\nA row is left out if something it needs is lost, such as the completion of a trial. "
        f"Run the same command as before with --out {printable(str(new))} to ask for the missing "
        f"trials again.",
        err=True,
    )
