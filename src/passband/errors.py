"""Every error and warning that passband raises on purpose, and the exit codes of the command.

PassbandError
└── InvalidInput(ValueError)         an argument or a file breaks a rule
    ├── WrongType(TypeError)         the argument is of a kind that cannot be read
    ├── ConflictingArguments(TypeError)   one quantity was given twice
    ├── UnknownName(LookupError)     no metric, column or file type of that name
    ├── NotEnoughData                the metric needs more trials than there are
    └── ScoreBookError               a data set for an adaptive test, or its split, cannot be used
PassbandWarning(UserWarning)         the number is right, but easy to misread
"""

from __future__ import annotations

import difflib
import enum
import sys
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


class ExitCode(enum.IntEnum):
    """Exit codes of the `passband` command."""

    OK = 0
    FAILED = 1  # it failed or stopped early
    USAGE = 2  # wrong options, files or names
    REGRESSION = 3  # gate: worse, beyond noise
    UNDECIDED = 4  # gate: the data do not decide
    BUSY = 5  # another process has the run directory
    DISK_FULL = 6  # the disk is nearly full
    INTERRUPTED = 130  # SIGINT
    TERMINATED = 143  # SIGTERM


class PassbandError(Exception):
    """Base of every error that passband raises on purpose."""

    exit_code: ExitCode = ExitCode.FAILED

    def lines(self) -> list[str]:
        """Return the message; a line break in it is part of a name unless a class says more."""
        return [str(self)]


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file."""

    file: Path
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class InvalidInput(PassbandError, ValueError):
    """An argument or a file breaks a rule; the message names it, the rule and the value.

    Where the mistake is in a file, `place` is its line; the text of the error begins with it.

    >>> str(InvalidInput("repeats must be 1 or more.", place=Place(Path("sums.yaml"), 6)))
    'sums.yaml:6: repeats must be 1 or more.'
    """

    exit_code = ExitCode.USAGE

    def __init__(self, *args: object, place: Place | None = None) -> None:
        super().__init__(*args)
        self.place = place

    @property
    def message(self) -> str:
        """The text without the place."""
        return super().__str__()

    def __str__(self) -> str:
        return self.message if self.place is None else f"{self.place}: {self.message}"


class WrongType(InvalidInput, TypeError):
    """An argument is of a kind that cannot be read."""


class ConflictingArguments(InvalidInput, TypeError):
    """The same quantity was given by two arguments."""


class UnknownName(InvalidInput, LookupError):
    """A name that nothing is registered under."""


class NotEnoughData(InvalidInput):
    """The metric needs more trials than any problem has."""


class ScoreBookError(InvalidInput):
    """A data set for an adaptive test, or one of its splits, is missing or badly named."""


class PassbandWarning(UserWarning):
    """The number is right, but something about the input makes it easy to misread."""


def describe(error: BaseException, most: int = 200) -> str:
    """Return the type and message of an error on one line, cut to `most` characters.

    >>> describe(ValueError("no"))
    'ValueError: no'
    """
    try:
        message = " ".join(str(error).split())
    except Exception:  # the error of a user's class may fail to say what it is
        message = "?"
    name = type(error).__name__
    return (f"{name}: {message}" if message else name)[:most]


def nearest(name: str, known: Iterable[str]) -> str:
    """Return " Did you mean 'x'?" for the closest known name, or nothing.

    >>> nearest("pas", ["pass", "maj"])
    " Did you mean 'pass'?"
    >>> nearest("zzz", ["pass", "maj"])
    ''
    """
    lowered = {candidate.lower(): candidate for candidate in known}
    matches = difflib.get_close_matches(name.lower(), list(lowered), n=1, cutoff=0.6)
    return f" Did you mean {lowered[matches[0]]!r}?" if matches else ""


def warn(message: str) -> None:
    """Warn, pointing at the line outside passband that led here."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("passband."):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, PassbandWarning, stacklevel=level)
