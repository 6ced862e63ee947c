"""Probes of a sandbox: programs that try to escape or to forge a verdict, and must fail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from passband.errors import InvalidInput
from passband.score.sandbox.zygotes import Zygotes

__all__ = ["Kind", "Probe"]

Kind = Literal["escape", "leak", "forgery"]


@dataclass(frozen=True)
class Probe:
    """An attempt, and how to see whether it was stopped.

    `got_through` needs a sandbox with one zygote, so that consecutive trials run in the same one.
    """

    name: str
    kind: Kind
    attempt: Callable[[Zygotes], str | None]
    is_quick: bool = False  # milliseconds, and tried before every run

    def got_through(self, sandbox: Zygotes) -> str | None:
        """Return the breach, or None if the sandbox held.

        Refuses to try without a sandbox: an attempt that nothing stops may do harm.
        """
        if not sandbox.is_isolated:
            raise InvalidInput(f"probe {self.name!r} needs a sandbox; {sandbox.name!r} is none.")
        return self.attempt(sandbox)
