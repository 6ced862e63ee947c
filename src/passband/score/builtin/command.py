"""`command`: a score that a program of yours gives, in the sandbox."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from passband.errors import InvalidInput
from passband.score.registry import ScorerFunction, scorers

if TYPE_CHECKING:
    from passband.score.filters import FilterStep
    from passband.score.scorer import Reference, Scorer

__all__ = ["command"]


def command(
    answer: str,
    reference: Reference,
    *,
    command: Sequence[str],
    files: Sequence[str] | Mapping[str, Any] = (),
    timeout: float = 10.0,
    memory: float = 4096,
) -> float:
    """Return the score from 0 to 1 that a command writes for an answer.

    The command reads one JSON object on standard input, with answer, targets, choices, doc (the
    problem's row), text, reasoning and status, and writes one: {"score": 0.5, "detail": "..."}.
    Anything else is an error, and so no score.

    command: the words of the command; programs in /usr can be named without their folder.
    files: names of files beside the task file, which the command finds where it starts.
    timeout: seconds of processor time; twice as many may pass on the clock.
    memory: megabytes of address space of each process.
    """
    raise InvalidInput("commands are run by a scorer: make_scorer('command', options={...}).")


def _made(name: str, options: Mapping[str, Any], steps: Sequence[FilterStep]) -> Scorer:
    from passband.score.command import CommandScorer

    return CommandScorer(name, options, steps)


scorers.add(
    "command",
    ScorerFunction(
        "command", command, bounds=(0.0, 1.0), takes_target=False, takes_reference=True, slow=True,
        equates=False, make=_made,
    ),
)  # fmt: skip
