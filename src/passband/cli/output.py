"""Printing: rows and JSON to standard output, remarks and notes to standard error."""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Sequence
from json import dumps
from typing import TYPE_CHECKING

import typer

from passband.report.render import Row, printable, render

if TYPE_CHECKING:
    from passband.report.style import Style
    from passband.summary.summary import Summary

__all__ = ["folded", "print_json", "print_notes", "print_rows", "print_table", "terminal_columns"]

_MOST_TRIALS = 2_000_000  # that are read a second time for bars
_OBEYED = re.compile(r"[^\n\x20-\x7e]")  # or only beyond ASCII


def print_rows(rows: Sequence[Row], form: str = "table") -> None:
    """Print rows in one of the formats of `render`; print nothing if there are none."""
    if rows:
        typer.echo(render(rows, form), nl=False)


def print_table(
    summary: Summary, style: Style, over_trials: Callable[[], Summary | None], *, quiet: bool
) -> None:
    """Print the table of a summary, with bars and the problems' distribution on a wide terminal.

    `over_trials` makes the same summary with intervals over trials; it is called only for bars.
    """
    from passband.report.bars import LEAST_COLUMNS, LEGEND, SIGNS, barred_rows, spread_lines
    from passband.report.layout import rows

    columns = terminal_columns(SIGNS)
    if columns < LEAST_COLUMNS or style.layout == "wide":
        print_rows(rows(summary, style))
        return
    plain = rows(summary, style)
    table = barred_rows(summary, style, columns, _inner(summary, over_trials))
    print_rows(table)
    first = max((len(str(next(iter(row.values())))) for row in table), default=0)
    for line in spread_lines(summary.groups, first):
        typer.echo(line)
    if not quiet and table and len(table[0]) > len(plain[0]):
        print_notes([LEGEND])


def _inner(summary: Summary, over_trials: Callable[[], Summary | None]) -> Summary | None:
    from passband.errors import InvalidInput

    request = summary.request
    if request.over == "trials" or request.method != "auto" or request.population is not None:
        return None
    if sum(group.n_trials for group in summary.groups) > _MOST_TRIALS:
        return None
    try:
        return over_trials()
    except InvalidInput:  # the bars have one interval then
        return None


def terminal_columns(signs: str) -> int:
    """Return the width of the terminal that is printed to; 0 without one that has the signs."""
    if not sys.stdout.isatty():
        return 0
    try:
        signs.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return 0
    return shutil.get_terminal_size().columns


def print_json(text: str) -> None:
    """Print JSON text; what a terminal would obey is in it by its number, and so the same value."""
    typer.echo("".join(map(_escaped, text)) if _OBEYED.search(text) else text, nl=False)


def _escaped(character: str) -> str:
    if character.isprintable() or character == "\n":
        return character
    return dumps(character)[1:-1] if character > "\uffff" else f"\\u{ord(character):04x}"


def print_notes(lines: Iterable[str]) -> None:
    """Print lines to standard error, control characters escaped; on a terminal, words are whole."""
    width = shutil.get_terminal_size().columns if sys.stderr.isatty() else 0
    for line in lines:
        for part in folded(printable(line), width):
            typer.echo(part, err=True)


def folded(line: str, width: int) -> list[str]:
    """Return a line in parts of a width, if there is one; a command, which is indented, is whole.

    >>> folded("Intervals are for problems like these", 20)
    ['Intervals are for', '  problems like', '  these']
    """
    if not width or len(line) <= width or line.startswith("  "):
        return [line]
    return textwrap.wrap(
        line, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )
