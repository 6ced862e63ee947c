"""The first line on a terminal, before anything is loaded: a run has begun.

What follows is written over it: the line ends in a carriage return, and every message is longer.
Nothing is imported here that takes time.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

__all__ = ["close_opening", "show_opening"]

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
