"""`passband validate`: what is wrong with task files."""

from __future__ import annotations

from typing import Annotated

import typer

from passband.cli.options import JsonOption
from passband.cli.run import TrustTaskCode

__all__ = ["validate"]


def validate(
    task: Annotated[list[str], typer.Argument(help="Names of tasks, or YAML files.")],
    every: Annotated[
        bool, typer.Option("--all", help="Render every problem, not only the first five.")
    ] = False,
    trust_task_code: TrustTaskCode = False,
    json: JsonOption = False,
) -> None:
    """Check task files, their data and their first prompts; exit with 2 if something is wrong."""
    from dataclasses import asdict
    from json import dumps

    from passband.report.render import printable
    from passband.tasks.check import check_task
    from passband.tasks.find import find_tasks

    paths = list(dict.fromkeys(path for name in task for path in find_tasks(name)))
    limit = None if every else 5
    found = {path: check_task(path, trust=trust_task_code, limit=limit) for path in paths}
    if json:
        told = {str(path): [asdict(each) for each in them] for path, them in found.items()}
        typer.echo(dumps(told, indent=2, default=str))
    else:
        for path, problems in found.items():
            for problem in problems:
                typer.echo(printable(str(problem)))
            if not problems:
                typer.echo(f"{printable(str(path))}: ok")
    if any(each.level == "error" for problems in found.values() for each in problems):
        raise typer.Exit(2)
