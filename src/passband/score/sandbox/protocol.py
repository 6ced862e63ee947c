"""The protocol of a sandbox: a job and its limits in, a verdict or an ended program out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from passband.score.sandbox.job import Command, UnitTests
from passband.score.sandbox.limits import Limits
from passband.score.sandbox.result import Finished, Verdict

__all__ = ["Sandbox"]


class Sandbox(Protocol):
    """A place to run programs in. Any thread may call; calls block.

    Every call raises `SandboxFailed` if the sandbox itself failed, three times in a row.
    """

    name: str  # "bubblewrap", "docker", "podman", "none"
    is_isolated: bool  # False: a program can do whatever the user can

    @property
    def identity(self) -> Mapping[str, str]:
        """What verdicts depend on beside the program, the tests and the limits."""
        ...

    def check(self, tests: UnitTests, limits: Limits, hash_seed: int = 0) -> Verdict:
        """Run unit tests; nothing that the program does can make a failed test pass."""
        ...

    def run_program(self, program: str, stdin: str, limits: Limits, hash_seed: int = 0) -> Finished:
        """Run a Python program in a warm interpreter."""
        ...

    def run(self, command: Command) -> Finished:
        """Run a command in a folder with some files."""
        ...

    def close(self) -> None:
        """End the processes that wait for work; a later call starts new ones."""
        ...
