"""`passband merge`: copy the trials of several run directories into one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from passband.cli.options import JsonOption


def merge(
    runs: Annotated[
        list[Path],
        typer.Argument(help="Run directories, or folders of them; they are not changed."),
    ],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="Run directory to write; it may hold trials already."),
    ],
    moved_server: Annotated[
        bool,
        typer.Option("--moved-server", help="Accept trials of one model from several servers."),
    ] = False,
    partial: Annotated[
        bool,
        typer.Option("--partial", help="Also read directories that a run is still writing."),
    ] = False,
    json: JsonOption = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only warnings.")] = False,
) -> None:
    """Copy the trials of several run directories into one."""
    from dataclasses import asdict
    from json import dumps

    from passband.report import printable
    from passband.trials import merge_directories

    report = merge_directories(
        _sources(runs, output), output, moved_server=moved_server, partial=partial
    )
    for line in (*report.missing, *report.warnings):
        typer.echo(f"warning: {printable(line)}", err=True)
    if json:
        typer.echo(dumps(asdict(report), indent=2))
        return
    if quiet:
        return
    calls = f", {report.calls} judge calls" if report.calls else ""
    replaced = f" {report.replaced} failed trials were replaced;" if report.replaced else ""
    typer.echo(
        f"{printable(report.destination)}: {report.trials} trials{calls}, {report.problems} "
        f"problems and {report.scores} scores added;{replaced} {report.trials_there} trials were "
        f"there already."
    )


def _sources(runs: list[Path], output: Path) -> list[Path]:
    """Return the run directories that are named, and those in folders, except the one to write."""
    from passband.readers import expand_sources
    from passband.trials import is_run_directory

    sources: list[Path] = []
    for path in runs:
        if is_run_directory(path) or not path.is_dir():
            sources.append(path)
        else:
            inside = expand_sources([path])
            others = [Path(one) for one in inside]
            sources += [one for one in others if one.resolve() != output.resolve()]
    return sources
