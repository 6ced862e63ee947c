"""Request one batch of trials, attempt after attempt, until it is answered or given up.

Whether there is another attempt depends on how the last one failed and never on the answer, so
that the recorded trials are the model's, not a selection of them.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from passband.errors import PassbandError
from passband.generate import (
    Completion,
    Crashed,
    Filtered,
    Finish,
    GaveUp,
    Hopeless,
    InvalidReply,
    Problem,
    ProviderFault,
    RateLimited,
    Rejected,
    Sampling,
    Seeds,
    Subject,
    TaskError,
    TimedOut,
    TooLong,
    Unavailable,
    Unfinished,
    UnsupportedSetting,
    redacted,
)
from passband.log import DEBUG, INFO, event, is_logged
from passband.run.loop.endpoint import Endpoint
from passband.score import Score
from passband.trials import AttemptRow, Status, TrialRow

TURNED_AWAY = ("rate_limited", "rejected")  # outcomes of attempts that drew nothing

_STATUS: dict[Finish, Status] = {
    "stop": "ok",
    "length": "truncated",
    "content_filter": "refused",
    "limit": "limit",
    "tool_call": "tool_call",
    "unknown": "unknown",
}
_OUTCOMES: dict[type[ProviderFault], str] = {  # of a kind of fault before the kind it is one of
    TooLong: "too_long",
    Unfinished: "unfinished",
    UnsupportedSetting: "unsupported",
    Filtered: "filtered",
    GaveUp: "gave_up",
    Hopeless: "hopeless",
    Crashed: "crashed",
    InvalidReply: "invalid_reply",
    RateLimited: "rate_limited",
    Rejected: "rejected",
    TaskError: "errored",
    TimedOut: "timed_out",
    Unavailable: "unavailable",
}


class NothingAnswered(PassbandError):
    """No request was answered, and the next one would not be either."""


class BatchRefused(Exception):
    """The server rejects a request for several completions."""


@dataclass(slots=True)
class PendingBatch:
    """A block of trials on its way to an answer, and its attempts so far."""

    problem: int
    trials: Sequence[int]
    asked: Problem
    sampling: Sampling
    seeds: Seeds
    reason: str | None = None  # why a schedule chose these trials
    attempts: int = 0  # made so far, those of earlier processes included
    failures: int = 0  # of them, failures that count against it
    replies: int = 0  # of them, invalid replies and timeouts
    limited: int = 0  # of them, turned away before anything was drawn
    unfinished: int = 0  # of them, answers that did not say whether they are complete
    scores: dict[int, Mapping[str, Score]] = field(default_factory=dict)  # with answers, by trial

    @property
    def draws(self) -> int:
        """Attempts that may have drawn an answer; a rate limit draws none."""
        return self.attempts - self.limited

    def failed(self, status: Status) -> list[TrialRow]:
        """Return its rows if it got no answer."""
        return [
            TrialRow(
                self.problem, trial, status, attempts=self.draws, seed=seed, reason=self.reason
            )
            for trial, seed in zip(self.trials, self.seeds, strict=True)
        ]

    def answered(self, completions: Sequence[Completion], latency_ms: int) -> list[TrialRow]:
        """Return its rows, as many as there are completions; keep the scores that came along."""
        rows = []
        for trial, completion in zip(self.trials, completions, strict=False):
            (text, finish, reasoning, tokens_in, tokens_out, seed, request_id, transcript, cost,
             scores, latency, finish_reason, reasoned, cached) = completion  # fmt: skip
            if scores:
                self.scores[trial] = scores
            rows.append(
                TrialRow(
                    self.problem, trial, _STATUS[finish], text, reasoning, tokens_in, tokens_out,
                    latency_ms if latency is None else latency, self.draws, seed, request_id, [],
                    transcript, cost, self.reason, None, finish_reason, reasoned,
                    cached,
                )
            )  # fmt: skip
        return rows


class Attempts:
    """Sends batches to subjects, as the endpoint allows, and notes each failed attempt."""

    def __init__(self, endpoint: Endpoint, problems: int = 1) -> None:
        """`problems` is the number that the largest task has."""
        self._endpoint = endpoint
        self._patience = endpoint.patience
        self._problems = problems
        self._unanswered: list[int] = []  # the problem of each batch that was given up
        self._errors: list[int] = []  # the problem of each error of a task's own code
        self._gives_several = False  # whether a request for several completions was answered
        self.last_loss = ""  # why the last batch was given up
        self.warnings: dict[str, str] = {}  # that the user should see once, by what they are about

    async def ask(
        self, subject: Subject, batch: PendingBatch, note: Callable[[AttemptRow], None]
    ) -> list[TrialRow]:
        """Return the rows of a batch, perhaps fewer than its trials."""
        known = self._endpoint.answered
        while True:
            if not self._endpoint.is_clear:
                await self._endpoint.ready()
            batch.attempts += 1
            start = time.monotonic()
            try:
                completions = await subject.answer(
                    batch.asked, batch.sampling, batch.seeds, batch.trials
                )
                if not completions:
                    raise InvalidReply("the model returned no completion")
            except ProviderFault as fault:
                fault.detail = redacted(fault.detail)  # shown and stored, whatever raised it
                fault.args = (fault.detail,)
                outcome = _outcome(fault)
                note(_attempt(batch, outcome, fault.detail, fault.http))
                _log_attempt(subject, batch, outcome, start, fault)
                status = self._verdict(batch, fault, known)
                known = self._endpoint.answered
                if status is not None:
                    return self._rows_of_fault(batch, fault, status, start)
                self._endpoint.retries[outcome] += 1
                if fault.elsewhere or isinstance(fault, RateLimited):  # `ready` waits if it must
                    continue
            except BaseException as error:
                if isinstance(error, asyncio.CancelledError):  # perhaps drawn, but never seen
                    note(_attempt(batch, "cancelled", "the run was stopped"))
                    _log_attempt(subject, batch, "cancelled", start)
                self._endpoint.released()
                raise
            else:
                self._endpoint.succeeded()
                _log_attempt(subject, batch, "answered", start)
                return self._rows(batch, completions, start)
            await self._endpoint.back_off(self._pause(batch.failures + batch.replies))

    def _rows(
        self, batch: PendingBatch, completions: Sequence[Completion], start: float
    ) -> list[TrialRow]:
        """Return the rows of answers; warn of those that ended for an unknown reason."""
        rows = batch.answered(completions, int(1000 * (time.monotonic() - start)))
        if len(completions) > 1:
            self._gives_several = True
        for row in rows:
            if row.status == "unknown":
                self.warnings[f"unknown {row.finish_reason}"] = _unknown(row.finish_reason)
        return rows

    def _rows_of_fault(
        self, batch: PendingBatch, fault: ProviderFault, status: Status, start: float
    ) -> list[TrialRow]:
        if isinstance(fault, Unfinished):
            return self._rows(batch, fault.completions, start)
        return batch.failed(status)

    def _verdict(self, batch: PendingBatch, fault: ProviderFault, known: int) -> Status | None:
        """Return the trials' final status, or None to try again; raise what ends the run."""
        if isinstance(fault, RateLimited):
            batch.limited += 1
            if fault.elsewhere:
                self._endpoint.released()
            else:
                self._endpoint.limited(fault)
            return None
        if isinstance(fault, Unavailable):
            return self._unavailable(batch, fault, known)
        self._endpoint.released()
        if isinstance(fault, Hopeless):
            raise fault
        if not isinstance(fault, TimedOut):
            self._endpoint.heard()
        if isinstance(fault, Filtered):
            self._endpoint.succeeded()
            return "refused"
        if isinstance(fault, TooLong):  # for this problem, and never for the run
            self._endpoint.succeeded()
            self.warnings["too long"] = _too_long(batch, fault)
            return "invalid"
        if isinstance(fault, Unfinished):
            return self._unfinished(batch, fault)
        if isinstance(fault, Rejected):
            return self._rejection(batch, fault)
        if isinstance(fault, GaveUp):
            return self._lost(batch, fault, "gave_up")
        if isinstance(fault, TaskError):
            return self._errored(batch, fault)
        batch.replies += 1
        if batch.replies < self._patience.replies:
            return None
        return self._lost(batch, fault, "invalid" if isinstance(fault, InvalidReply) else "gave_up")

    def _unavailable(self, batch: PendingBatch, fault: Unavailable, known: int) -> Status | None:
        if fault.elsewhere:  # one address is down, and the model is not
            self._endpoint.released()
            batch.failures += not fault.everyone
        else:
            self._failed(batch, fault, known)
        if len(batch.trials) > 1 and batch.failures > 1 and not self._gives_several:
            raise BatchRefused  # perhaps for its n, in words that are not known
        if batch.failures < self._patience.attempts:
            return None
        return self._lost(batch, fault, "gave_up")

    def _failed(self, batch: PendingBatch, fault: Unavailable, known: int) -> None:
        if fault.everyone and fault.http is None and not self._endpoint.answered:
            raise NothingAnswered(f"the server cannot be reached: {fault.detail}")
        self._endpoint.failed(fault)
        # Down for everyone, unless another was answered since: then this batch is to blame.
        if not fault.everyone or (self._endpoint.answered > known and not self._endpoint.is_down):
            batch.failures += 1

    def _unfinished(self, batch: PendingBatch, fault: Unfinished) -> Status | None:
        """Ask once more for answers that may be incomplete; then take them as they are."""
        batch.unfinished += 1
        if batch.unfinished == 1:
            return None
        if any(completion.finish != "unknown" for completion in fault.completions):
            self._endpoint.succeeded()
            return "unknown"
        return self._lost(batch, fault, "unknown")

    def _rejection(self, batch: PendingBatch, fault: Rejected) -> Status:
        if len(batch.trials) > 1:
            batch.limited += 1
            raise BatchRefused
        return self._lost(batch, fault, "invalid")

    def _lost(self, batch: PendingBatch, fault: ProviderFault, status: Status) -> Status:
        """Give up the batch, or the run if batch after batch gets no answer."""
        self._unanswered.append(batch.problem)
        self.last_loss = fault.detail
        if self._is_hopeless(self._unanswered, self._patience.unanswered):
            raise NothingAnswered(f"no request has been answered. Last: {fault.detail}")
        return status

    def _errored(self, batch: PendingBatch, fault: TaskError) -> Status:
        """Give up the batch, or the run if the task's code fails time after time."""
        self._errors.append(batch.problem)
        self.last_loss = fault.detail
        if self._is_hopeless(self._errors, self._patience.errors):
            raise NothingAnswered(
                f"the first {len(self._errors)} trials all ended in an error of the task or its "
                f"model. Last: {fault.detail}"
            )
        return "errored"

    def _is_hopeless(self, losses: Sequence[int], limit: int) -> bool:
        """Return whether `limit` trials were lost before any was answered, ever.

        They have to be of `limit` problems too, or of all: the trials of one problem may fail for
        a reason that lies in its prompt, and come one after another where a batch was refused.
        """
        if self._endpoint.answered or self._endpoint.answered_before or len(losses) < limit:
            return False
        return len(set(losses)) >= min(limit, self._problems)

    def _pause(self, times: int) -> float:
        pause = self._patience.first_pause * 2.0 ** min(times, 20)
        return random.uniform(0.5, 1.0) * min(self._patience.longest_pause, pause)


