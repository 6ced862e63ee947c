"""A judge that is asked: its model, the state of its server, what it costs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from passband.errors import PassbandError
from passband.generate import Message, Problem, Sampling, Subject
from passband.run.budget import Budget, CallCosts, Verdict
from passband.run.loop.attempts import Attempts, PendingBatch
from passband.run.loop.endpoint import Endpoint, Stopping
from passband.run.settings import Patience
from passband.score import JudgeCall, JudgeOptions, NotScoredYet, Reference
from passband.trials import AttemptRow, TrialRow

Say = Callable[[str], None]


class JudgeFailed(PassbandError):
    """The judge has never replied, so that asking on would be for nothing."""


@dataclass(frozen=True)
class JudgeReport:
    """What a judge was asked by one process, and what all its recorded calls cost."""

    model: str
    replies: int
    reused: int  # votes that took the reply to the same answer of another trial
    cost: float | None  # None where some of it needs a price
    is_out: bool  # whether it was asked no more before all was judged


@dataclass(eq=False)
class Judge:
    """A model that judges, with a server, a patience and a limit of requests of its own.

    Where it fails before its first reply, the run ends with its `failure`. Where it fails later,
    the run goes on without it: it `is_out`, and the answers that it has not judged are left for
    the next time.
    """

    name: str
    subject: Subject
    sampling: Sampling
    budget: Budget
    costs: CallCosts
    concurrency: int = 64
    patience: Patience = field(default_factory=Patience)
    answered_before: bool = False  # by earlier processes
    warn: Say = print
    on_failure: Callable[[BaseException], None] = lambda error: None
    failure: BaseException | None = None
    is_out: bool = False  # whether it is asked no more, for this process
    is_over_budget: bool = False
    under_way: int = 0
    replies: int = 0  # by this process
    reused: int = 0

    def __post_init__(self) -> None:
        self._limit = asyncio.Semaphore(self.concurrency)
        self._endpoint: Endpoint | None = None
        self._asker: Attempts | None = None

    @property
    def endpoint(self) -> Endpoint:
        """The state of its server."""
        return self._open()[0]

    async def ask(
        self, call: JudgeCall, key: str, seed: int | None, attempts: int, note: _Note
    ) -> tuple[TrialRow, int]:
        """Return the row of a reply and its attempt; raise `NotScoredYet` if there is none."""
        batch = PendingBatch(
            call.problem,
            (call.trial,),
            Problem(key, _messages(call), Reference(())),
            self.sampling,
            (seed,),
            attempts=attempts,
        )
        async with self._limit:
            await self._afford()
            self.under_way += 1
            try:
                row = await self._answer(batch, note)
            finally:
                self.under_way -= 1
        self.costs.add(row)
        self.replies += row.text is not None
        return row, batch.attempts

    def stop(self) -> None:
        """Send no further request."""
        self.is_out = True
        if self._endpoint is not None:
            self._endpoint.stop()

    def fail(self, error: BaseException) -> None:
        """End the run: there is nothing to go on with."""
        self.stop()
        if self.failure is None:
            self.failure = error
            self.on_failure(error)

    def report(self) -> JudgeReport:
        """Return what it was asked, by this process."""
        cost = self.costs.cost if self.costs.is_known else None
        return JudgeReport(self.name, self.replies, self.reused, cost, self.is_out)

    async def _answer(self, batch: PendingBatch, note: _Note) -> TrialRow:
        if self.is_out:
            raise NotScoredYet
        _, asker = self._open()
        try:
            (row,) = await asker.ask(self.subject, batch, note)
        except Stopping:
            raise NotScoredYet from None
        except PassbandError as error:
            self._lose(error)
            raise NotScoredYet from None
        while asker.warnings:
            self.warn(f"judge {self.name}: {asker.warnings.popitem()[1]}")
        return row

    def _lose(self, error: PassbandError) -> None:
        """Do without the judge from now on, or end the run if it never replied."""
        if self.is_out:
            return
        if self.endpoint.answered or self.answered_before:
            self.stop()
            self.warn(
                f"the judge {self.name} is asked no more: {str(error).rstrip('.')}. Answers are "
                "kept; the same command judges the rest."
            )
        else:
            self.fail(JudgeFailed(f"the judge {self.name} does not reply: {error}"))

    async def _afford(self) -> None:
        """Wait until a call fits the budget; stop judging if none will."""
        while (verdict := self._affordable()) != "go":
            if self.is_out:
                raise NotScoredYet
            if verdict == "stop":
                self.is_over_budget = True
                self.stop()
                self.warn(f"--max-cost: the judge {self.name} is asked no more; the rest waits.")
                raise NotScoredYet
            await asyncio.sleep(0.02)

    def _affordable(self) -> Verdict:
        try:
            return self.budget.call_verdict(self.costs, self.under_way)
        except PassbandError as error:
            self.fail(error)
            raise NotScoredYet from None

    def _open(self) -> tuple[Endpoint, Attempts]:
        """Return what its requests share, made inside the event loop."""
        if self._endpoint is None or self._asker is None:
            clock: Callable[[], float] = time.monotonic
            self._endpoint = Endpoint(self.patience, clock=clock)
            self._endpoint.answered_before = self.answered_before
            self._asker = Attempts(self._endpoint)
            if self.is_out:
                self._endpoint.stop()
        return self._endpoint, self._asker


_Note = Callable[[AttemptRow], None]


def sampling_of(options: JudgeOptions) -> Sampling:
    """Return the sampling settings of a judge's requests."""
    return Sampling(options.temperature, options.top_p, options.max_tokens)


def _messages(call: JudgeCall) -> tuple[Message, ...]:
    turns: Sequence[Any] = call.turns
    return tuple(Message(turn.role, turn.content) for turn in turns)
