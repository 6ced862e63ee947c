"""A run as its watchers see it, without the run: counters that a test fills."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from passband.run.budget import Budget
from passband.run.progress import Meter, RunProgress
from passband.run.task_run import Counters, Price
from passband.trials.rows import ScoreRow, TrialRow

ROWS = ((1.0, 0.0), (0.0, 0.0), (1.0, 1.0))


class Clock:
    """Time that a test sets."""

    def __init__(self, now: float = 0.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


class Task(SimpleNamespace):
    """As much of a task's run as a meter looks at."""

    __hash__: Any = object.__hash__


class Watched:
    """A run of one task, and its progress; rows are scores by problem."""

    def __init__(
        self,
        rows: Sequence[Sequence[float | None]] = ROWS,
        *,
        name: str = "sums",
        planned: int = 12,
        failed: Sequence[Any] = (),
        tokens: int = 1_000,
        price: Price | None = None,
        **endpoint: Any,
    ) -> None:
        self.clock = Clock(100.0)
        self.counters = Counters(max(1, len(rows)), planned, main=1)
        self.counters.committed(
            [
                TrialRow(problem, trial, "ok", f"{problem} {trial}", None, tokens, 2 * tokens,
                         scores=[ScoreRow(1, value)])
                for problem, scores in enumerate(rows)
                for trial, value in enumerate(scores)
            ]
        )  # fmt: skip
        self.more(len(failed), statuses=failed)
        states: dict[str, Any] = {"is_stopping": False, "paused_for": 0.0, "is_down": False}
        states |= {"retries": {}, "backing_off": 0} | endpoint
        self.endpoint: Any = SimpleNamespace(**states)
        task: Any = Task(task=SimpleNamespace(name=name), counters=self.counters)
        self.meter = Meter([task], Budget(price, None), self.clock)
        self.meter.can_estimate = True

    def more(self, count: int, *, statuses: Sequence[Any] = (), tokens: int | None = None) -> None:
        """Record more trials of the first problem, without scores."""
        self.counters.committed(
            [
                TrialRow(0, 1_000 + at, statuses[at] if statuses else "ok", "x", None, tokens,
                         tokens and 2 * tokens)
                for at in range(count)
            ]
        )  # fmt: skip

    def progress(self, under_way: int = 3) -> RunProgress:
        """Return how far it is, with three trials in flight."""
        return self.meter.read(self.endpoint, under_way)
