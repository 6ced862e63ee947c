"""What a sandbox answers: a verdict on a program, or how a command ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from passband.errors import InvalidInput, PassbandError

__all__ = ["Finished", "NeedsSameInterpreter", "SandboxFailed", "Verdict", "VerdictStatus"]

VerdictStatus = Literal["passed", "failed", "timed_out", "crashed", "did_not_compile"]


class SandboxFailed(PassbandError):
    """The sandbox did not start, died, or was starved, each time it was tried: no verdict."""


class NeedsSameInterpreter(InvalidInput):
    """The tests pass something to the program that is no plain data."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of unit tests."""

    status: VerdictStatus
    detail: str | None = None  # the failing line of the test, the error, the signal
    seconds: float = 0.0
    cpu_seconds: float = 0.0  # of the program
    memory: int = 0  # bytes that the program had in memory at most

    @property
    def passed(self) -> bool:
        return self.status == "passed"


@dataclass(frozen=True, slots=True)
class Finished:
    """How a program or a command ended."""

    exit: int  # the exit status; minus the number of the signal that ended it
    timed_out: bool = False
    stdout: str = ""
    stderr: str = ""
    is_cut: bool = False  # there was more output than is kept
    compiled: bool = True  # False: not a Python program; `stderr` has the error
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    memory: int = 0  # bytes
