"""One block of trials: attempt after attempt, until there are answers or a reason for none.

Whether to ask again depends on how an attempt failed and never on what the model said, so that
the trials that are recorded are the model's, not the ones somebody liked.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from passband.errors import PassbandError
from passband.generate.provider import (
    Completion,
    Crashed,
    Filtered,
    Hopeless,
    InvalidReply,
    Provider,
    ProviderFault,
    RateLimited,
    Rejected,
    Request,
    TimedOut,
    Unavailable,
)
from passband.run.endpoint import Endpoint
from passband.trials.rows import AttemptRow, Status, TrialRow

__all__ = ["Asker", "BatchRefused", "NothingAnswered", "PendingBatch"]

_STATUS: dict[str, Status] = {"stop": "ok", "length": "truncated", "content_filter": "refused"}
_OUTCOMES: dict[type[ProviderFault], str] = {
    Filtered: "filtered",
    Hopeless: "hopeless",
    Crashed: "crashed",
    InvalidReply: "invalid_reply",
    RateLimited: "rate_limited",
    Rejected: "rejected",
    TimedOut: "timed_out",
    Unavailable: "unavailable",
}


class NothingAnswered(PassbandError):
    """The very first requests failed, so that going on would only repeat it."""


class BatchRefused(Exception):
    """The server does not take requests for several completions."""


@dataclass(slots=True)
class PendingBatch:
    """A block of trials on its way to an answer."""

    problem: int
    trials: Sequence[int]
    request: Request
    attempts: int = 0  # made so far, those of earlier processes included
    failures: int = 0  # of them, failures that are held against it
    replies: int = 0  # of them, invalid replies and timeouts
    limited: int = 0  # of them, turned away before anything was drawn

    @property
    def draws(self) -> int:
        """Attempts that may have drawn an answer; a rate limit draws none."""
        return self.attempts - self.limited

    def failed(self, status: Status) -> list[TrialRow]:
        """Return its rows if it has come to nothing."""
        return [
            TrialRow(self.problem, trial, status, attempts=self.draws, seed=seed)
            for trial, seed in zip(self.trials, self.request.seeds, strict=True)
        ]

    def answered(self, completions: Sequence[Completion], latency_ms: int) -> list[TrialRow]:
        """Return its rows, as many as there are completions."""
        return [
            TrialRow(
                problem=self.problem,
                trial=trial,
                status=_STATUS[each.finish],
                text=each.text,
                reasoning=each.reasoning,
                prompt_tokens=each.prompt_tokens,
                completion_tokens=each.completion_tokens,
                latency_ms=latency_ms,
                attempts=self.draws,
                seed=each.seed,
                request_id=each.request_id,
            )
            for trial, each in zip(self.trials, completions, strict=False)
        ]


class Asker:
    """Asks a provider, in the way that an endpoint allows, and notes each attempt that fails."""

    def __init__(self, provider: Provider, endpoint: Endpoint) -> None:
        self._provider = provider
        self._endpoint = endpoint
        self._patience = endpoint.patience
        self._unanswered = 0
        self.last_loss = ""  # what the last question that was given up failed of

    async def ask(
        self, question: PendingBatch, note: Callable[[AttemptRow], None]
    ) -> list[TrialRow]:
        """Return the rows of a question's trials, perhaps fewer than were asked for."""
        known = self._endpoint.answered
        while True:
            if not self._endpoint.is_clear:
                await self._endpoint.ready()
            question.attempts += 1
            start = time.monotonic()
            try:
                completions = await self._provider.generate(question.request)
                if not completions:
                    raise InvalidReply("the provider gave no completion")
            except ProviderFault as fault:
                note(_attempt(question, _outcome(fault), fault.detail, fault.http))
                status = self._verdict(question, fault, known)
                known = self._endpoint.answered
                if status is not None:
                    return question.failed(status)
                if isinstance(fault, RateLimited):  # `ready` waits for as long as it must
                    continue
            except BaseException as error:
                if isinstance(error, asyncio.CancelledError):  # perhaps drawn, but never seen
                    note(_attempt(question, "cancelled", "the run was stopped"))
                self._endpoint.released()
                raise
            else:
                self._endpoint.succeeded()
                return question.answered(completions, int(1000 * (time.monotonic() - start)))
            await self._endpoint.sleep(self._pause(question.failures + question.replies))

    def _verdict(self, question: PendingBatch, fault: ProviderFault, known: int) -> Status | None:
        """Return what the trials have come to, or None to try again; raise what ends the run."""
        if isinstance(fault, RateLimited):
            self._endpoint.limited(fault)
            question.limited += 1
            return None
        if isinstance(fault, Unavailable):
            return self._unavailable(question, fault, known)
        self._endpoint.released()
        if isinstance(fault, Hopeless):
            raise fault
        if isinstance(fault, Filtered):
            self._endpoint.succeeded()
            return "refused"
        if isinstance(fault, Rejected):
            return self._rejection(question, fault)
        question.replies += 1
        if question.replies < self._patience.replies:
            return None
        return self._lost(fault, "invalid" if isinstance(fault, InvalidReply) else "gave_up")

    def _unavailable(self, question: PendingBatch, fault: Unavailable, known: int) -> Status | None:
        if fault.everyone and fault.http is None and not self._endpoint.answered:
            raise NothingAnswered(f"the server cannot be reached: {fault.detail}")
        self._endpoint.failed(fault)
        # Down for everyone, unless somebody was answered since: then it is this question's own.
        if not fault.everyone or (self._endpoint.answered > known and not self._endpoint.is_down):
            question.failures += 1
        if question.failures < self._patience.attempts:
            return None
        return self._lost(fault, "gave_up")

    def _rejection(self, question: PendingBatch, fault: Rejected) -> Status:
        if len(question.trials) > 1:
            raise BatchRefused
        return self._lost(fault, "invalid")

    def _lost(self, fault: ProviderFault, status: Status) -> Status:
        """Give a question up, or everything, if question after question comes to nothing."""
        self._unanswered += 1
        self.last_loss = fault.detail
        nothing = not (self._endpoint.answered or self._endpoint.answered_before)
        if nothing and self._unanswered >= self._patience.unanswered:
            raise NothingAnswered(f"no request has been answered. Last: {fault.detail}")
        return status

    def _pause(self, times: int) -> float:
        pause = self._patience.first_pause * 2.0 ** min(times, 20)
        return random.uniform(0.5, 1.0) * min(self._patience.longest_pause, pause)


def _outcome(fault: ProviderFault) -> str:
    """Return an attempt's failure in a word; a provider may have faults of its own."""
    return next((name for kind, name in _OUTCOMES.items() if isinstance(fault, kind)), "failed")


def _attempt(
    question: PendingBatch, outcome: str, detail: str, http: int | None = None
) -> AttemptRow:
    return AttemptRow(
        problem=question.problem,
        trial=question.trials[0],
        attempt=question.attempts,
        at_ms=int(1000 * time.time()),
        outcome=outcome,
        http=http,
        detail=detail,
    )
