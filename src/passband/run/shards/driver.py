"""Leading a run in shards: prepare, start, follow, merge, close.

The stores of the shards are the truth. The leading process keeps nothing that they do not hold: if
it is killed, the next one merges the stores that it finds and asks for what is missing then, in as
many shards as it likes.
"""

from __future__ import annotations

import os
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import FrameType

from passband import plugins
from passband.errors import InvalidInput, PassbandError
from passband.run.budget import Budget
from passband.run.judge.prepare import make_judges
from passband.run.loop import Ending
from passband.run.prepare import load_problems
from passband.run.progress import Progress, ShardCounts, TaskProgress, Watcher
from passband.run.request import RunRequest
from passband.run.session import (
    Elsewhere,
    Finished,
    OnStart,
    make_subjects,
    prepare_all,
    run_session,
)
from passband.run.shard import Shard
from passband.run.shards.job import ShardJob
from passband.run.shards.launch import Launch, Launcher, Running
from passband.run.shards.launchers import make_launcher
from passband.run.shards.leases import Leases
from passband.run.shards.totals import total_progress
from passband.run.shards.wire import Ended, Event, Failed, Lost, Note, Stop, Tick, Warn
from passband.run.task_run import TaskRun
from passband.trials.merge import merge
from passband.trials.reader import Trials, is_run_directory
from passband.trials.store import Store

__all__ = ["SHARDS", "run_shards"]

SHARDS = "shards"  # folder of the shards' stores in the run directory, while they are asked
_LOOK = 0.25  # seconds between two looks at the shards, at most
_SHOW = 0.5
_LOSSES = 5  # times that a shard may be lost without a new trial
_TERMINATED = 5.0  # seconds to wait for requests in flight after SIGTERM
_ENDINGS: Sequence[Ending] = ("terminated", "interrupted", "max_cost")


@dataclass
class _Part:
    """One shard, as the leading process sees it."""

    job: ShardJob
    process: Running
    progress: Progress | None = None
    ending: Ending | None = None
    failure: PassbandError | None = None
    merging: Future[None] | None = None
    losses: int = 0  # since its last new trial
    done: int = -1  # trials, as last reported
    is_stopping: bool = False

    @property
    def is_asking(self) -> bool:
        return self.ending is None and self.failure is None


def run_shards(
    request: RunRequest,
    launch: Launch,
    watcher: Watcher,
    on_start: OnStart | None = None,
    launcher: Launcher | None = None,
) -> Finished:
    """Request every missing trial in shards, and return the run as if one process had asked."""
    began = time.monotonic()
    _require_names(request)
    directory = request.directory.absolute()
    _merge_leftovers(directory / SHARDS, directory, request, watcher)
    runs = _prepared(request, watcher)
    tasks = [_before(run, request) for run in runs]
    ending: Ending = "finished"
    if any(task.done < task.planned for task in tasks):
        launcher = launcher or make_launcher(launch, directory)
        try:
            lead = _Lead(request, launch, launcher, runs, tasks, watcher)
            ending = lead.run(on_start)
        finally:
            launcher.close()
    closing = ending if any(task.done < task.planned for task in tasks) else None
    finished = run_session(
        request.tasks,
        request.model,
        request.directory,
        settings=request.settings,
        connection=request.connection,
        watcher=watcher,
        price=request.price,
        judge=request.judge,
        closing=closing,
    )
    for run, task in zip(finished.task_runs, tasks, strict=True):
        run.counters.fresh = run.counters.done - task.done
    return replace(finished, seconds=time.monotonic() - began)


def _require_names(request: RunRequest) -> None:
    if request.recipe is None:
        raise InvalidInput(
            "a run in shards needs tasks and a model by name: another process has to make them."
        )


def _merge_leftovers(folder: Path, directory: Path, request: RunRequest, watcher: Watcher) -> None:
    """Merge the stores of shards whose leading process was killed."""
    stores = sorted(path for path in folder.glob("*") if is_run_directory(path))
    if stores:
        watcher.note(f"merging {len(stores)} shards of an earlier run that was cut off")
        merge(stores, directory, moved_server=request.settings.moved_server)
    shutil.rmtree(folder, ignore_errors=True)


