"""`passband ls`: list the tasks that can be run by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from passband.cli.options import JsonOption

if TYPE_CHECKING:
    from passband.tasks import TaskEntry


_WIDEST = 60  # characters of the last column; --json has all of it


def ls(
    lm_eval: Annotated[
        bool, typer.Option("--lm-eval", help="List the tasks of an installed lm-eval instead.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """List tasks: built in, in this folder, ./tasks or PASSBAND_TASKS."""
    from json import dumps

    from passband.report import Row, render
    from passband.tasks import BUILTIN_TASKS, list_lm_eval_tasks, list_tasks

    entries = list_lm_eval_tasks() if lm_eval else list_tasks()
    if json:
        typer.echo(dumps([_as_json(entry) for entry in entries], indent=2))
        return
    rows: list[Row] = [
        {
            "task": entry.name,
            "kind": entry.kind,
            "file": "built in" if entry.path.parent == BUILTIN_TASKS else str(entry.path),
            "members, tags or error": _shortened(_remark(entry)),
        }
        for entry in entries
    ]
    typer.echo(render(rows, "table"), nl=False)


def _remark(entry: TaskEntry) -> str:
    if entry.diagnostic is not None:
        return str(entry.diagnostic)
    return ", ".join(entry.member_names or entry.tags)


def _shortened(text: str) -> str:
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 3].rstrip()}..."


def _as_json(entry: TaskEntry) -> dict[str, Any]:
    return {
        "name": entry.name,
        "path": str(entry.path),
        "kind": entry.kind,
        "tags": list(entry.tags),
        "members": list(entry.member_names),
        "diagnostic": None if entry.diagnostic is None else str(entry.diagnostic),
    }
