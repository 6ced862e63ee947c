"""The process that leads the shards of a run: it starts and follows them, and merges each.

The progress of all shards as that of one run.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from types import FrameType

from passband import plugins
from passband.errors import InvalidInput, PassbandError
from passband.run.budget import Budget
from passband.run.loop.loop import Ending
from passband.run.progress import RunProgress, ShardCounts, TaskProgress, Watcher
from passband.run.request import RunRequest
from passband.run.session import OnStart, TrialMasks
from passband.run.shards.folder import once_free
from passband.run.shards.job import ShardJob
from passband.run.shards.launch import Launch, Launcher, Running
from passband.run.shards.leases import Leases
from passband.run.shards.shard import Shard
from passband.run.shards.wire import (
    Ended,
    Event,
    Failed,
    Lost,
    ShardNote,
    ShardWarning,
    StopOrder,
    Tick,
)
from passband.run.task_run import TaskRun
from passband.trials import SHARDS_FOLDER, Trials, is_run_directory, merge_directories


def total_progress(
    before: Sequence[TaskProgress],
    shards: Iterable[RunProgress],
    running: Iterable[RunProgress],
    elapsed: float,
    counts: ShardCounts,
) -> RunProgress:
    """Add up tasks as they were before, and every shard's part; rates are of those that run."""
    every, asking = list(shards), list(running)
    tasks = [_task(task, [t for one in every for t in one.tasks]) for task in before]
    rates = [one.rate for one in asking if one.rate is not None]
    left = [one.seconds_left for one in asking]
    known = [seconds for seconds in left if seconds is not None]
    retries: Counter[str] = Counter()
    for one in every:
        retries.update(one.retries)
    waiting = [one.waiting for one in asking if one.waiting is not None]
    return RunProgress(
        tasks=tasks,
        rate=sum(rates) if rates else None,
        seconds_left=max(known, default=None) if len(known) == len(left) else None,
        under_way=sum(one.under_way for one in asking),
        waiting=waiting[0] if waiting and len(waiting) == len(asking) else None,
        elapsed=elapsed,
        retries=dict(retries),
        backing_off=sum(one.backing_off for one in asking),
        scoring=sum(one.scoring for one in asking),
        shards=counts,
    )


def _task(before: TaskProgress, parts: Sequence[TaskProgress]) -> TaskProgress:
    own = [part for part in parts if part.task == before.task]
    costs = [part.cost for part in own if part.cost is not None]
    if before.cost is not None:
        costs.append(before.cost)
    return TaskProgress(
        task=before.task,
        done=before.done + sum(part.done for part in own),
        planned=before.planned,
        tokens=(
            before.tokens[0] + sum(part.tokens[0] for part in own),
            before.tokens[1] + sum(part.tokens[1] for part in own),
        ),
        cost=sum(costs) if costs else None,
        failed=_failed(before.failed, [part.failed for part in own]),
        estimate=None,
    )


def _failed(before: Mapping[str, int], parts: Sequence[Mapping[str, int]]) -> dict[str, int]:
    total = Counter(before)
    for part in parts:
        total.update(part)
    return dict(total)


_NUMBER = re.compile(r"\d+")
_LOOK = 0.25  # seconds between two looks at the shards, at most
_SHOW = 0.5
_LOSSES = 5  # times that a shard may be lost without a new trial
_TERMINATED = 5.0  # seconds to wait for requests in flight after SIGTERM
_GRACE = 15.0  # seconds that a shard may take beyond that, to record what was answered
_SILENT = 60.0  # seconds without a word from a shard after which something is wrong
_ENDINGS: Sequence[Ending] = ("terminated", "interrupted", "max_cost")


@dataclass
class LedShard:
    """One shard, as the leading process sees it."""

    job: ShardJob
    process: Running
    progress: RunProgress | None = None
    ending: Ending | None = None
    failure: PassbandError | None = None
    merging: Future[None] | None = None
    losses: int = 0  # since its last new trial
    done: int = -1  # trials, as last reported
    heard: float = field(default_factory=time.monotonic)  # when it last reported anything
    is_stopping: bool = False
    is_killed: bool = False

    @property
    def is_asking(self) -> bool:
        return self.ending is None and self.failure is None


