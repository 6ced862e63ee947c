"""Scorers: a completion and its reference in, one score out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from passband.trials import ScoreStatus

_DETAIL = 200  # characters of an error that are kept
Options = Mapping[str, Any]  # plain values by name, as JSON holds them
Doc = Mapping[str, Any]  # a row of a data set
Truncated = Literal["leave", "score"]  # what to do with completions that were cut off


@dataclass(frozen=True, slots=True)
class Reference:
    """The targets, choices and data row that a completion is compared with."""

    targets: tuple[str, ...]  # any of them is right
    choices: tuple[str, ...] = ()
    doc: Doc = field(default_factory=dict)  # the problem's row of the data set


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
    """There is no score yet: the trial stays unscored, and may be scored later."""


class Score(NamedTuple):
    """One score. No answer counts as incorrect; other failures have no value at all."""

    value: float | None
    status: ScoreStatus = "ok"
    answer: str | None = None  # what was compared, after extraction
    rule: str | None = None  # the extraction rule that fired
    detail: str | None = None  # the message of an error or a timeout


def failed_score(error: Exception) -> Score:
    """Return the score of a trial on which a scorer raised: an error, and no value."""
    return Score(None, "error", detail=f"{type(error).__name__}: {error}"[:_DETAIL])


class Scorer(ABC):
    """A named way to score a completion: name, identity and `score`; the rest has defaults."""

    name: str  # as in results and exports: "exact_match", "exact_match,strict-match"
    identity: str  # everything that its scores depend on; same identity, same scores
    slow: bool = False  # whether one score may take milliseconds, so that it must not block a run
    is_async: bool = False  # whether `score_async` awaits, so that many scores can be under way
    takes_trial: bool = False  # whether it looks at more of a trial than its text
    needs_sandbox: bool = False  # whether it runs what a model wrote
    runs_tests: bool = False  # whether it runs tests that come with the problems; see below

    @property
    def spec(self) -> Options | None:
        """Arguments of `passband.score.pipeline.make_scorer` that make this scorer again.

        Plain values, as JSON holds them; None for a scorer that consists of a task's own code.
        """
        return None

    @abstractmethod
    def score(
        self, text: str | None, reference: Reference, trial: ScoredTrial | None = None
    ) -> Score:
        """Score one completion; never raises for anything that a model can write."""

    async def score_async(
        self, text: str | None, reference: Reference, trial: ScoredTrial | None = None
    ) -> Score:
        """Score one completion, letting others go on where the scorer waits."""
        return self.score(text, reference, trial)

    def score_all(self, pairs: Sequence[tuple[str | None, Reference]]) -> list[Score]:
        """Score completions without looking at their trials; an exception costs one score."""
        scores = []
        for text, reference in pairs:
            try:
                scores.append(self.score(text, reference))
            except Exception as error:
                scores.append(failed_score(error))
        return scores

    def same(self, one: str, other: str) -> bool:
        """Return whether two extracted answers are the same answer, for majority votes."""
        return one == other

    def prepare(self) -> None:  # noqa: B027  most scorers need nothing
        """Acquire the resources of scoring; raise `InvalidInput` where they are missing."""

    def close(self) -> None:  # noqa: B027  and hold nothing
        """End worker processes, where there are any."""

    # -- scorers that run tests: the tests may be wrong, and a verdict may be a matter of luck -----

    def fault_of(self, reference: Reference) -> str | None:
        """Return why the tests of a problem can score nothing; None if they look right."""
        return None

    def solution_fault(self, reference: Reference) -> str | None:
        """Return how the reference solution fails its own tests; None if it passes, or is not."""
        return None

    def score_again(
        self, text: str | None, reference: Reference, *, hash_seed: int, times: float = 1.0
    ) -> Score:
        """Score an answer once more, under another hash seed, with `times` as much time."""
        return self.score(text, reference)
