"""Printing: rows and JSON to standard output, remarks and notes to standard error.

Printing what may be longer than the screen: through a pager on a terminal, and plainly else.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from json import dumps
from pathlib import PurePath
from typing import TYPE_CHECKING

import typer

from passband.report import Row, TerminalStyle, printable, render

if TYPE_CHECKING:
    from passband.report import Style
    from passband.summary import Summary


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
    from passband.report import LEAST_COLUMNS, LEGEND, SIGNS, barred_rows, rows, spread_lines

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


_WIDEST, _NARROWEST = 120, 40


def style_of(*, pager: bool = True, environment: Mapping[str, str] | None = None) -> TerminalStyle:
    """Return the style of standard output: as wide as it is, with colours if it shows them."""
    env = os.environ if environment is None else environment
    columns = shutil.get_terminal_size((80, 24)).columns
    colour = _is_terminal() and not env.get("NO_COLOR") and env.get("TERM") != "dumb"
    command = pager_command(env) if pager and _is_terminal() else None
    if command is not None and not _passes_colours(command, env):
        colour = False
    return TerminalStyle(min(_WIDEST, max(_NARROWEST, columns)), colour, _has_unicode())


def pager_command(environment: Mapping[str, str]) -> list[str] | None:
    """Return the pager to use: PAGER, or less; None where there is to be none.

    >>> pager_command({"PAGER": "cat"}) is None, pager_command({"TERM": "dumb"}) is None
    (True, True)
    """
    text = environment.get("PAGER", "less")
    try:
        words = shlex.split(text)
    except ValueError:  # a quote that is never closed
        return None
    if not words or words == ["cat"] or environment.get("TERM") == "dumb":
        return None
    return words if shutil.which(words[0], path=environment.get("PATH")) else None


def _passes_colours(command: list[str], environment: Mapping[str, str]) -> bool:
    """Return whether a pager shows colours as such: less, unless its options say otherwise."""
    if PurePath(command[0]).name != "less":
        return False
    options = environment.get("LESS", "-R") + " ".join(command[1:])
    return "R" in options or "r" in options or "--raw" in options.lower()


def print_lines(lines: Iterable[str], *, pager: bool = True) -> None:
    """Print lines as they come, through a pager if standard output is a terminal."""
    command = pager_command(os.environ) if pager and _is_terminal() else None
    if command is None:
        for line in lines:
            typer.echo(line)
        return
    environment = {"LESS": "-FRX", "LV": "-c", **os.environ}
    process = subprocess.Popen(command, stdin=subprocess.PIPE, env=environment)
    assert process.stdin is not None
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the pager's
    try:
        with suppress(BrokenPipeError):  # the reader has seen enough
            for line in lines:
                process.stdin.write(_encoded(line))
    finally:
        with suppress(BrokenPipeError):
            process.stdin.close()  # else the pager would wait for more
        process.wait()
        signal.signal(signal.SIGINT, before)


def _encoded(line: str) -> bytes:
    return f"{line}\n".encode(sys.stdout.encoding or "utf-8", "backslashreplace")


def _is_terminal() -> bool:
    return sys.stdout.isatty()


def _has_unicode() -> bool:
    try:
        "\u2500\u2026".encode(getattr(sys.stdout, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
