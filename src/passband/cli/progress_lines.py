"""The first line on a terminal, before anything is loaded: a run has begun.

What follows is written over it: the line ends in a carriage return, and every message is longer.
Nothing is imported here that takes time.

How far the scoring of recorded trials is, as one line on standard error.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from typing import IO

from passband.report import printable

_LINE = "starting ...\r"
_SILENT = {"-q", "--quiet", "--json", "--dry-run", "--help"}


def show_opening(arguments: Sequence[str]) -> bool:
    """Show that a run has begun, if someone is watching; return whether it was shown."""
    is_run = arguments[:1] == ["run"] and not _SILENT.intersection(arguments)
    if not is_run or not _is_terminal():
        return False
    sys.stderr.write(_LINE)
    sys.stderr.flush()
    return True


def close_opening() -> None:
    """Erase what may be left of the line, at the end of a command that wrote nothing over it."""
    if not sys.stderr.closed and _is_terminal():
        sys.stderr.write("\x1b[K")
        sys.stderr.flush()


def _is_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


_EVERY = 0.5  # seconds between two lines


class JudgeLine:
    """A line that is written over on terminals; notes and warnings have lines of their own."""

    def __init__(
        self, out: IO[str] | None = None, *, quiet: bool = False, word: str = "judged"
    ) -> None:
        self._word = word
        self._out = out or sys.stderr
        self._is_live = self._out.isatty() and not quiet
        self._quiet, self._shown, self._began, self._next = quiet, 0, time.monotonic(), 0.0

    def judged(self, trials: int) -> None:
        """Show how many trials are judged, or scored, at most twice a second."""
        now = time.monotonic()
        if self._is_live and now >= self._next:
            self._next = now + _EVERY
            rate = trials / max(now - self._began, 1e-9)
            self._write(f"{self._word} {trials} trials, {rate:.3g}/s")

    def note(self, text: str) -> None:
        """Show what the user should know even if nothing is wrong."""
        if not self._quiet:
            self._say(text)

    def warn(self, text: str) -> None:
        """Show what the user should not miss."""
        self._say(f"warning: {text}")

    def clear(self) -> None:
        """Remove the line, before a table takes its place."""
        if self._shown:
            self._write("")

    def _say(self, text: str) -> None:
        self.clear()
        self._out.write(f"{printable(text)}\n")
        self._out.flush()

    def _write(self, line: str) -> None:
        self._out.write(f"\r{line.ljust(self._shown)}\r")
        self._out.flush()
        self._shown = len(line)
