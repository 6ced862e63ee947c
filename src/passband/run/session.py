"""A run from start to end: directory, subject, signals, and their order."""

from __future__ import annotations

import asyncio
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from passband.errors import ExitCode, PassbandError
from passband.generate import Connection, Model, Problem, Subject, make_subject
from passband.log import phase
from passband.run.before_asking import read_earlier, warn_before_asking
from passband.run.budget import Budget
from passband.run.judge.choice import JudgeChoice
from passband.run.judge.judge import JudgeReport
from passband.run.judge.judges import Judges
from passband.run.judge.prepare import check_judges, make_judges, seated
from passband.run.loop.loop import Ending, Runner
from passband.run.loop.recorder import fewer_collections
from passband.run.prepare import further_spec, load_problems, prepare, record_subject
from passband.run.problems import opened
from passband.run.progress import Watcher
from passband.run.rescore.prices import record_price
from passband.run.rescore.recheck import recheck
from passband.run.sandboxes import open_sandbox
from passband.run.schedule.schedule import ScheduleFactory, every_problem, nothing_more
from passband.run.settings import Settings
from passband.run.shards.folder import refuse_led
from passband.run.task_run import Price, TaskRun
from passband.system import complete, is_inside_a_loop
from passband.tasks import Task
from passband.trials import FAILED, LOW_WATER, EmptyStore, Store, StoreLost, Trials

if TYPE_CHECKING:
    from passband.stats import Over
    from passband.stats.data import Policy
    from passband.summary import Summary


OnStart = Callable[[Callable[[], None]], None]
TrialMasks = Mapping[str, Mapping[str, int]]
"""Trials that another store holds: by task and key of the problem, as bits."""

_EXIT_CODES: dict[Ending, ExitCode] = {
    "finished": ExitCode.OK,
    "max_cost": ExitCode.FAILED,
    "interrupted": ExitCode.INTERRUPTED,
    "terminated": ExitCode.TERMINATED,
}
_TERMINATED = 5.0  # seconds to wait for requests in flight after SIGTERM


@dataclass(frozen=True)
class RunResult:
    """A run that has come to an end."""

    directory: Path
    model: str
    ending: Ending
    task_runs: Sequence[TaskRun]
    seconds: float
    cost: float | None  # of the trials; None if some of it needs a price
    max_failed: float | None = None  # share of trials without an answer that is no failure
    judges: Sequence[JudgeReport] = ()
    judge_cost: float | None = None  # of all calls of judges; None if some of it needs a price

    def summarize(
        self,
        metrics: Sequence[str] = (),
        level: float = 0.95,
        policy: Policy = "drop",
        over: Over = "problems",
    ) -> Summary | None:
        """Summarize the tasks of the run; None if no trial of them is recorded."""
        from passband.summary import Request, summarize_run

        recorded = [task_run.task.name for task_run in self.task_runs if task_run.counters.done]
        if not recorded:
            return None
        request = Request(tuple(metrics), over, level=level, policy=policy)
        return summarize_run(self.directory, request, tasks=recorded, models=[self.model])

    def task_options(self) -> list[str]:
        """Return the --task options that leave out other tasks of the directory, if it has any."""
        own = [task_run.task.name for task_run in self.task_runs]
        with suppress(EmptyStore), Trials(self.directory) as trials:
            if any(run.task not in own for run in trials.runs()):
                return [word for name in own for word in ("--task", name)]
        return []

    @property
    def exit_code(self) -> ExitCode:
        """The exit code of the command: trials without an answer or a score may be a failure."""
        code = _EXIT_CODES[self.ending]
        has_failed = self.failure is not None or bool(self.unscored) or self.is_unjudged
        return ExitCode.FAILED if code is ExitCode.OK and has_failed else code

    @property
    def total_cost(self) -> float:
        """The cost of trials and judges together, as far as it is known."""
        return (self.cost or 0.0) + (self.judge_cost or 0.0)

    @property
    def is_unjudged(self) -> bool:
        """Whether answers are left without a verdict that the next run can get."""
        return any(judge.is_out for judge in self.judges)

    @property
    def failure(self) -> str | None:
        """Why the run counts as failed although it came to its end."""
        if self.max_failed is None:
            return None
        counters = [task_run.counters for task_run in self.task_runs]
        done = sum(counter.done for counter in counters)
        failed = sum(counter.statuses[status] for counter in counters for status in FAILED)
        if failed <= self.max_failed * done:
            return None
        return (
            f"{failed} of {done} trials got no answer, more than --max-failed {self.max_failed:g} "
            "allows. --retry-failed asks for them again."
        )

    @property
    def unscored(self) -> list[str]:
        """Names of the tasks whose answers should have scores, and have none."""
        return [
            run.task.name
            for run in self.task_runs
            if run.counters.main is not None and run.counters.done and not run.counters.has_scores
        ]


