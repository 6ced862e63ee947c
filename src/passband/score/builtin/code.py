"""`code`: whether the program in an answer passes the tests of its problem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from passband.errors import InvalidInput
from passband.score.registry import ScorerFunction, scorers

if TYPE_CHECKING:
    from passband.score.filters import FilterStep
    from passband.score.scorer import Reference, Scorer

__all__ = ["code"]


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
