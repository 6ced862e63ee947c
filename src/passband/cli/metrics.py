"""`passband metrics`: the metrics there are, and how to spell them."""

from __future__ import annotations

import typer

__all__ = ["metrics"]


def metrics() -> None:
    """List the metrics and how to spell them."""
    from passband.stats.metric.registry import families

    for key in sorted(families):
        family = families.get(key)
        spelling = f"{key}K" if family.takes_k else key
        typer.echo(f"{spelling:<20}{family.summary}")
    typer.echo("\nK is a number, several (pass@1,8,64) or every one (pass@*).")
