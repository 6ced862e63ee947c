"""From answers to rows on disk: a buffer, one writer thread, and news of each commit.

Rows are scored by the quick scorers on their way and committed together, at the latest a
twentieth of a second after they came. Slow scorers work on rows that are already safe.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeVar

from passband.run.task_run import TaskRun
from passband.trials.rows import AttemptRow, ScoreRow, TrialRow
from passband.trials.store import Store

__all__ = ["Recorder"]

_EVERY = 0.05  # seconds between commits
_MOST = 500  # rows that do not wait for the next one
_CROWDED = 5_000  # rows in the buffer above which nobody asks for more

Row = TypeVar("Row", TrialRow, AttemptRow)
Scored = tuple[TaskRun, int, int, ScoreRow]


class Recorder:
    """Collects rows and hands them to the store, which one thread at a time may use."""

    def __init__(self, store: Store, slow_threads: int = 4) -> None:
        self._store = store
        self._rows: list[tuple[TaskRun, TrialRow]] = []
        self._attempts: list[tuple[TaskRun, AttemptRow]] = []
        self._scores: list[Scored] = []
        self._writer = ThreadPoolExecutor(1, "writer")
        self._scoring = ThreadPoolExecutor(slow_threads, "scoring")
        self._slow: set[asyncio.Task[None]] = set()
        self._wake = asyncio.Event()  # something has come
        self._hurry = asyncio.Event()  # it should not wait for more
        self._emptied = asyncio.Event()
        self._closing = False
        self._scores_wanted = True
        self._task: asyncio.Task[None] | None = None
        self.failure: BaseException | None = None
        self.on_failure: Callable[[BaseException], None] = lambda error: None

    def start(self) -> None:
        self._task = asyncio.ensure_future(self._work())

    # -- what comes in ---------------------------------------------------------------------

    def add(self, part: TaskRun, rows: Sequence[TrialRow]) -> None:
        """Take rows that belong together: they are committed together."""
        self._rows += [(part, row) for row in rows]
        self._wake.set()
        if len(self._rows) >= _MOST:
            self._hurry.set()

    def attempt(self, part: TaskRun, row: AttemptRow) -> None:
        self._attempts.append((part, row))
        self._wake.set()

    @property
    def is_crowded(self) -> bool:
        """Whether more rows are waiting than should be at risk."""
        return len(self._rows) + len(self._slow) > _CROWDED and self.failure is None

    async def room(self) -> None:
        """Wait while it is crowded."""
        while self.is_crowded:
            self._emptied.clear()
            await self._emptied.wait()

    def leave_scores(self) -> None:
        """Do not wait for slow scorers; what they have not scored is scored next time."""
        self._scores_wanted = False
        self._wake.set()

    async def close(self) -> None:
        """Commit everything, once the slow scorers are done with it."""
        self._closing = True
        self._hurry.set()
        self._wake.set()
        if self._task is not None:
            await self._task
        for task in self._slow:
            task.cancel()
        self._writer.shutdown()
        self._scoring.shutdown(wait=False, cancel_futures=True)

    # -- what goes out ---------------------------------------------------------------------

    async def _work(self) -> None:
        """Commit whatever has come, again and again, until it is the last time."""
        while not self._is_over():
            if not self._waiting():
                await self._wake.wait()
                self._wake.clear()
                continue
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._hurry.wait(), _EVERY)
            try:
                await self._commit()
            except Exception as error:
                self.failure = error
                self._emptied.set()
                self.on_failure(error)
                return

    def _is_over(self) -> bool:
        scoring = self._scores_wanted and self._slow
        return self._closing and not (self._waiting() or scoring)

    def _waiting(self) -> bool:
        return bool(self._rows or self._attempts or self._scores)

    async def _commit(self) -> None:
        rows, attempts, scores = self._rows, self._attempts, self._scores
        self._rows, self._attempts, self._scores = [], [], []
        if not self._closing:
            self._hurry.clear()
        # Scored in one go: scattered among requests, each score would take thrice as long.
        for part, row in rows:
            row.scores = part.quick.grade(row)
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._writer, self._write, rows, attempts, scores)
        for part, committed in _grouped(rows).items():
            part.counters.committed(committed)
            self._score_slowly(part, committed)
        for part, problem, _, score in scores:
            part.counters.scored(problem, score)
        self._emptied.set()

    def _write(
        self,
        rows: list[tuple[TaskRun, TrialRow]],
        attempts: list[tuple[TaskRun, AttemptRow]],
        scores: list[Scored],
    ) -> None:
        """Store, in the writer's thread."""
        for part, failed in _grouped(attempts).items():
            self._store.add_attempts(part.number, _numbered(part, failed))
        for part, drawn in _grouped(rows).items():
            self._store.append(part.number, _numbered(part, drawn), again=part.retries_failed)
        if scores:
            self._store.add_scores(
                (part.numbers[problem], trial, score) for part, problem, trial, score in scores
            )

    def _score_slowly(self, part: TaskRun, rows: Sequence[TrialRow]) -> None:
        if not part.slow.scorers:
            return
        for row in rows:
            if row.status in part.slow.scored_statuses:
                task = asyncio.ensure_future(self._score(part, row))
                self._slow.add(task)
                task.add_done_callback(self._scored)

    async def _score(self, part: TaskRun, row: TrialRow) -> None:
        loop = asyncio.get_running_loop()
        for score in await loop.run_in_executor(self._scoring, part.slow.grade, row):
            self._scores.append((part, row.problem, row.trial, score))

    def _scored(self, task: asyncio.Task[None]) -> None:
        self._slow.discard(task)
        self._wake.set()
        self._emptied.set()


def _numbered(part: TaskRun, rows: Sequence[Row]) -> Sequence[Row]:
    """Return rows with the numbers that the store gave their problems."""
    if part.is_in_order:
        return rows
    return [replace(row, problem=part.numbers[row.problem]) for row in rows]


def _grouped(pairs: Sequence[tuple[TaskRun, Any]]) -> dict[TaskRun, list[Any]]:
    found: dict[TaskRun, list[Any]] = {}
    for part, row in pairs:
        found.setdefault(part, []).append(row)
    return found
