"""Calls of a judge: a request, its reply, and the client that a run asks through."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from passband.errors import PassbandError
from passband.score.judge.prompt import JudgeTurn
from passband.score.judge.verdict import JudgeVerdict, read_verdict


class CallFailed(PassbandError):
    """The judge will never reply to this request."""


@dataclass(frozen=True, slots=True)
class JudgeCall:
    """A request to a judge; two with the same key have the same content and are one reply."""

    problem: int  # its position in the run
    trial: int
    vote: int
    order: int  # of a pair: 0 as it is, 1 swapped
    attempt: int  # 1, or 2 where a reply without a verdict is asked for again
    turns: tuple[JudgeTurn, ...]
    scale: Mapping[str, float]
    key: str

    @property
    def number(self) -> int:
        """Its place among the calls of its trial, the attempts at one of them being the same."""
        return 2 * self.vote + self.order

    def read(self, reply: str | None, *, is_complete: bool) -> JudgeVerdict:
        """Return the verdict of a reply."""
        return read_verdict(reply, tuple(self.scale), is_complete=is_complete)


class Reply(NamedTuple):
    """The reply of a judge, new or from the record of an earlier request."""

    text: str | None
    is_complete: bool = True
    is_reused: bool = False


class RecordedReply(NamedTuple):
    """A reply that is on disk, and its verdict."""

    reply: Reply
    verdict: JudgeVerdict


class JudgedProblem(NamedTuple):
    """A problem as a judge is shown it."""

    key: str
    question: str


class JudgeClient(Protocol):
    """Asks a judge on behalf of a scorer; implemented by the run."""

    def problem(self, position: int) -> JudgedProblem:
        """Return the name and the question of a problem."""
        ...

    def other(self, problem: str, trial: int) -> str | None:
        """Return the answer of another run to the same problem; None if it has none."""
        ...

    async def ask(self, call: JudgeCall) -> RecordedReply:
        """Return the recorded reply of the same content, or ask; record it before it counts.

        Raises `NotScoredYet` where there is no reply now but may be one later, and `CallFailed`
        where there will be none.
        """
        ...


def content_key(
    judge: str, problem: str, texts: Mapping[str, str], position: Sequence[int], earlier: str = ""
) -> str:
    """Return the key of a recorded reply: a hash of everything but its seed.

    `judge` is the identity of the judge and its rubric, `texts` are the values of its variables,
    `position` are vote, order and attempt, `earlier` is the reply that a second attempt follows.
    """
    content: list[object] = [judge, problem, sorted(texts.items()), list(position), earlier]
    text = json.dumps(content, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]
