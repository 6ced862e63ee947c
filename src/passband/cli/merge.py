"""`passband merge`: copy the trials of several run directories into one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from passband.cli.options import JsonOption

__all__ = ["merge"]


def merge(
    runs: Annotated[list[Path], typer.Argument(help="Run directories; they are not changed.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Run directory to write; it may hold trials.")
    ],
    moved_server: Annotated[
        bool,
        typer.Option("--moved-server", help="Accept trials of one model from several servers."),
    ] = False,
    json: JsonOption = False,
) -> None:
    """Copy the trials of several run directories into one."""
    from dataclasses import asdict
    from json import dumps

    from passband.report.render import printable
    from passband.trials.merge import merge

    report = merge(runs, output, moved_server=moved_server)
    if json:
        typer.echo(dumps(asdict(report), indent=2))
        return
    calls = f", {report.calls} judge calls" if report.calls else ""
    typer.echo(
        f"{printable(report.destination)}: {report.trials} trials{calls}, {report.problems} "
        f"problems and {report.scores} scores added; {report.trials_there} trials were there "
        f"already."
    )
