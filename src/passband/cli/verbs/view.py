"""`passband view`: look at runs in the browser, also while they go on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

_FOLDER = Path("runs")


def view(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="RUNS",
            help="Run directories, folders of them, or logs of other tools. Default: runs.",
        ),
    ] = None,
    port: Annotated[int, typer.Option("--port", help="Port; 0 for any that is free.")] = 0,
    browser: Annotated[
        bool, typer.Option("--open/--no-browser", help="Open the address in the browser.")
    ] = False,
) -> None:
    """Show runs in the browser: numbers that move, problems, trials, transcripts, comparisons."""
    from passband.view import check_sources, open_in_browser, serve

    check_sources(runs or [])

    def ready(address: str) -> None:
        typer.echo(f"viewing {', '.join(map(str, runs or [_FOLDER]))} at {address}")
        typer.echo("The address has a secret in it; nobody else can open it. Ctrl-C ends.")
        if browser:
            open_in_browser(address)

    serve(runs or [_FOLDER], port, ready)
