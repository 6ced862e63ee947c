"""Register the scorers that are more than a function: `code`, `command` and `judge`."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from passband.errors import InvalidInput, PassbandError
from passband.score.registry import ScorerFunction, scorers

if TYPE_CHECKING:
    from passband.score.filtering import FilterStep
    from passband.score.scorer import Options, Reference, Scorer


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


def command(
    answer: str,
    reference: Reference,
    *,
    command: Sequence[str],
    files: Sequence[str] | Options = (),
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


def judge(answer: str, target: str, **options: object) -> NoReturn:
    """Raise: a judge is asked by a run, and is no function of two texts."""
    raise PassbandError("a judge scores trials of a run; there is none here.")


# The scorers are imported when one is made: each brings a sandbox or a judge along.


def _make_code(name: str, options: Options, steps: Sequence[FilterStep]) -> Scorer:
    from passband.score.code.scorer import CodeScorer

    return CodeScorer(name, options, steps)


def _make_command(name: str, options: Options, steps: Sequence[FilterStep]) -> Scorer:
    from passband.score.command import CommandScorer

    return CommandScorer(name, options, steps)


def _make_judge(name: str, options: Options, steps: Sequence[FilterStep]) -> Scorer:
    from passband.score.judge.options import JudgeOptions
    from passband.score.judge.scorer import JudgeScorer

    return JudgeScorer(name, JudgeOptions.of(options), steps)


_made = functools.partial(ScorerFunction, bounds=(0.0, 1.0), slow=True, equates=False)
_of_row = functools.partial(_made, takes_target=False, takes_reference=True)
scorers.add("code", _of_row("code", code, make=_make_code))
scorers.add("command", _of_row("command", command, make=_make_command))
scorers.add("judge", _made("judge", judge, is_async=True, make=_make_judge))