def run_session(
    tasks: Sequence[Task],
    model: Model,
    directory: Path,
    *,
    settings: Settings,
    connection: Connection,
    watcher: Watcher,
    price: Price | None = None,
    judge: JudgeChoice | None = None,
    schedule: ScheduleFactory = every_problem,
    low_water: int = LOW_WATER,
    on_start: OnStart | None = None,
    elsewhere: TrialMasks | None = None,
    closing: Ending | None = None,
) -> RunResult:
    """Request every missing trial; return when all are recorded, or the run has to stop.

    `on_start` is given the `Controls` of the run: a function that stops it, from any thread.
    `elsewhere` are trials that a shard need not ask for. With `closing`, nothing is asked: shards
    have, and ended so.
    """
    began = time.monotonic()
    open_sandbox((s for task in tasks for s in task.scorers), unsafe=settings.unsafe_code)
    budget = Budget(price, settings.max_cost, may_grow=settings.is_leased)
    judges = make_judges(judge, budget, settings, connection)
    tasks = judges.tasks(tasks)
    subjects = make_subjects(tasks, model, connection)
    problems = [opened(task, settings, directory, load_problems) for task in tasks]
    shard = settings.shard
    refuse_led(directory)
    store = Store(directory, low_water=low_water, first_body=shard.first_body if shard else 0)
    try:
        prepared = prepare_all(
            store, tasks, problems, subjects, settings, watcher, judges, elsewhere
        )
        if price is not None and price.is_stated:  # of trials that an earlier process left without
            for run in prepared:
                store.price_trials(run.number, price.of)
                recorded = store.config(run.task.name, run.subject.name)
                record_price(store, run.number, recorded, price)
        runner = Runner(
            task_runs=[seated(judges, store, run) for run in prepared],
            store=store,
            judges=judges,
            budget=budget,
            watcher=watcher,
            concurrency=settings.concurrency,
            patience=settings.patience,
            schedule=nothing_more if closing else schedule,
            is_leased=settings.is_leased,
            closing=closing,
        )
        with _recorded(runner, settings.concurrency, subjects[0].address):
            ending = _completed(runner, on_start)
            if ending == "finished" and shard is None:
                _recheck(runner, watcher)
            for task_run in runner.task_runs:
                record_subject(store, task_run)
    except StoreLost as lost:
        raise store.saved(lost) from None
    finally:
        store.close()
    seconds = time.monotonic() - began
    finished = RunResult(
        directory,
        subjects[0].name,
        ending,
        runner.task_runs,
        seconds,
        budget.spent(runner.task_runs),
        settings.max_failed,
        tuple(judge.report() for judge in judges),
        budget.judging,
    )
    if finished.failure is not None:
        watcher.warn(finished.failure)
    return finished


@phase("recheck")
def _recheck(runner: Runner, watcher: Watcher) -> None:
    """Give some verdicts on programs again, where programs were scored."""
    for run in runner.task_runs:
        if any(scorer.runs_tests for _, scorer in run.grader.scorers):
            watcher.note(f"{run.task.name}: some programs are run again, under other hash seeds")
            recheck(runner.store, run.number, run.grader, run.numbers)


@contextmanager
def _recorded(runner: Runner, concurrency: int, address: str | None) -> Iterator[None]:
    """Record the session when it begins to ask, and when it ends; one that is killed has no end."""
    store, numbers = runner.store, list[int]()
    runner.on_asking = lambda: numbers.append(store.begin_session(concurrency, address))
    try:
        yield
    finally:
        fresh = sum(run.counters.fresh for run in runner.task_runs)
        for number in numbers:
            with suppress(PassbandError):  # why the run failed matters more
                store.end_session(number, time.monotonic() - runner.started, fresh)


