"""Printing: rows and JSON to standard output, remarks and notes to standard error."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from json import dumps

import typer

from passband.report.render import Row, printable, render

__all__ = ["print_json", "print_notes", "print_rows"]

_OBEYED = re.compile(r"[^\n\x20-\x7e]")  # or only beyond ASCII


def print_rows(rows: Sequence[Row], form: str = "table") -> None:
    """Print rows in one of the formats of `render`; print nothing if there are none."""
    if rows:
        typer.echo(render(rows, form), nl=False)


def print_json(text: str) -> None:
    """Print JSON text; what a terminal would obey is in it by its number, and so the same value."""
    typer.echo("".join(map(_escaped, text)) if _OBEYED.search(text) else text, nl=False)


def _escaped(character: str) -> str:
    if character.isprintable() or character == "\n":
        return character
    return dumps(character)[1:-1] if character > "\uffff" else f"\\u{ord(character):04x}"


def print_notes(lines: Iterable[str]) -> None:
    """Print lines to standard error, with control characters escaped."""
    for line in lines:
        typer.echo(printable(line), err=True)
