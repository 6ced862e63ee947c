"""Progress of a run, in numbers: everything that a display of it needs, and nothing else.

The progress of a run as one line, for programs and notebooks.
"""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Literal, Protocol

from passband.errors import warn
from passband.run.budget import Budget
from passband.run.loop.endpoint import Endpoint
from passband.run.task_run import TaskRun

if TYPE_CHECKING:
    from passband.stats.interval import Estimate


Clock = Callable[[], float]
_WINDOW = 20.0  # seconds that the rate is averaged over
_FEW = 32  # trials, or this part of all, below which nothing is forecast: 1 in 32
_SHARE = 50  # an estimate may take this part of the time: 1 in 50


@dataclass(frozen=True)
class TaskProgress:
    """One task: how many of its trials are recorded, and the estimate so far."""

    task: str
    done: int
    planned: int
    tokens: tuple[int, int]
    cost: float | None
    failed: dict[str, int]  # trials by status, those that are not ok
    estimate: Estimate | None


@dataclass(frozen=True)
class Waiting:
    """Why no request is sent, and for how many seconds."""

    reason: Literal["stopping", "server-down", "rate-limited"]
    seconds: float


@dataclass(frozen=True)
class ShardCounts:
    """The shards of a run: how many there are, have ended, and were lost and started again."""

    shards: int
    ended: int
    lost: int = 0


@dataclass(frozen=True)
class RunProgress:
    """All tasks of a run at one moment."""

    tasks: list[TaskProgress]
    rate: float | None  # trials per second
    seconds_left: float | None
    under_way: int  # trials in flight
    waiting: Waiting | None
    elapsed: float = 0.0  # seconds since this process began
    retries: Mapping[str, int] = field(default_factory=dict)  # failed attempts, by outcome
    backing_off: int = 0  # requests that wait before their next attempt
    scoring: int = 0  # recorded trials that scorers which take their time are working on
    shards: ShardCounts | None = None


class Watcher(Protocol):
    """Receives progress, notes and warnings during a run.

    A watcher with `shows_estimates = True` gets estimates; the run does not compute them for
    others. One with `shows_guesses = False` gets no notes on how data files were understood.
    """

    def tick(self, progress: RunProgress) -> None:
        """Show how far the run is; called twice a second."""
        ...

    def note(self, text: str) -> None:
        """Show what the user should know even if nothing is wrong."""
        ...

    def warn(self, text: str) -> None:
        """Show what the user should not miss."""
        ...


