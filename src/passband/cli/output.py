"""Printing: rows to standard output, remarks and notes to standard error."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import typer

from passband.report.render import Row, printable, render

__all__ = ["print_notes", "print_rows"]


def print_rows(rows: Sequence[Row], form: str = "table") -> None:
    """Print rows in one of the formats of `render`; print nothing if there are none."""
    if rows:
        typer.echo(render(rows, form), nl=False)


def print_notes(lines: Iterable[str]) -> None:
    """Print lines to standard error, with control characters escaped."""
    for line in lines:
        typer.echo(printable(line), err=True)
