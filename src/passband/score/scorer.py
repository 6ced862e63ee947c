"""The protocol of a scorer: a completion and its reference in, one score out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

from passband.trials.rows import ScoreStatus

__all__ = [
    "NotScoredYet",
    "Reference",
    "Score",
    "ScoreStatus",
    "ScoredTrial",
    "Scorer",
    "Truncated",
]

Truncated = Literal["leave", "score"]  # what to do with completions that were cut off


@dataclass(frozen=True, slots=True)
class Reference:
    """The targets, choices and data row that a completion is compared with."""

    targets: tuple[str, ...]  # any of them is right
    choices: tuple[str, ...] = ()
    doc: Mapping[str, Any] = field(default_factory=dict)  # the problem's row of the data set


@dataclass(frozen=True, slots=True)
class ScoredTrial:
    """One trial as a scorer may see it, beside the answer extracted from its text."""

    text: str | None
    reasoning: str | None = None  # where the server keeps it apart from the text
    transcript: Sequence[Mapping[str, Any]] | None = None  # messages and tool calls of an agent
    status: str = "ok"
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    problem: int | None = None  # position of its problem in the run
    trial: int | None = None


class NotScoredYet(Exception):
    """There is no score now, but may be one later: the trial stays as if it was never scored."""


class Score(NamedTuple):
    """One score. No answer counts as incorrect; other failures have no value at all."""

    value: float | None
    status: ScoreStatus = "ok"
    answer: str | None = None  # what was compared, after extraction
    rule: str | None = None  # the extraction rule that fired
    detail: str | None = None  # the message of an error or a timeout


class Scorer(Protocol):
    """A named way to score a completion."""

    name: str  # as in results and exports: "exact_match", "exact_match,strict-match"
    identity: str  # everything that its scores depend on; same identity, same scores
    slow: bool  # whether one score may take milliseconds, so that it must not block the run
    is_async: bool  # whether `score_async` awaits, so that many scores can be under way at once
    takes_trial: bool  # whether it looks at more of a trial than its text

    @property
    def spec(self) -> Mapping[str, Any] | None:
        """Arguments of `passband.score.pipeline.make_scorer` that make this scorer again.

        Plain values, as JSON holds them; None for a scorer that consists of a task's own code.
        """
        ...

    def score(
        self, text: str | None, reference: Reference, trial: ScoredTrial | None = None
    ) -> Score:
        """Score one completion; never raises for anything that a model can write."""
        ...

    async def score_async(
        self, text: str | None, reference: Reference, trial: ScoredTrial | None = None
    ) -> Score:
        """Score one completion, letting others go on where the scorer waits."""
        ...

    def same(self, one: str, other: str) -> bool:
        """Return whether two extracted answers are the same answer, for majority votes."""
        ...

    def close(self) -> None:
        """End worker processes, where there are any."""
        ...