def make_subjects(tasks: Sequence[Task], model: Model, connection: Connection) -> list[Subject]:
    """Return the subject of each task; those that bring none of their own share one."""
    shared: Subject | None = None
    subjects = []
    for task in tasks:
        if task.subject is not None:
            subjects.append(make_subject(task.subject(model, connection)))
            continue
        shared = shared or make_subject(model, connection)
        subjects.append(shared)
    return subjects


@phase("prepare")
def prepare_all(
    store: Store,
    tasks: Sequence[Task],
    problems: Sequence[Sequence[Problem]],
    subjects: Sequence[Subject],
    settings: Settings,
    watcher: Watcher,
    judges: Judges | None = None,
    elsewhere: TrialMasks | None = None,
) -> list[TaskRun]:
    """Enter tasks into the store, and warn of what the user should know before any request."""
    address = subjects[0].address
    earlier = read_earlier(store.directory, [task.name for task in tasks], subjects[0].name)
    if judges:
        check_judges(judges, store.directory, tasks, problems, subjects[0].name, settings, watcher)
    runs = [
        prepare(
            store,
            task,
            chosen,
            subject,
            settings,
            name=settings.name,
            elsewhere=(elsewhere or {}).get(task.name),
        )
        for task, chosen, subject in zip(tasks, problems, subjects, strict=True)
    ]
    specs = {
        task.name: further_spec(task, subject)
        for task, subject in zip(tasks, subjects, strict=True)
    }
    warn_before_asking(runs, earlier, specs, address, watcher)
    return runs


@phase("ask")
def _completed(runner: Runner, on_start: OnStart | None = None) -> Ending:
    """Run to the end, also where an event loop is running already, as in a notebook."""
    if is_inside_a_loop():
        return _completed_elsewhere(runner, on_start)
    with _signals_kept():
        return complete(_run(runner, on_start))


def _completed_elsewhere(runner: Runner, on_start: OnStart | None) -> Ending:
    """Run to the end in a thread, which gets no signals: pass an interrupt on to it."""
    loops: list[asyncio.AbstractEventLoop] = []

    async def run() -> Ending:
        loops.append(asyncio.get_running_loop())
        return await _run(runner, on_start)

    with ThreadPoolExecutor(1) as thread:
        running = thread.submit(complete, run())
        while True:
            try:
                return running.result()
            except KeyboardInterrupt:
                if running.done() or not loops:
                    raise
                loops[0].call_soon_threadsafe(runner.interrupt)


async def _run(runner: Runner, on_start: OnStart | None) -> Ending:
    loop = asyncio.get_running_loop()
    with _handled(loop, runner), fewer_collections():
        running = asyncio.ensure_future(runner.run())
        if on_start is not None:
            await asyncio.sleep(0)  # until the runner has begun
            on_start(Controls(loop, runner))
        return await running


@dataclass(frozen=True)
class Controls:
    """Controls of a run that is going on; any thread may use them."""

    loop: asyncio.AbstractEventLoop
    runner: Runner

    def __call__(self, drain: float | None = None) -> None:
        """Stop the run in good order; `drain` are the seconds to wait for requests in flight."""
        self._soon(partial(self.runner.interrupt, drain=drain))

    def grant(
        self, max_cost: float | None, concurrency: int, *, may_grow: bool, known: float = 0.0
    ) -> None:
        """Give a shard a new lease."""
        grant = partial(self.runner.grant, max_cost, concurrency, may_grow=may_grow, known=known)
        self._soon(grant)

    def _soon(self, call: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the run is over, and its loop closed
            self.loop.call_soon_threadsafe(call)


@contextmanager
def _signals_kept() -> Iterator[None]:
    """Restore the signal handlers, once there is no event loop that they could break."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            if handler is not None and threading.current_thread() is threading.main_thread():
                signal.signal(number, handler)


@contextmanager
def _handled(loop: asyncio.AbstractEventLoop, runner: Runner) -> Iterator[None]:
    """Turn signals into an orderly end; only the main thread of a program gets them."""
    handlers: dict[signal.Signals, Callable[[], None]] = {
        signal.SIGINT: runner.interrupt,
        signal.SIGTERM: lambda: runner.interrupt("terminated", _TERMINATED),
    }
    held = []
    for number, handler in handlers.items():
        try:
            loop.add_signal_handler(number, handler)
        except (NotImplementedError, RuntimeError, ValueError):  # another system, another thread
            continue
        held.append(number)
    try:
        yield
    finally:
        for number in held:
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_IGN)  # nothing is left to stop but the loop itself
