"""What became of programs: their outcomes, and how many verdicts were others in a re-run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class ProgramResult:
    """The outcomes of the programs of a group, and its verdicts that were given again."""

    outcomes: Mapping[str, int] = field(hash=False)  #: "passed", "failed", "timed out", ...
    missing: int  #: answers without a program
    again: int = 0  #: verdicts that were given again
    gained: int = 0  #: of them, failed first and then passed
    lost: int = 0  #: of them, passed first and then failed
    low: float | None = None  #: of the share of verdicts that change, by Jeffreys' interval
    high: float | None = None
    late: int = 0  #: programs that timed out and pass in twice the time
