"""Run programs that models wrote where they can do no harm and cannot forge their verdict.

`find_sandbox` returns the sandbox of this machine: see `passband.score.sandbox.protocol` for what
it offers, and `passband doctor` for whether it holds.
"""

from passband.score.sandbox.find import find_sandbox, policy
from passband.score.sandbox.protocol import (
    DEFAULT,
    CommandJob,
    Limits,
    NeedsSameInterpreter,
    ProgramExit,
    ProgramVerdict,
    Sandbox,
    SandboxFailed,
    UnitTests,
)

__all__ = [
    "DEFAULT",
    "CommandJob",
    "Limits",
    "NeedsSameInterpreter",
    "ProgramExit",
    "ProgramVerdict",
    "Sandbox",
    "SandboxFailed",
    "UnitTests",
    "find_sandbox",
    "policy",
]
