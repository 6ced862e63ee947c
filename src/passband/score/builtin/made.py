"""`code`: whether the program in an answer passes the tests of its problem.

`command`: a score that a program of yours gives, in the sandbox.

`judge`: the verdict of a model by a rubric; see `passband.score.judge`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from passband.errors import InvalidInput, PassbandError
from passband.score.registry import ScorerFunction, scorers

if TYPE_CHECKING:
    from passband.score.filtering import FilterStep
    from passband.score.judge.scorer import JudgeScorer
    from passband.score.scorer import Reference, Scorer

__all__ = ["code", "command", "judge"]


def code(
    answer: str,
    reference: Reference,
    *,
    timeout: float = 3.0,
    memory: float = 1024,
    verdict: str = "split",
    compare: str = "lines",
    tolerance: float | None = 0.0,
) -> float:
    """Return 1 if the program in an answer passes the tests in its problem's row, else 0.

    timeout: seconds of processor time for one problem, or for one of several inputs; twice as many
        pass on the clock before a program that waits is stopped.
    memory: megabytes of each process.
    verdict: "split" keeps tests and program in two processes, so that no program can forge its
        verdict; "same" is for tests that pass objects other than plain data.
    compare, tolerance: how outputs are compared (`passband.score.code.output`).
    """
    raise InvalidInput("programs are scored by a scorer: make_scorer('code').")


def _made(name: str, options: Mapping[str, Any], steps: Sequence[FilterStep]) -> Scorer:
    from passband.score.code.scorer import CodeScorer

    return CodeScorer(name, options, steps)


scorers.add(
    "code",
    ScorerFunction(
        "code", code, bounds=(0.0, 1.0), takes_target=False, takes_reference=True, slow=True,
        equates=False, make=_made,
    ),
)  # fmt: skip


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


def _made_command(name: str, options: Mapping[str, Any], steps: Sequence[FilterStep]) -> Scorer:
    from passband.score.command import CommandScorer

    return CommandScorer(name, options, steps)


scorers.add(
    "command",
    ScorerFunction(
        "command", command, bounds=(0.0, 1.0), takes_target=False, takes_reference=True, slow=True,
        equates=False, make=_made_command,
    ),
)  # fmt: skip


def judge(answer: str, target: str, **options: Any) -> NoReturn:
    """Raise: a judge is asked by a run, and is no function of two texts."""
    raise PassbandError("a judge scores trials of a run; there is none here.")


def _make(name: str, options: Mapping[str, Any], steps: Sequence[FilterStep]) -> JudgeScorer:
    from passband.score.judge.options import JudgeOptions
    from passband.score.judge.scorer import JudgeScorer

    return JudgeScorer(name, JudgeOptions.of(options), steps)


scorers.add(
    "judge",
    ScorerFunction(
        "judge", judge, bounds=(0.0, 1.0), is_async=True, slow=True, equates=False, make=_make
    ),
)
