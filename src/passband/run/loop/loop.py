"""The run loop: catch up on scores, make schedules, request blocks, finish."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from passband.errors import PassbandError
from passband.generate import Subject
from passband.log import INFO, event
from passband.run.before_asking import nothing_to_ask
from passband.run.budget import Budget
from passband.run.judge.judges import Judges
from passband.run.loop.attempts import Attempts, BatchRefused, NothingAnswered, PendingBatch
from passband.run.loop.endpoint import Endpoint, Stopping
from passband.run.loop.first_scores import FirstScores, ScorersFailed
from passband.run.loop.queue import Queue
from passband.run.loop.recorder import Recorder
from passband.run.notices import notes_of
from passband.run.progress import Meter, Watcher
from passband.run.rescore.rescore import catch_up
from passband.run.schedule.schedule import ScheduleFactory, every_problem
from passband.run.settings import Patience
from passband.run.task_run import TaskRun
from passband.trials import Store, StoreLost, TrialRow, Trials

Ending = Literal["finished", "interrupted", "terminated", "max_cost"]
_SLEPT = 60.0  # seconds by which the wall clock runs ahead of the monotonic one after a sleep
_TICK = 0.5


class StuckSchedule(PassbandError):
    """A schedule has no next block, is not finished, and nothing is left that it could wait for."""


@dataclass(eq=False)
class Runner:
    """Requests the blocks of every task's schedule, and stops in good order."""

    task_runs: Sequence[TaskRun]
    store: Store
    budget: Budget
    watcher: Watcher
    concurrency: int = 64
    patience: Patience = field(default_factory=Patience)
    schedule: ScheduleFactory = every_problem
    judges: Judges | None = None
    is_leased: bool = False  # one shard of a run that another process leads
    closing: Ending | None = None  # how the shards ended that asked; then nothing is asked here
    on_asking: Callable[[], None] = lambda: None
    under_way: int = 0  # trials in flight
    _open: dict[TaskRun, int] = field(default_factory=dict)  # batches in flight, by task
    started: float = 0.0
    _ending: Ending = "finished"
    _lost: StoreLost | None = None  # what has become of the store
    _unscored: ScorersFailed | None = None  # why asking on would be for nothing
    _is_full: bool = False  # whether all workers were started
    _is_failing: bool = False  # whether a worker has ended with an error
    _workers: list[asyncio.Task[None]] = field(default_factory=list)
    _warned: set[str] = field(default_factory=set)
    _refused: dict[tuple[int, int], int] = field(default_factory=dict)  # n that was, by problem
    _unsettled: list[tuple[TaskRun, list[TrialRow], PendingBatch]] = field(default_factory=list)

    async def run(self) -> Ending:
        """Run to the end, or to where it has to stop; every answer is recorded."""
        self._start()
        ticker = asyncio.ensure_future(self._tick())
        try:
            for task_run in self.task_runs:
                await catch_up(self.store, task_run, lambda: self.endpoint.is_stopping)
            self._make_schedules()
            if self.closing is not None:
                self._ending = self.closing
            elif self.queue.is_finished:
                if not self.is_leased:
                    self.watcher.note(nothing_to_ask(self.store.directory, self.task_runs))
            else:
                self.on_asking()
            await self._ask()
            self._settle()
            await self._judge()
        finally:
            ticker.cancel()
            await asyncio.gather(ticker, return_exceptions=True)
            await self.recorder.close()
            for subject in self._subjects(self._open):
                await subject.close()
            for task_run in self.task_runs:
                task_run.grader.close()
        unscored = None if self.queue.is_finished else self._unscored
        judges = None if self.judges is None else self.judges.failure
        if (failure := self._lost or self.recorder.failure or judges or unscored) is not None:
            raise failure
        if self._has_all:
            self._ending = "finished"
            for task_run in self.task_runs:
                task_run.counters.planned = task_run.counters.done
        self._pass_on_notes()
        for note in () if self.judges is None else self.judges.closing_notes(self.store.directory):
            self.watcher.note(note)
        self._show()
        return self._ending

    def interrupt(self, ending: Ending = "interrupted", drain: float | None = None) -> None:
        """Send no further request and wait for those in flight; the second time, do not wait."""
        if self.endpoint.is_stopping:
            self._cancel()
            return
        self._ending = ending
        self._halt(self.patience.drain if drain is None else drain)

    def grant(
        self, max_cost: float | None, concurrency: int, *, may_grow: bool, known: float = 0.0
    ) -> None:
        """Take a new lease: a limit of cost, and at least as many requests at once as before."""
        if max_cost is not None:
            self.budget.grant(max_cost, may_grow=may_grow, known=known)
        more = concurrency - self.concurrency
        if more <= 0:
            return
        self.concurrency = concurrency
        if self._is_full and not self.endpoint.is_stopping:
            self._workers += [asyncio.ensure_future(self._worker()) for _ in range(more)]

    @property
    def _has_all(self) -> bool:
        """Whether the run got as far as it was to get."""
        if self.closing is not None:
            return self.closing == "finished"
        return self._ending in ("finished", "max_cost") and self.queue.is_finished

    # -- steps -----------------------------------------------------------------------------

    def _start(self) -> None:
        """Make what the steps share, inside the event loop."""
        clock = asyncio.get_running_loop().time  # pauses are measured by the clock that ends them
        self.started = time.monotonic()
        self.endpoint = Endpoint(self.patience, clock=clock)
        self.endpoint.answered_before = any(task_run.counters.done for task_run in self.task_runs)
        largest = max((len(task_run.problems) for task_run in self.task_runs), default=1)
        self.asker = Attempts(self.endpoint, largest)
        self._open = dict.fromkeys(self.task_runs, 0)
        self._first_scores = FirstScores(
            self.task_runs, self.store.directory, self.patience.unscored
        )
        self.meter = Meter(self.task_runs, self.budget, clock)
        self.recorder = Recorder(self.store)
        self.budget.begin(self.task_runs)
        self._notes = {run.number: partial(self.recorder.attempt, run) for run in self.task_runs}
        self._news = asyncio.Event()  # of the next commit
        self.recorder.on_failure = lambda error: self._halt(0.0)
        self.recorder.on_commit = self._committed
        if self.judges is not None:
            self.judges.open(self.recorder.thread, self._warn, lambda error: self._halt(0.0))
            self.recorder.on_close = self.judges.close
        self.recorder.start()

    def _make_schedules(self) -> None:
        """Make each task's schedule from the rows that earlier processes recorded."""
        directory = self.store.directory
        self.queue = Queue(
            [
                (run, self._factory(run)(run, run.batch, _recorded_rows(directory, run)))
                for run in self.task_runs
            ]
        )

    def _factory(self, run: TaskRun) -> ScheduleFactory:
        """Return what makes the schedule of a task: an adaptive test has one of its own."""
        if "adaptive" not in run.task.config:
            return self.schedule
        from passband.run.schedule.adaptive import adaptive_schedule  # heavy, and seldom needed

        return adaptive_schedule

    async def _ask(self) -> None:
        """Start the workers; the first request goes alone, in case it is refused."""
        self._workers = [asyncio.ensure_future(self._worker())]
        answered = asyncio.ensure_future(self.endpoint.first_answer.wait())
        done: set[asyncio.Future[Any]] = set()
        while not done:  # a slow answer holds nothing up, a failed request is repeated alone
            done, _ = await asyncio.wait(
                [*self._workers, answered],
                timeout=self.patience.preflight,
                return_when=asyncio.FIRST_COMPLETED,
            )
            if not self.endpoint.is_troubled:
                break
        answered.cancel()
        await self._hold_back()
        if not self._workers[0].done():
            is_shown = getattr(self.watcher, "shows_estimates", False)
            loading = asyncio.get_running_loop().run_in_executor(None, _load_statistics, is_shown)
            loading.add_done_callback(lambda done: setattr(self.meter, "can_estimate", is_shown))
            more = range(self.concurrency - 1)
            self._workers += [asyncio.ensure_future(self._worker()) for _ in more]
            self._is_full = True
        await self._all_workers()

    async def _judge(self) -> None:
        """Wait for scorers that take their time; then see what the judges make of null answers."""
        await self.recorder.scored()
        if self.judges and not self.endpoint.is_stopping:
            await self.judges.try_canaries(self.watcher.note, self._warn)

    async def _hold_back(self) -> None:
        """Let one worker ask alone while no answer can be scored."""
        while self._first_scores.is_doubtful and not self._workers[0].done():
            news = asyncio.ensure_future(self._news.wait())
            waiting = asyncio.wait(
                [self._workers[0], news],
                timeout=self.patience.preflight,
                return_when=asyncio.FIRST_COMPLETED,
            )
            done, _ = await waiting
            news.cancel()
            if not done:
                self._first_scores.wait_no_longer()

    async def _all_workers(self) -> None:
        """Wait for all workers; then raise the first error of any."""
        ended: set[asyncio.Task[None]] = set()
        failure: BaseException | None = None
        while waiting := set(self._workers) - ended:  # a new lease may have brought more
            done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            ended |= done
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
        """Request one block after the other."""
        while not self.endpoint.is_stopping:
            if self.recorder.is_crowded:
                event("idle", reason="rows wait to be written")
                await self.recorder.room()
            if self.budget.limit is not None and not await self._affordable():
                self._ending = "max_cost"
                event("idle", INFO, reason="the next request may exceed the cost limit")
                return
            taken = self.queue.take()
            if taken is None:
                if self.queue.is_finished:
                    return
                await self._next_commit()
                continue
            self.under_way += len(taken[1].trials)
            self._open[taken[0]] += 1
            try:
                await self._ask_block(*taken)
            except Stopping:
                return
            except BaseException:
                self._is_failing = True
                raise
            finally:
                self.under_way -= len(taken[1].trials)
                self._open[taken[0]] -= 1
            await self._close_if_done(taken[0].subject)

    async def _close_if_done(self, subject: Subject) -> None:
        """Close a subject once all its tasks are answered: another may wait for what it holds."""
        runs = [run for run in self._open if run.subject is subject]
        if runs and all(not self._open[run] and self.queue.is_exhausted(run) for run in runs):
            for run in runs:
                del self._open[run]
            await subject.close()

    @staticmethod
    def _subjects(runs: Iterable[TaskRun]) -> list[Subject]:
        """Return the subjects of tasks, each once."""
        return list({id(run.subject): run.subject for run in runs}.values())

    async def _affordable(self) -> bool:
        """Wait until the next batch fits the budget; return False if it never will."""
        while wanted := self.queue.wanted:
            verdict = self.budget.verdict(self.under_way, wanted)
            if verdict != "wait":
                return verdict == "go"
            try:
                await self.endpoint.sleep(0.02)
            except Stopping:
                break  # the worker sees to it
        return True

    async def _ask_block(self, task_run: TaskRun, batch: PendingBatch) -> None:
        """Request a block, record its rows, and re-queue missing completions one by one."""
        try:
            note = self._notes[task_run.number]
            rows = await self.asker.ask(task_run.subject, batch, note)
        except BatchRefused:  # for its n or for its prompt: one by one, it will show
            self._refused[task_run.number, batch.problem] = len(batch.trials)
            self.queue.put_back(task_run, batch, batch.trials)
            return
        while self.asker.warnings:
            self._warn(*reversed(self.asker.warnings.popitem()))
        if self.budget.price is not None and self.budget.price.is_stated:
            self.budget.price.put_on(rows)
        if self.budget.limit is not None:
            self.budget.add(rows)
        if self.endpoint.answered:
            self._first_scores.suspect(task_run, rows)
            self._settle()
            await self._record(task_run, rows, batch)
        else:
            self._unsettled.append((task_run, rows, batch))
        if len(rows) < len(batch.trials):
            self._ask_one_by_one(task_run, len(rows), len(batch.trials))
            self.queue.put_back(task_run, batch, batch.trials[len(rows) :])
        elif self._refused and rows[0].status not in ("invalid", "gave_up"):
            wanted = self._refused.get((task_run.number, batch.problem), 0)
            self._ask_one_by_one(task_run, 0, wanted)

    async def _record(self, task_run: TaskRun, rows: list[TrialRow], batch: PendingBatch) -> None:
        """Hand rows to the recorder; trials that cost much count as in flight until committed."""
        is_costly = task_run.subject.is_costly
        is_doubtful = self._first_scores.is_doubtful
        # The next choice, or whether there is a next request, depends on these rows.
        at_once = is_costly or task_run.counters.is_chosen or is_doubtful
        news = self._news  # the commit that `saved` waits for is the one that replaces it
        saved = self.recorder.add(task_run, rows, batch.scores, at_once=at_once)
        if is_costly:
            await saved.wait()
        if is_doubtful:
            await news.wait()

    async def _next_commit(self) -> None:
        """Wait until a commit may let a schedule go on, or the run is stopping."""
        if not self.under_way and not self._is_failing:
            self._settle()  # the schedule may wait for what nothing answered
            if self.recorder.is_idle:
                tasks = ", ".join(self.queue.waiting)
                raise StuckSchedule(
                    f"{tasks}: the schedule has no next block, but is not finished."
                )
        event("idle", reason="the schedule waits for a commit", under_way=self.under_way)
        await self._news.wait()

    def _committed(self, task_run: TaskRun, rows: Sequence[TrialRow]) -> None:
        """Pass rows that are on disk to their schedule, and wake the workers that wait for it."""
        self._unscored = self._unscored or self._first_scores.look(task_run, rows)
        if self._unscored is not None and not self.endpoint.is_stopping:
            self._halt(self.patience.drain)
        self.queue.committed(task_run, rows)
        self._wake()

    def _wake(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    def _settle(self) -> None:
        """Record trials that were given up before the first answer: the server is up.

        Without any answer, ever, nothing is recorded, so that everything is requested again.
        """
        if not self._unsettled:
            return
        if not (
            self.endpoint.answered or any(task_run.counters.done for task_run in self.task_runs)
        ):
            if self.endpoint.is_stopping:
                return
            raise NothingAnswered(f"no request has been answered. Last: {self.asker.last_loss}")
        for task_run, rows, batch in self._unsettled:
            self.recorder.add(task_run, rows, batch.scores)
        self._unsettled.clear()

    def _ask_one_by_one(self, task_run: TaskRun, got: int, wanted: int) -> None:
        if wanted and self.queue.batch > 1:
            self.queue.ask_one_by_one(task_run)
            reply = f"{got} of {wanted} completions" if got else "an error"
            self._warn(
                f"the server answered a request with n={wanted} with {reply}; requesting one "
                f"completion at a time instead."
            )

    # -- stopping --------------------------------------------------------------------------

    def _halt(self, drain: float) -> None:
        """Send no further request, and cancel those in flight after `drain` seconds."""
        event("stop", INFO, under_way=self.under_way, drain=drain)
        self.endpoint.stop()
        self._wake()
        if self.judges:
            self.judges.stop()  # calls in flight are paid for, and may still come back
        else:
            self.recorder.leave_scores()
        if drain > 0:
            asyncio.get_running_loop().call_later(drain, self._cancel)
        else:
            self._cancel()

    def _cancel(self) -> None:
        self.recorder.leave_scores()
        for worker in self._workers:
            worker.cancel()

    # -- watching --------------------------------------------------------------------------

    async def _tick(self) -> None:
        """Show progress, and notice what the user should know."""
        ahead = time.time() - time.monotonic()
        self._show()
        while True:
            await asyncio.sleep(_TICK)
            self._look_for_store()
            self._show()
            self._pass_on_notes()
            now = time.time() - time.monotonic()
            if now - ahead > _SLEPT:
                await self._awoke(now - ahead)
            ahead = now

    def _look_for_store(self) -> None:
        """Stop where the store is no longer found: everything would be asked for nothing."""
        if self._lost is None and (lost := self.store.lost()) is not None:
            self._lost = lost
            self._halt(self.patience.drain if lost.is_writable else 0.0)

    def _show(self) -> None:
        self.watcher.tick(self.meter.read(self.endpoint, self.under_way, self.recorder.scoring))

    async def _awoke(self, seconds: float) -> None:
        """Drop the connections from before a sleep of the machine: they are dead."""
        self._warn(f"the machine slept for {seconds:.0f} s; reconnecting.")
        for subject in self._subjects(self._open):
            await subject.reset()

    def _pass_on_notes(self) -> None:
        """Show what the subjects have to say about their requests, each note once."""
        for text in notes_of(self.task_runs):
            if text not in self._warned:
                self._warned.add(text)
                self.watcher.note(text)

    def _warn(self, text: str, key: str | None = None) -> None:
        if (key or text) not in self._warned:
            self._warned.add(key or text)
            self.watcher.warn(text)


def _recorded_rows(directory: Path, task_run: TaskRun) -> Iterator[TrialRow]:
    """Yield the rows that count as recorded, with their scores; opens nothing before it is read."""
    if not task_run.recorded:
        return
    with Trials(directory, trusted=True) as trials:
        (run,) = (run for run in trials.runs() if run.number == task_run.number)
        places = {number: place for place, number in enumerate(task_run.numbers)}
        for row in trials.trials(run):
            place = places.get(row.problem)
            if place is not None and task_run.recorded.get(place, 0) >> row.trial & 1:
                yield replace(row, problem=place)


def _load_statistics(is_shown: bool) -> None:
    """Import the statistics, while the first answers are on their way.

    The first estimate imports more; it is made here, where it does not hold up the event loop.
    """
    from passband.stats.data import Outcomes
    from passband.stats.interval import estimate

    if is_shown:
        estimate(Outcomes.from_counts([0, 1], [2, 2]), "avg")