def _unknown(reason: str | None) -> str:
    ending = (
        "the server does not say why answers end (finish_reason is missing or null)"
        if reason == "null"
        else f"the server ended answers for a reason that passband does not know: {reason!r}"
    )
    return (
        f"{ending}. Whether they are complete is unknown: they are recorded with the status "
        f"unknown and NOT SCORED."
    )


def _too_long(batch: PendingBatch, fault: TooLong) -> str:
    return (
        f"problem {batch.asked.key!r:.60} does not fit into the model's context; it and any others "
        f"like it are recorded as invalid. The server says: {fault.detail}"
    )


def _outcome(fault: ProviderFault) -> str:
    """Return the word for a failed attempt; a provider may raise faults of its own."""
    return next((name for kind, name in _OUTCOMES.items() if isinstance(fault, kind)), "failed")


def _attempt(batch: PendingBatch, outcome: str, detail: str, http: int | None = None) -> AttemptRow:
    return AttemptRow(
        problem=batch.problem,
        trial=batch.trials[0],
        attempt=batch.attempts,
        at_ms=int(1000 * time.time()),
        outcome=outcome,
        http=http,
        detail=detail,
    )


def _log_attempt(
    subject: Subject,
    batch: PendingBatch,
    outcome: str,
    start: float,
    fault: ProviderFault | None = None,
) -> None:
    """Log an attempt by numbers: a key may be, and the detail of a fault may quote, a prompt."""
    if not is_logged(INFO if fault else DEBUG):
        return
    event(
        "request",
        INFO if fault else DEBUG,
        model=subject.name,
        address=subject.address,
        problem=batch.problem,
        trial=batch.trials[0],
        n=len(batch.trials),
        attempt=batch.attempts,
        outcome=outcome,
        status=fault and fault.http,
        ms=round(1000 * (time.monotonic() - start)),
    )
