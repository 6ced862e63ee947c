"""`passband ls`: the tasks that can be run by name."""

from __future__ import annotations

import typer

from passband.cli.options import JsonOption

__all__ = ["ls"]


def ls(json: JsonOption = False) -> None:
    """List built-in tasks and those of this folder, of ./tasks and of PASSBAND_TASKS."""
    from dataclasses import asdict
    from json import dumps

    from passband.report.render import Row, render
    from passband.tasks.find import list_tasks

    entries = list_tasks()
    if json:
        typer.echo(dumps([asdict(entry) for entry in entries], indent=2, default=str))
        return
    rows: list[Row] = [
        {
            "task": entry.name,
            "kind": entry.kind,
            "file": str(entry.path),
            "": entry.problem or ", ".join(entry.members) or ", ".join(entry.tags),
        }
        for entry in entries
    ]
    typer.echo(render(rows, "table"), nl=False)
