"""The rows of the trials table, as they are written and as they are read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

__all__ = [
    "FAILED",
    "SCORE_STATUSES",
    "STATUSES",
    "AttemptRow",
    "ProblemRow",
    "ScoreRow",
    "ScoreStatus",
    "Status",
    "TrialRow",
]

Status = Literal["ok", "truncated", "refused", "invalid", "gave_up"]
STATUSES: tuple[Status, ...] = ("ok", "truncated", "refused", "invalid", "gave_up")
"""What became of a trial. The number that is stored is the position here, so only append.

ok         the model answered
truncated  it was cut off at the limit of tokens
refused    a content filter withheld the answer, or turned the prompt away
invalid    what came back, time after time, was not an answer
gave_up    nothing came back, time after time, while others were answered
"""

FAILED: tuple[Status, ...] = ("invalid", "gave_up")  # what may be asked again

ScoreStatus = Literal["ok", "no_answer", "error", "timeout"]
SCORE_STATUSES: tuple[ScoreStatus, ...] = ("ok", "no_answer", "error", "timeout")
"""What became of a score; stored as the position here. Only the first two have a value."""


@dataclass(frozen=True, slots=True)
class ProblemRow:
    """One problem of a run, in the order of its data set."""

    position: int
    key: str
    record: str  # prompt and reference, as canonical JSON
    cluster: str | None = None


class ScoreRow(NamedTuple):
    """What one scorer said of one trial."""

    scorer: int
    value: float | None
    status: ScoreStatus = "ok"
    answer: str | None = None  # None where it is the whole completion
    rule: str | None = None
    detail: str | None = None


@dataclass(slots=True)
class TrialRow:
    """One trial: what was drawn, at what price, after how many attempts."""

    problem: int  # position of the problem
    trial: int
    status: Status
    text: str | None = None
    reasoning: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    latency_ms: int | None = None
    attempts: int = 1
    seed: int | None = None
    request_id: str | None = None
    scores: list[ScoreRow] = field(default_factory=list)
    transcript: list[dict[str, Any]] | None = None
    cost: float | None = None
    reason: str | None = None  # why a schedule chose this trial
    source: int | None = None


@dataclass(frozen=True, slots=True)
class AttemptRow:
    """One attempt that gave nothing."""

    problem: int
    trial: int
    attempt: int
    at_ms: int  # Unix time
    outcome: str
    http: int | None
    detail: str
