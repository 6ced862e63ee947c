"""`passband metrics`: list the metrics and every other registered name."""

from __future__ import annotations

from typing import Annotated

import typer

from passband.cli.options import JsonOption

_WIDTH = 20  # of the column of names


def metrics(
    every: Annotated[
        bool,
        typer.Option("--all", help="Also list scorers, filters, repeat aggregations and others."),
    ] = False,
    json: JsonOption = False,
) -> None:
    """List the metrics and how to spell them."""
    from passband.cli.catalogue import catalogue, metric_items
    from passband.report import printable

    kinds = catalogue() if every else {"metrics": metric_items()}
    if json:
        from json import dumps

        listed = {kind: [item._asdict() for item in items] for kind, items in kinds.items()}
        typer.echo(dumps(listed if every else listed["metrics"], indent=2))
        return
    for kind, items in kinds.items():
        if every:
            typer.echo(kind if kind == "metrics" else f"\n{kind}")
        for item in items:
            typer.echo(printable(f"{item.name:<{_WIDTH - 1}} {item.summary}".rstrip()))
        if kind == "metrics":
            typer.echo("\nK is a number, several (pass@1,8,64 or pass@1-8) or every one (pass@*).")