class Meter:
    """Measures the progress of tasks, and their rate over the last seconds.

    The time left is forecast from a longer stretch, of two waves of requests at least: answers that
    take a minute come in waves, and their rate within seconds means nothing. Before the first wave
    is answered, or a fair part of the run, there is no forecast.

    An estimate is computed again only when there are new trials, and not more often than leaves
    it a fiftieth of the time: a run of many tasks is not held up by those who watch it.
    """

    def __init__(
        self, runs: Sequence[TaskRun], budget: Budget, clock: Clock = time.monotonic
    ) -> None:
        self._runs = runs
        self._budget = budget
        self._clock = clock
        self._began = clock()
        self._seen: deque[tuple[float, int]] = deque()
        self._waves: deque[tuple[float, int]] = deque()
        self._estimates: dict[TaskRun, tuple[int, Estimate | None]] = {}
        self._next_estimate = float("-inf")
        self.can_estimate = False  # once the statistics are loaded, if they are shown

    def read(self, endpoint: Endpoint, under_way: int, scoring: int = 0) -> RunProgress:
        """Return how far the run is."""
        counters = [run.counters for run in self._runs]
        done, now = sum(c.done for c in counters), self._clock()
        left = sum(max(0, c.planned - c.done) for c in counters)
        waiting = _waiting(endpoint)
        self._estimate()
        return RunProgress(
            tasks=[self._task(run) for run in self._runs],
            rate=self._rate(now, done),
            seconds_left=self._forecast(now, done, left, under_way, waiting),
            under_way=under_way,
            waiting=waiting,
            elapsed=now - self._began,
            retries=dict(endpoint.retries),
            backing_off=endpoint.backing_off,
            scoring=scoring,
        )

    def _rate(self, now: float, done: int) -> float | None:
        self._seen.append((now, done))
        while now - self._seen[0][0] > _WINDOW:
            self._seen.popleft()
        return _slope(*self._seen[0], now, done)

    def _forecast(
        self, now: float, done: int, left: int, under_way: int, waiting: Waiting | None
    ) -> float | None:
        """Return the seconds left, with the wait for the server."""
        waves = self._waves
        if not waves or waves[-1][1] != done:
            waves.append((now, done))
        while len(waves) > 1 and now - waves[1][0] > _WINDOW and done - waves[1][1] > 2 * under_way:
            waves.popleft()
        if not left:
            return 0.0
        rate = _slope(*waves[0], now, done)
        wave = min(under_way, max(_FEW, (done + left) // _FEW))
        if rate is None or done - waves[0][1] < wave:
            return None
        return left / rate + (waiting.seconds if waiting else 0.0)

    def _estimate(self) -> None:
        start = self._clock()
        if not self.can_estimate or start < self._next_estimate:
            return
        for run in self._runs:
            done = run.counters.done
            if self._estimates.get(run, (None,))[0] != done:
                self._estimates[run] = done, run.counters.estimate()
        self._next_estimate = start + _SHARE * (self._clock() - start)

    def _task(self, run: TaskRun) -> TaskProgress:
        counters = run.counters
        return TaskProgress(
            task=run.task.name,
            done=counters.done,
            planned=counters.planned,
            tokens=(counters.prompt_tokens, counters.completion_tokens),
            cost=self._budget.spent([run]),
            failed={name: n for name, n in counters.statuses.items() if n and name != "ok"},
            estimate=self._estimates.get(run, (0, None))[1],
        )


def _slope(then: float, before: int, now: float, done: int) -> float | None:
    """Return the trials per second between two looks; None if there were none."""
    return (done - before) / (now - then) if now > then and done > before else None


def _waiting(endpoint: Endpoint) -> Waiting | None:
    pause = endpoint.paused_for
    if endpoint.is_stopping:
        return Waiting("stopping", 0.0)
    if endpoint.is_down:
        return Waiting("server-down", pause)
    return Waiting("rate-limited", pause) if pause > 1 else None


_WIDTH = 78


class Silent:
    """A watcher that passes warnings on, and nothing else."""

    def tick(self, progress: RunProgress) -> None:
        """Show nothing."""

    def note(self, text: str) -> None:
        """Show nothing."""

    def warn(self, text: str) -> None:
        """Issue a Python warning."""
        warn(text)

    def close(self) -> None:
        """Show nothing."""


class ProgressLine(Silent):
    """A line that is written over twice a second: how many trials, how fast, how long."""

    def __init__(self, out: IO[str] | None = None) -> None:
        self._out = out or sys.stderr
        self._shown = ""

    def tick(self, progress: RunProgress) -> None:
        """Show how far the run is."""
        self._write(_line(progress))

    def warn(self, text: str) -> None:
        """Issue a Python warning, on a line of its own."""
        self._write("")
        warn(text)

    def close(self) -> None:
        """Leave the last line standing."""
        if self._shown:
            self._out.write("\n")
            self._out.flush()
            self._shown = ""

    def _write(self, line: str) -> None:
        if line != self._shown:
            self._out.write(f"\r{line.ljust(len(self._shown))}\r{line}")
            self._out.flush()
            self._shown = line


def make_watcher(progress: bool | None) -> Silent:
    """Return a watcher that shows progress; None shows it on terminals and in notebooks."""
    if progress is None:
        progress = sys.stderr.isatty() or "ipykernel" in sys.modules
    return ProgressLine() if progress else Silent()


def _line(progress: RunProgress) -> str:
    done = sum(task.done for task in progress.tasks)
    planned = sum(task.planned for task in progress.tasks)
    failed = sum(sum(task.failed.values()) for task in progress.tasks)
    share = f"{100 * done // planned} %" if planned else "0 %"
    pieces = [f"{done} of {planned} trials", share]
    if failed:
        pieces.append(f"{failed} failed")
    if progress.rate:
        pieces.append(f"{progress.rate:.3g}/s")
    if progress.seconds_left:
        pieces.append(f"{_clock(progress.seconds_left)} left")
    if progress.waiting is not None:
        pieces.append(f"waiting ({progress.waiting.reason})")
    return ", ".join(pieces)[:_WIDTH]


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
