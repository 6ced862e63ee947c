"""What a scorer is: a completion and what was expected in, one score out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

from passband.trials.rows import ScoreStatus

__all__ = ["Reference", "Score", "ScoreStatus", "Scorer", "Truncated"]

Truncated = Literal["leave", "score"]  # what to do with completions that were cut off


@dataclass(frozen=True, slots=True)
class Reference:
    """What a completion is compared with."""

    targets: tuple[str, ...]  # any of them is right
    choices: tuple[str, ...] = ()
    doc: Mapping[str, Any] = field(default_factory=dict)  # the problem's row of the data set


class Score(NamedTuple):
    """One score. No answer counts as incorrect; an error or a timeout has no value at all."""

    value: float | None
    status: ScoreStatus = "ok"
    answer: str | None = None  # what was compared, after extraction
    rule: str | None = None  # the extraction rule that fired
    detail: str | None = None  # what went wrong, where something did


class Scorer(Protocol):
    """A named way to score a completion."""

    name: str  # as in results and exports: "exact_match", "exact_match,strict-match"
    identity: str  # everything that its scores depend on; same identity, same scores
    slow: bool  # whether one score may take milliseconds, so that it must not block the run

    def score(self, text: str | None, reference: Reference) -> Score:
        """Score one completion; never raises for anything that a model can write."""
        ...

    def same(self, one: str, other: str) -> bool:
        """Tell whether two extracted answers are the same answer, for majority votes."""
        ...

    def close(self) -> None:
        """End worker processes, where there are any."""
        ...
