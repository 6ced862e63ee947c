"""`passband serve`: adaptive tests for Scorebook's and Trismik's clients, over local banks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def serve(
    banks: Annotated[list[str], typer.Argument(help="Banks: names, or paths of their files.")],
    port: Annotated[int, typer.Option("--port", help="Port; 0 for any that is free.")] = 8411,
    host: Annotated[
        str,
        typer.Option("--host", help="Address to listen on; any other than this one needs keys."),
    ] = "127.0.0.1",
    state: Annotated[Path, typer.Option("--state", help="Folder to keep test runs in.")] = Path(
        "serve-state"
    ),
    key_file: Annotated[
        Path | None,
        typer.Option(
            "--key-file", help="File of API keys, one per line; or set PASSBAND_SERVE_KEYS."
        ),
    ] = None,
    se: Annotated[
        float, typer.Option("--se", help="End a test at this standard error of ability.")
    ] = 0.25,
    max_items: Annotated[
        int, typer.Option("--max-items", help="End a test after this many items in any case.")
    ] = 150,
    rate: Annotated[
        float, typer.Option("--rate", help="Requests per second for each key; 0 for no limit.")
    ] = 2000.0,
) -> None:
    """Serve adaptive tests over local banks, using the Trismik protocol."""
    from dataclasses import replace

    from passband.adaptive import DESIGN, ServeSettings, read_keys, required_bank
    from passband.adaptive import serve as listen

    design = replace(DESIGN, se=se, max_items=max_items)
    settings = ServeSettings(state, host, port, read_keys(key_file), design, rate)
    found = [required_bank(name) for name in banks]
    names = ", ".join(f"{bank.name}:adaptive" for bank in found)
    listen(found, settings, lambda address: _announce(address, names, bool(settings.keys)))


def _announce(address: str, names: str, has_keys: bool) -> None:
    import sys

    from passband.report import printable

    key = "one of its keys" if has_keys else "any text"
    typer.echo(f"{address} serves {printable(names)}. Ctrl-C stops it.")
    typer.echo(f"Clients need TRISMIK_SERVICE_URL={address} and {key} as TRISMIK_API_KEY.")
    sys.stdout.flush()  # a process that waits for the address may read a pipe
