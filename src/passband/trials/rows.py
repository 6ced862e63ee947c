"""The rows of the trials table, as they are written and as they are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

LOWER_IS_BETTER = "lower_is_better"
"""Column of exports of runs whose lower scores are better; of another scorer, with its name."""

Status = Literal[
    "ok", "truncated", "refused", "invalid", "gave_up", "limit", "errored", "tool_call", "unknown"
]
STATUSES: tuple[Status, ...] = (
    "ok", "truncated", "refused", "invalid", "gave_up", "limit", "errored", "tool_call", "unknown",
)  # fmt: skip
"""What became of a trial. The number that is stored is the position here, so only append.

ok         the model answered
truncated  it was cut off at the limit of tokens
refused    the model declined, or a content filter withheld the answer or turned the prompt away
invalid    what came back, time after time, was not an answer
gave_up    nothing came back, time after time, while others were answered
limit      the task stopped it: too many messages, too much time, too many tokens in all
errored    the task's own code failed: its solver, its tools, its sandbox
tool_call  the model asked for a tool instead of answering
unknown    it ended for a reason that passband does not know, or for none
"""

FAILED: tuple[Status, ...] = ("invalid", "gave_up", "errored")  # what may be asked again

ScoreStatus = Literal["ok", "no_answer", "error", "timeout", "no_verdict"]
SCORE_STATUSES: tuple[ScoreStatus, ...] = ("ok", "no_answer", "error", "timeout", "no_verdict")
"""The status of a score; stored as the position here. Only the first two have a value.

no_verdict: a judge was asked, and its reply could not be read as a verdict.
"""

CallStatus = Literal["ok", "no_verdict", "truncated", "refused", "failed"]
CALL_STATUSES: tuple[CallStatus, ...] = ("ok", "no_verdict", "truncated", "refused", "failed")
"""What became of a call to a judge. The number that is stored is the position here: only append.

ok          the reply holds a verdict
no_verdict  the reply holds none, or two that differ
truncated   the reply was cut off at the limit of tokens
refused     the judge declined, or a content filter withheld its reply or turned the prompt away
failed      no reply came back; `outcome`, `http` and `detail` say why
"""


@dataclass(frozen=True, slots=True)
class ProblemRow:
    """One problem of a run; its key says which one it is, its position where the data have it."""

    position: int
    key: str
    record: str  # prompt and reference, as canonical JSON
    cluster: str | None = None


class ScorerEntry(NamedTuple):
    """A scorer as it is entered into a run."""

    name: str
    identity: str  # everything that its scores depend on
    spec: Mapping[str, Any] | None = None  # from which it can be rebuilt; None where it cannot


class ScoreRow(NamedTuple):
    """The score that one scorer gave one trial."""

    scorer: int
    value: float | None
    status: ScoreStatus = "ok"
    answer: str | None = None  # None where it is the whole completion
    rule: str | None = None
    detail: str | None = None


@dataclass(slots=True)
class TrialRow:
    """One trial: what was drawn, at what price, after how many attempts."""

    problem: int  # number of the problem in the store
    trial: int
    status: Status
    text: str | None = None
    reasoning: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    latency_ms: int | None = None
    attempts: int = 1  # 0 where salvaging has lost the number
    seed: int | None = None
    request_id: str | None = None
    scores: list[ScoreRow] = field(default_factory=list)
    transcript: list[dict[str, Any]] | None = None  # messages and tool calls, as JSON values
    cost: float | None = None
    reason: str | None = None  # why a schedule chose it
    source: int | None = None  # where an imported row comes from
    finish_reason: str | None = None  # the server's word, where it says more than the status
    reasoning_tokens: int | None = None  # of `completion_tokens`
    cached_tokens: int | None = None  # of `prompt_tokens`: read from the server's cache


@dataclass(frozen=True, slots=True)
class AttemptRow:
    """One attempt that returned no completion."""

    problem: int
    trial: int
    attempt: int
    at_ms: int  # Unix time
    outcome: str
    http: int | None
    detail: str


@dataclass(frozen=True, slots=True)
class CallRow:
    """One request to a judge: what was asked, as a hash, what came back, and at what price.

    `call` counts the requests that a judge needs for a trial: it is 2 * vote + order, the order
    being 1 where two completions are compared the other way round. `attempt` counts from 1.
    Equal keys stand for equal requests, so that the reply to one answers the other.
    """

    scorer: int
    problem: int  # number of the problem in the store
    trial: int
    call: int
    attempt: int
    key: bytes  # hash of everything that the reply depends on
    at_ms: int  # Unix time
    status: CallStatus
    value: float | None = None  # of the verdict; of a pair, for the completion that is shown first
    reply: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: float | None = None
    latency_ms: int | None = None
    seed: int | None = None
    is_cached: bool = False  # an equal request was replied to before, and nobody was asked
    outcome: str | None = None  # of a failed call, as in `AttemptRow`
    http: int | None = None
    detail: str | None = None

    @property
    def vote(self) -> int:
        """The number of the vote, from 0."""
        return self.call // 2

    @property
    def is_swapped(self) -> bool:
        """Whether a pair was shown the other way round."""
        return self.call % 2 == 1

    @property
    def worth(self) -> float | None:
        """What the verdict is worth to the completion of the trial."""
        return self.value if self.value is None or not self.is_swapped else 1.0 - self.value
