"""`passband validate`: report the mistakes in task files."""

from __future__ import annotations

from typing import Annotated

import typer

from passband.cli.options import DataOption, JsonOption, TaskArgs, TrustTaskCode


def validate(
    task: Annotated[
        list[str], typer.Argument(help="Names of tasks, YAML files, study files, inspect:TASK.")
    ],
    every: Annotated[
        bool, typer.Option("--all", help="Render every problem, not only the first five.")
    ] = False,
    data: DataOption = None,
    trust_task_code: TrustTaskCode = False,
    task_arg: TaskArgs = None,
    json: JsonOption = False,
) -> None:
    """Check task files, their data and their first prompts. Exits with 2 on any error."""
    from dataclasses import asdict
    from json import dumps

    from passband.report import printable
    from passband.run import check_study, is_study_file
    from passband.tasks import (
        check_inspect,
        check_task,
        find_tasks,
        is_inspect_name,
        local_data,
        read_task_args,
    )

    limit, arguments = None if every else 5, read_task_args(task_arg or ())
    checked = {
        name: check_inspect(name, arguments, limit) for name in filter(is_inspect_name, task)
    }
    checked |= {name: check_study(name) for name in filter(is_study_file, task)}
    names = [name for name in task if name not in checked]
    entries = list(dict.fromkeys(entry for name in names for entry in find_tasks(name)))
    local = local_data(data or (), [entry.name for entry in entries])
    for entry in entries:
        checked[str(entry.path)] = check_task(entry, trust=trust_task_code, limit=limit, data=local)
    if json:
        files = {path: [asdict(line) for line in lines] for path, lines in checked.items()}
        typer.echo(dumps(files, indent=2, default=str))
    else:
        for path, lines in checked.items():
            for text in map(str, lines) if lines else [f"{path}: ok"]:
                typer.echo(printable(text))
    if any(line.level == "error" for lines in checked.values() for line in lines):
        raise typer.Exit(2)
