"""How a run is going, in numbers: what every display of it shows."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from passband.run.loop import Runner
from passband.run.task_run import TaskRun

if TYPE_CHECKING:
    from passband.stats.interval.estimate import Estimate

__all__ = ["Meter", "Progress", "TaskProgress", "duration", "money", "pace"]

Clock = Callable[[], float]
_WINDOW = 20.0  # seconds that the rate looks back on


@dataclass(frozen=True)
class TaskProgress:
    """One task: how many of its trials are recorded, and what they say so far."""

    task: str
    done: int
    planned: int
    tokens: tuple[int, int]
    cost: float | None
    failed: dict[str, int]  # trials by status, those that are not ok
    estimate: Estimate | None


@dataclass(frozen=True)
class Progress:
    """All tasks of a run at one moment."""

    tasks: list[TaskProgress]
    rate: float | None  # trials per second
    seconds_left: float | None
    under_way: int
    waiting: str | None  # why nothing is being asked


class Meter:
    """Measures the rate of a run over the last seconds."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._seen: deque[tuple[float, int]] = deque()

    def read(self, runner: Runner) -> Progress:
        """Return how far the run is."""
        now, done = self._clock(), sum(part.counters.done for part in runner.parts)
        self._seen.append((now, done))
        while now - self._seen[0][0] > _WINDOW:
            self._seen.popleft()
        then, before = self._seen[0]
        rate = (done - before) / (now - then) if now > then and done > before else None
        left = sum(max(0, part.counters.planned - part.counters.done) for part in runner.parts)
        return Progress(
            tasks=[_task(runner, part) for part in runner.parts],
            rate=rate,
            seconds_left=left / rate if rate else None,
            under_way=runner.under_way,
            waiting=_waiting(runner),
        )


def _task(runner: Runner, part: TaskRun) -> TaskProgress:
    counters = part.counters
    return TaskProgress(
        task=part.task.name,
        done=counters.done,
        planned=counters.planned,
        tokens=(counters.prompt_tokens, counters.completion_tokens),
        cost=runner.budget.spent([part]),
        failed={name: n for name, n in counters.statuses.items() if n and name != "ok"},
        estimate=counters.estimate() if runner.can_estimate else None,
    )


def _waiting(runner: Runner) -> str | None:
    endpoint = runner.endpoint
    if endpoint.is_stopping:
        return "stopping"
    pause = endpoint.paused_for
    if endpoint.is_down:
        return f"the server is down; next try in {duration(pause)}"
    if pause > 1:
        until = time.strftime("%H:%M:%S", time.localtime(time.time() + pause))
        return f"the server asks to wait until {until}"
    return None


def pace(rate: float) -> str:
    """Write a rate in three digits.

    >>> pace(0.1234), pace(45.67), pace(2980.1)
    ('0.123/s', '45.7/s', '2980/s')
    """
    return f"{rate:.0f}/s" if rate >= 100 else f"{rate:.3g}/s"


def duration(seconds: float) -> str:
    """Write a time in the two largest units that say something.

    >>> duration(3.2), duration(75), duration(7260)
    ('3 s', '1 min 15 s', '2 h 1 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def money(amount: float) -> str:
    """Write a cost so that cents of a cent are not lost.

    >>> money(0.0), money(0.00123), money(12.5), money(0.0000123)
    ('0', '0.0012', '12.50', '0.000012')
    """
    if amount == 0:
        return "0"
    return f"{amount:.2f}" if amount >= 0.995 else f"{Decimal(f'{amount:.2g}'):f}"
