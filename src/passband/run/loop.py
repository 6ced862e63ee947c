"""The run itself: prepare, catch up on scores, ask, finish."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, Protocol

from passband.errors import PassbandError
from passband.generate.provider import Provider
from passband.run.ask import Asker, BatchRefused, NothingAnswered, PendingBatch
from passband.run.budget import Budget
from passband.run.endpoint import Endpoint, Stopping
from passband.run.queue import Queue
from passband.run.recorder import Recorder
from passband.run.rescore import catch_up
from passband.run.settings import Patience
from passband.run.task_run import TaskRun
from passband.trials.rows import TrialRow
from passband.trials.store import Store

__all__ = ["Ending", "Runner", "Watcher"]

Ending = Literal["finished", "interrupted", "terminated", "max_cost"]
_SLEPT = 60.0  # seconds by which the wall clock may run ahead of ours before we take it for sleep
_TICK = 0.5


class Watcher(Protocol):
    """Somebody who is told how the run goes."""

    def tick(self, runner: Runner) -> None: ...

    def warn(self, text: str) -> None: ...


@dataclass(eq=False)
class Runner:
    """Asks everything that is missing, and stops in good order."""

    parts: Sequence[TaskRun]
    provider: Provider
    store: Store
    budget: Budget
    watcher: Watcher
    concurrency: int = 64
    patience: Patience = field(default_factory=Patience)
    under_way: int = 0  # trials that are being asked for
    started: float = 0.0
    can_estimate: bool = False  # whether the statistics are loaded; the first request came first
    _ending: Ending = "finished"
    _drain: float | None = None
    _workers: list[asyncio.Task[None]] = field(default_factory=list)
    _warned: set[str] = field(default_factory=set)
    _refused: dict[tuple[int, int], int] = field(default_factory=dict)  # n that was, by problem
    _unsettled: list[tuple[TaskRun, list[TrialRow]]] = field(default_factory=list)

    async def run(self) -> Ending:
        """Run to the end, or to where it has to stop; whatever was answered is recorded."""
        self.started = time.monotonic()
        self.endpoint = Endpoint(self.patience)
        self.endpoint.answered_before = any(part.counters.done for part in self.parts)
        self.asker = Asker(self.provider, self.endpoint)
        self.queue = Queue(self.parts, max(1, self.provider.batch))
        self.recorder = Recorder(self.store)
        self.budget.begin(self.parts)
        self._notes = {p.number: partial(self.recorder.attempt, p) for p in self.parts}
        self.recorder.on_failure = lambda error: self._halt(0.0)
        self.recorder.start()
        ticker = asyncio.ensure_future(self._tick())
        try:
            for part in self.parts:
                await catch_up(self.store, part, lambda: self.endpoint.is_stopping)
            await self._ask()
            self._settle()
        finally:
            ticker.cancel()
            await asyncio.gather(ticker, return_exceptions=True)
            await self.recorder.close()
            await self.provider.close()
            for part in self.parts:
                part.grader.close()
        if self.recorder.failure is not None:
            raise self.recorder.failure
        if self._ending == "max_cost" and all(
            p.counters.done >= p.counters.planned for p in self.parts
        ):
            self._ending = "finished"
        self._warn_if_identical(least=2)
        self.watcher.tick(self)
        return self._ending

    def interrupt(self, ending: Ending = "interrupted", drain: float | None = None) -> None:
        """Stop asking and wait for what is under way; the second time, do not wait."""
        if self.endpoint.is_stopping:
            self._cancel()
            return
        self._ending = ending
        self._halt(self.patience.drain if drain is None else drain)

    # -- steps -----------------------------------------------------------------------------

    async def _ask(self) -> None:
        """Let workers ask; the first request goes alone, in case it is answered with a no."""
        self._workers = [asyncio.ensure_future(self._worker())]
        answered = asyncio.ensure_future(self.endpoint.first_answer.wait())
        done: set[asyncio.Future[Any]] = set()
        while not done:  # a slow answer is not waited for, a failed request is asked again alone
            done, _ = await asyncio.wait(
                [*self._workers, answered],
                timeout=self.patience.preflight,
                return_when=asyncio.FIRST_COMPLETED,
            )
            if not self.endpoint.is_troubled:
                break
        answered.cancel()
        if not self._workers[0].done():
            loading = asyncio.get_running_loop().run_in_executor(None, _load_statistics)
            loading.add_done_callback(lambda done: setattr(self, "can_estimate", True))
            more = range(self.concurrency - 1)
            self._workers += [asyncio.ensure_future(self._worker()) for _ in more]
        await self._all_workers()

    async def _all_workers(self) -> None:
        """Wait for the workers; raise what one of them failed of, when all have ended."""
        waiting = set(self._workers)
        failure: BaseException | None = None
        while waiting:
            done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for worker in done:
                error = self._error_of(worker)
                if error is not None and failure is None:
                    failure = error
                    self._halt(1.0 if isinstance(error, PassbandError) else 0.0)
        if failure is not None:
            raise failure

    def _error_of(self, worker: asyncio.Task[None]) -> BaseException | None:
        if not worker.cancelled():
            return worker.exception()
        if self.endpoint.is_stopping:
            return None
        return PassbandError("a request was cancelled by the model's own code, not by passband.")

    async def _worker(self) -> None:
        """Ask one block after the other."""
        while not self.endpoint.is_stopping:
            if self.recorder.is_crowded:
                await self.recorder.room()
            if self.budget.limit is not None and not await self._affordable():
                self._ending = "max_cost"
                return
            taken = self.queue.take()
            if taken is None:
                return
            self.under_way += len(taken[1].trials)
            try:
                await self._ask_block(*taken)
            except Stopping:
                return
            finally:
                self.under_way -= len(taken[1].trials)

    async def _affordable(self) -> bool:
        """Wait until the next question fits into the budget, or it is clear that it never will."""
        while True:
            verdict = self.budget.verdict(self.under_way, self.queue.batch)
            if verdict != "wait":
                return verdict == "go"
            try:
                await self.endpoint.sleep(0.02)
            except Stopping:
                return True  # the worker sees to it

    async def _ask_block(self, part: TaskRun, question: PendingBatch) -> None:
        """Ask for a block and hand its rows to the recorder; what is lacking is asked singly."""
        try:
            rows = await self.asker.ask(question, self._notes[part.number])
        except BatchRefused:  # for its n or for its prompt: asked singly, it will show
            self._refused[part.number, question.problem] = len(question.trials)
            self.queue.put_back(part, question.problem, question.trials)
            return
        if self.budget.limit is not None:
            self.budget.add(rows)
        if self.endpoint.answered:
            self._settle()
            self.recorder.add(part, rows)
        else:
            self._unsettled.append((part, rows))
        if len(rows) < len(question.trials):
            self._ask_singly(len(rows), len(question.trials))
            self.queue.put_back(part, question.problem, question.trials[len(rows) :])
        elif self._refused and rows[0].status not in ("invalid", "gave_up"):
            self._ask_singly(0, self._refused.get((part.number, question.problem), 0))

    def _settle(self) -> None:
        """Record what came to nothing before the first answer: it was not the server's fault.

        Without any answer, ever, nothing is recorded, so that everything is asked again.
        """
        if not self._unsettled:
            return
        if not (self.endpoint.answered or any(part.counters.done for part in self.parts)):
            if self.endpoint.is_stopping:
                return
            raise NothingAnswered(f"no request has been answered. Last: {self.asker.last_loss}")
        for part, rows in self._unsettled:
            self.recorder.add(part, rows)
        self._unsettled.clear()

    def _ask_singly(self, got: int, asked: int) -> None:
        if asked and self.queue.batch > 1:
            self.queue.ask_singly()
            given = f"{got} of {asked} completions" if got else "an error"
            self._warn(f"asked for n={asked}, the server gave {given}; asking one by one instead.")

    # -- stopping --------------------------------------------------------------------------

    def _halt(self, drain: float) -> None:
        """Let nothing more go out, and cancel what has not come back after `drain` seconds."""
        self.endpoint.stop()
        self.recorder.leave_scores()
        if drain > 0:
            asyncio.get_running_loop().call_later(drain, self._cancel)
        else:
            self._cancel()

    def _cancel(self) -> None:
        for worker in self._workers:
            worker.cancel()

    # -- watching --------------------------------------------------------------------------

    async def _tick(self) -> None:
        """Tell the watcher how things are, and notice what should be noticed."""
        ahead = time.time() - time.monotonic()
        while True:
            await asyncio.sleep(_TICK)
            self.watcher.tick(self)
            self._warn_if_identical(least=4, judged=10)
            now = time.time() - time.monotonic()
            if now - ahead > _SLEPT:
                await self._awoke(now - ahead)
            ahead = now

    async def _awoke(self, seconds: float) -> None:
        """Drop the connections of before a sleep of the machine: they are dead."""
        reset: Callable[[], Awaitable[None]] | None = getattr(self.provider, "reset", None)
        self._warn(f"the machine slept for {seconds:.0f} s; connecting anew.")
        if reset is not None:
            await reset()

    def _warn_if_identical(self, *, least: int, judged: int = 2) -> None:
        for part in self.parts:
            if part.sampling.temperature == 0:
                continue
            same, looked_at = part.counters.identical(least)
            # A letter or a number may well be the same each time: then only all of many will do.
            if part.counters.has_short_answers:
                is_odd = looked_at >= max(judged, 10) and same == looked_at
            else:
                is_odd = looked_at >= judged and 2 * same > looked_at
            if is_odd:
                self._warn(
                    f"{part.task.name}: {same} of {looked_at} problems got IDENTICAL answers in "
                    f"all their trials. It seems that the server ignores the temperature or the "
                    f"seeds; n trials are then worth one, and intervals over trials are too "
                    f"narrow.",
                    key=f"identical {part.task.name}",
                )

    def _warn(self, text: str, key: str | None = None) -> None:
        if (key or text) not in self._warned:
            self._warned.add(key or text)
            self.watcher.warn(text)


def _load_statistics() -> None:
    """Import what estimates need, while the first answers are on their way."""
    import passband.stats.interval.estimate  # noqa: F401