class Lead:
    """The leading process while shards are asked."""

    def __init__(
        self,
        request: RunRequest,
        launch: Launch,
        launcher: Launcher,
        runs: Sequence[TaskRun],
        tasks: Sequence[TaskProgress],
        watcher: Watcher,
        budget: Budget,
    ) -> None:
        self._request, self._launch, self._launcher = request, launch, launcher
        self._runs, self._tasks, self._watcher = runs, tasks, watcher
        self._directory = request.directory.absolute()
        self._money = None if budget.limit is None else budget.limit - budget.total
        self._leases = Leases(
            self._money, request.settings.concurrency, launch.shards, trial=budget.trial
        )
        self._parts: list[LedShard] = []
        self._shown: set[str] = set()
        self._stop: StopOrder | None = None
        self._patience_ends = float("inf")  # when a shard that does not stop is ended
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
            self._parts = [
                LedShard(job, self._started(place, job)) for place, job in enumerate(self._jobs())
            ]
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
        is_second = self._ending != "finished"
        self._ending = ending
        self._halt(seconds)
        if is_second:
            self._patience_ends = 0.0

    def _halt(self, seconds: float | None = None) -> None:
        """Let all shards stop in good order; a process that is stuck is not waited for."""
        drain = self._request.settings.patience.drain if seconds is None else seconds
        self._stop = StopOrder(drain)
        self._patience_ends = min(self._patience_ends, time.monotonic() + drain + _GRACE)

    # -- steps -----------------------------------------------------------------------------

    def _jobs(self) -> Iterator[ShardJob]:
        request = self._request
        assert request.recipe is not None
        name, elsewhere = self._run_name(), self._recorded()
        for index in range(1, self._launch.shards + 1):
            shard = Shard(index, self._launch.shards)
            settings = replace(
                request.settings,
                base=name,
                shard=shard,
                concurrency=self._leases[index - 1].concurrency,
                max_cost=None if self._money is None else 0.0,  # until it has its lease
                is_leased=True,
                max_failed=None,  # of all shards together, at the end
            )
            judge = request.judge
            if judge is not None:  # the closing run asks it about canaries
                judge = replace(judge, concurrency=shard.part_of(judge.concurrency), canaries=0)
            yield ShardJob(
                request.recipe,
                self._directory / SHARDS_FOLDER / shard.directory_name,
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

    def _recorded(self) -> TrialMasks:
        """Return the trials that need not be asked for again."""
        return {
            run.task.name: {
                run.problems[place].key: mask for place, mask in run.recorded.items() if mask
            }
            for run in self._runs
        }

    def _started(self, place: int, job: ShardJob) -> Running:
        """Start a process for a shard, and send it the lease that the shard has by now."""
        process = self._launcher.start(job)
        process.send(self._leases.grant(place))
        return process

    def _look(self, place: int) -> None:
        """Take in what a shard has reported."""
        part, now = self._parts[place], time.monotonic()
        for event in part.process.events():
            part.heard = now
            if part.is_asking:
                self._take(place, part, event)
        if part.is_asking and now - part.heard > _SILENT:
            self._once(
                self._watcher.warn,
                f"shard {part.job.name} has reported nothing for a minute; its process or its disk "
                f"may be stuck{', or the cluster busy' if self._launch.on else ''}.",
            )

    def _take(self, place: int, part: LedShard, event: Event) -> None:
        if isinstance(event, Tick):
            part.progress = event.progress
            self._leases.report(place, event.spent, event.wanted, event.trial)
            done = sum(task.done for task in event.progress.tasks)
            if done > part.done:
                part.done, part.losses = done, 0
        elif isinstance(event, ShardNote):
            self._once(self._watcher.note, event.text)
        elif isinstance(event, ShardWarning):
            self._once(self._watcher.warn, event.text)
        elif isinstance(event, Lost):
            self._restart(place, part, event)
        else:
            self._end(place, part, event)

    def _end(self, place: int, part: LedShard, event: Ended | Failed) -> None:
        """Note how a shard ended, and merge it; an error ends the others."""
        self._leases.end(place)
        if isinstance(event, Failed):
            part.failure = event.error(part.job.name)
            if self._stop is None:
                self._halt()
        else:
            part.ending = event.ending  # type: ignore[assignment]
        part.merging = self._merger.submit(self._merge, part)

    def _restart(self, place: int, part: LedShard, event: Lost) -> None:
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
            part.process = self._started(place, part.job)

    def _grant(self) -> None:
        for place, grant in self._leases.due().items():
            self._parts[place].process.send(grant)

    def _pass_on_stop(self) -> None:
        if self._stop is None:
            return
        is_late = time.monotonic() > self._patience_ends
        for part in self._parts:
            if part.is_asking and is_late and not part.is_killed:
                part.process.kill()
                part.is_killed = True
            elif part.is_asking and not part.is_stopping:
                part.process.send(self._stop)
                part.is_stopping = True

    def _merge(self, part: LedShard) -> None:
        """Copy the store of a shard into that of the run, and remove it."""
        directory = part.job.directory
        moved_server = self._request.settings.moved_server
        if is_run_directory(directory):
            once_free(
                lambda: merge_directories([directory], self._directory, moved_server=moved_server)
            )
        shutil.rmtree(directory, ignore_errors=True)

    def _merge_rest(self) -> None:
        """Wait for the last merge; raise what has failed."""
        failures = [part.failure for part in self._parts if part.failure is not None]
        for part in self._parts:
            if part.merging is not None:
                part.merging.result()
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
        """Show a text that several shards report once, though its numbers differ."""
        words = _NUMBER.sub("#", text)
        if words not in self._shown:
            self._shown.add(words)
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
