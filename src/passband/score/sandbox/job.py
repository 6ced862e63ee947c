"""What a sandbox is asked to do: unit tests of a program, or a command with files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from passband.score.sandbox.limits import DEFAULT, Limits

__all__ = ["Command", "UnitTests", "VerdictMode"]

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
class Command:
    """A command, the files in the folder that it starts in, and what it reads."""

    command: tuple[str, ...]
    files: Mapping[str, bytes] = field(default_factory=dict)
    stdin: str | bytes = ""
    limits: Limits = DEFAULT