def _prepared(request: RunRequest, watcher: Watcher) -> list[TaskRun]:
    """Enter the tasks into the store of the run, which refuses what has to be refused."""
    settings = request.settings
    budget = Budget(request.price, settings.max_cost)
    judges = make_judges(request.judge, budget, settings, request.connection)
    tasks = judges.tasks(request.tasks)
    problems = [load_problems(task, settings) for task in tasks]
    subjects = make_subjects(tasks, request.model, request.connection)
    store = Store(request.directory)
    try:
        return prepare_all(store, tasks, problems, subjects, settings, watcher, judges)
    finally:
        store.close()


def _before(run: TaskRun, request: RunRequest) -> TaskProgress:
    """Return a task as it is before any shard asks."""
    counters = run.counters
    return TaskProgress(
        task=run.task.name,
        done=counters.done,
        planned=counters.planned,
        tokens=(counters.prompt_tokens, counters.completion_tokens),
        cost=counters.cost(request.price),
        failed={name: n for name, n in counters.statuses.items() if n and name != "ok"},
        estimate=None,
    )


class _Lead:
    """The leading process while shards are asked."""

    def __init__(
        self,
        request: RunRequest,
        launch: Launch,
        launcher: Launcher,
        runs: Sequence[TaskRun],
        tasks: Sequence[TaskProgress],
        watcher: Watcher,
    ) -> None:
        self._request, self._launch, self._launcher = request, launch, launcher
        self._runs, self._tasks, self._watcher = runs, tasks, watcher
        self._directory = request.directory.absolute()
        spent = sum(task.cost or 0.0 for task in tasks)
        limit = request.settings.max_cost
        self._money = None if limit is None else limit - spent
        self._leases = Leases(self._money, request.settings.concurrency, launch.shards)
        self._parts: list[_Part] = []
        self._shown: set[str] = set()
        self._stop: Stop | None = None
        self._is_killed = False
        self._ending: Ending = "finished"
        self._lost = 0
        self._began = self._last_shown = time.monotonic()
        self._merger = ThreadPoolExecutor(1)

    def run(self, on_start: OnStart | None) -> Ending:
        """Ask for all shards and merge each when it ends; return how the run ended."""
        if self._money is not None and self._money <= 0:
            return "max_cost"
        with self._merger, self._signals():
            if on_start is not None:
                on_start(self.stop)
            self._parts = [self._started(job) for job in self._jobs()]
            while any(part.is_asking for part in self._parts):
                self._launcher.wait(_LOOK)
                for place in range(len(self._parts)):
                    self._look(place)
                self._grant()
                self._pass_on_stop()
                self._show()
            self._show(now=True)
            self._merge_rest()
        return self._ended()

    def stop(self, ending: Ending = "interrupted", seconds: float | None = None) -> None:
        """Stop all shards in good order; the second time, at once."""
        self._is_killed = self._stop is not None
        self._stop, self._ending = Stop(seconds), ending

    # -- steps -----------------------------------------------------------------------------

    def _jobs(self) -> Iterator[ShardJob]:
        request = self._request
        assert request.recipe is not None
        name, elsewhere = self._run_name(), self._recorded()
        for index in range(1, self._launch.shards + 1):
            shard, lease = Shard(index, self._launch.shards), self._leases[index - 1]
            settings = replace(
                request.settings,
                base=name,
                shard=shard,
                concurrency=lease.concurrency,
                max_cost=lease.max_cost,
                is_leased=True,
                max_failed=None,  # of all shards together, at the end
            )
            judge = request.judge
            if judge is not None:  # the closing run asks it about canaries
                judge = replace(judge, concurrency=shard.part_of(judge.concurrency), canaries=0)
            yield ShardJob(
                request.recipe,
                self._directory / SHARDS / shard.directory_name,
                settings,
                request.price,
                judge,
                elsewhere,
                os.getcwd(),
                tuple(plugins.named_modules()),
            )

    def _run_name(self) -> str:
        """Return the name that all seeds derive from; tasks that have others are refused."""
        names = [run.task.name for run in self._runs]
        with Trials(self._request.directory, trusted=True) as trials:
            recorded = [run for run in trials.runs() if run.task in names]
            own = [run for run in recorded if run.model == self._runs[0].subject.name]
        seeds = {run.seed for run in self._runs}
        if len({run.name for run in own}) > 1 or len(seeds) > 1:
            raise InvalidInput(
                f"{self._request.directory} holds tasks that draw their seeds from different "
                "names; run them one after another."
            )
        return own[0].name

    def _recorded(self) -> Elsewhere:
        """Return the trials that need not be asked for again."""
        return {
            run.task.name: {
                run.problems[place].key: mask for place, mask in run.recorded.items() if mask
            }
            for run in self._runs
        }

    def _started(self, job: ShardJob) -> _Part:
        return _Part(job, self._launcher.start(job))

    def _look(self, place: int) -> None:
        """Take in what a shard has reported."""
        part = self._parts[place]
        for event in part.process.events():
            if part.is_asking:
                self._take(place, part, event)

    def _take(self, place: int, part: _Part, event: Event) -> None:
        if isinstance(event, Tick):
            part.progress = event.progress
            self._leases.report(place, event.spent, event.wanted)
            done = sum(task.done for task in event.progress.tasks)
            if done > part.done:
                part.done, part.losses = done, 0
        elif isinstance(event, Note):
            self._once(self._watcher.note, event.text)
        elif isinstance(event, Warn):
            self._once(self._watcher.warn, event.text)
        elif isinstance(event, Lost):
            self._restart(place, part, event)
        else:
            self._end(place, part, event)

    def _end(self, place: int, part: _Part, event: Ended | Failed) -> None:
        """Note how a shard ended, and merge it; an error ends the others."""
        self._leases.end(place)
        if isinstance(event, Failed):
            part.failure = event.error(part.job.name)
            if self._stop is None:
                self._stop = Stop()
        else:
            part.ending = event.ending  # type: ignore[assignment]
        part.merging = self._merger.submit(self._merge, part)

    def _restart(self, place: int, part: _Part, event: Lost) -> None:
        """Start a shard again whose process is gone; it goes on from its store."""
        self._lost += 1
        part.losses += 1
        if part.losses > _LOSSES:
            text = f"shard {part.job.name} was lost {part.losses} times: {event.reason}"
            self._end(place, part, Failed(text))
        elif self._stop is not None:
            self._end(place, part, Ended("interrupted"))
        else:
            self._watcher.note(
                f"shard {part.job.name} was lost ({event.reason}); starting it again"
            )
            part.process = self._launcher.start(part.job)

    def _grant(self) -> None:
        for place, grant in self._leases.due().items():
            self._parts[place].process.send(grant)

    def _pass_on_stop(self) -> None:
        if self._stop is None:
            return
        for part in self._parts:
            if part.is_asking and self._is_killed:
                part.process.kill()
            elif part.is_asking and not part.is_stopping:
                part.process.send(self._stop)
                part.is_stopping = True

    def _merge(self, part: _Part) -> None:
        """Copy the store of a shard into that of the run, and remove it."""
        directory = part.job.directory
        if is_run_directory(directory):
            merge([directory], self._directory, moved_server=self._request.settings.moved_server)
        shutil.rmtree(directory, ignore_errors=True)

    def _merge_rest(self) -> None:
        """Wait for the last merge; raise what has failed."""
        failures = [part.failure for part in self._parts if part.failure is not None]
        for part in self._parts:
            if part.merging is not None:
                part.merging.result()
        with suppress(OSError):
            (self._directory / SHARDS).rmdir()
        if failures:
            raise failures[0]

    def _ended(self) -> Ending:
        """Return how the run ended: as the shard that was kept from the most."""
        if self._stop is not None:
            return self._ending
        endings = [part.ending for part in self._parts]
        return next((one for one in _ENDINGS if one in endings), "finished")

    # -- watching --------------------------------------------------------------------------

    def _once(self, show: Callable[[str], None], text: str) -> None:
        """Show a text that several shards report once."""
        if text not in self._shown:
            self._shown.add(text)
            show(text)

    def _show(self, *, now: bool = False) -> None:
        if not now and time.monotonic() - self._last_shown < _SHOW:
            return
        self._last_shown = time.monotonic()
        known = [part.progress for part in self._parts if part.progress is not None]
        asking = [p.progress for p in self._parts if p.progress is not None and p.is_asking]
        ended = sum(not part.is_asking for part in self._parts)
        counts = ShardCounts(len(self._parts), ended, self._lost)
        elapsed = self._last_shown - self._began
        self._watcher.tick(total_progress(self._tasks, known, asking, elapsed, counts))

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """Turn signals into an orderly end of all shards."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        actions = {
            signal.SIGINT: partial(self.stop, "interrupted"),
            signal.SIGTERM: partial(self.stop, "terminated", _TERMINATED),
        }

        def handle(number: int, frame: FrameType | None) -> None:
            actions[signal.Signals(number)]()

        before = {number: signal.signal(number, handle) for number in actions}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
