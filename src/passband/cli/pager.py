"""Printing what may be longer than the screen: through a pager on a terminal, and plainly else."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import PurePath

import typer

from passband.report.show.style import TerminalStyle

__all__ = ["pager_command", "print_lines", "style_of"]

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
    """Return whether a pager shows colours as such: less, where it is not told otherwise."""
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
