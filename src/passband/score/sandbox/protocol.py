"""The protocol of a sandbox: a job and its limits in, a verdict or an ended program out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Literal, Protocol, TypeGuard

from passband.errors import InvalidInput, PassbandError


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one trial; beyond them it is stopped, and the sandbox lives on.

    Memory counts for each process of a trial, disk for all of its files together. The wall clock
    is twice the processor time by default: a trial that runs out of the first long before the
    second was kept waiting by others, and is run again.

    >>> Limits(wall=10).cpu
    3.0
    """

    wall: float = 6.0  # seconds from start to end
    cpu: float = 3.0  # seconds of processor time; the kernel counts them whole
    memory: int = 1 << 30  # bytes of address space, each process
    disk: int = 16 << 20  # bytes in files, all of them gone after the trial
    processes: int = 8  # processes and threads at a time
    files: int = 64  # open at a time
    output: int = 64 << 10  # bytes kept of standard output, and of standard error

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if not (is_number(value) and value > 0):
                raise InvalidInput(f"limit {name!r} must be a number above 0; got {value!r}.")


def is_number(value: object) -> TypeGuard[float]:
    """Return whether a value is a finite number, which no truth value is."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return math.isfinite(value)


DEFAULT = Limits()


# split: program and tests in two processes, with plain data between them.
# same: in one interpreter, where the program can forge the verdict.
VerdictMode = Literal["split", "same"]


@dataclass(frozen=True, slots=True)
class UnitTests:
    """A program and the tests of one of its functions.

    The test is run with the function under its own name and as `candidate`; if it defines `check`,
    that is called with the function. The prompt is run before the test, for the helpers in it.
    """

    program: str  # complete: what the prompt defines is in it
    test: str
    entry_point: str
    prompt: str = ""
    verdict: VerdictMode = "split"


@dataclass(frozen=True, slots=True)
class CommandJob:
    """A command, the files in its working folder, and its standard input."""

    command: tuple[str, ...]
    files: Mapping[str, bytes] = field(default_factory=dict)
    stdin: str | bytes = ""
    limits: Limits = DEFAULT


VerdictStatus = Literal["passed", "failed", "timed_out", "crashed", "did_not_compile"]


class SandboxFailed(PassbandError):
    """The sandbox did not start, died, or was starved, each time it was tried: no verdict."""


class NeedsSameInterpreter(InvalidInput):
    """The tests pass something to the program that is no plain data."""


@dataclass(frozen=True, slots=True)
class ProgramVerdict:
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
class ProgramExit:
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


class Sandbox(Protocol):
    """A place to run programs in. Any thread may call; calls block.

    Every call raises `SandboxFailed` if the sandbox itself failed, three times in a row.
    """

    name: str  # "bubblewrap", "docker", "podman", "none"
    is_isolated: bool  # False: a program can do whatever the user can

    @property
    def identity(self) -> Mapping[str, str]:
        """The facts that verdicts depend on beside the program, the tests and the limits."""
        ...

    def check(self, tests: UnitTests, limits: Limits, hash_seed: int = 0) -> ProgramVerdict:
        """Run unit tests; no program can make a failed test pass."""
        ...

    def run_program(
        self, program: str, stdin: str, limits: Limits, hash_seed: int = 0
    ) -> ProgramExit:
        """Run a Python program in a warm interpreter."""
        ...

    def run(self, command: CommandJob) -> ProgramExit:
        """Run a command in a folder with some files."""
        ...

    def close(self) -> None:
        """End the processes that wait for work; a later call starts new ones."""
        ...
