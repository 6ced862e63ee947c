"""Buffer answers, write them in one thread, and report each commit.

Rows are scored by the quick scorers on their way and committed together, at the latest a
twentieth of a second after they came. Slow and async scorers work on rows that are already safe;
their scores are committed later. So are those of the quick scorers for a row that would keep
requests waiting, because its text is long or hard for a pattern.

Fewer garbage collections while rows by the thousand wait for their commit.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, TypeVar

from passband.run.loop.grader import Grader, score_row, slow_threads
from passband.run.task_run import TaskRun
from passband.score import NeedsWorker, Score, quickly
from passband.trials import AttemptRow, ScoreRow, Store, TrialRow

_EVERY = 0.05  # seconds between commits
_MOST = 500  # rows that do not wait for the next one
_CROWDED = 5_000  # rows in the buffer above which no more are requested
_LOOK = 0.2  # seconds between looks at whether scores are still wanted
_AWAITED = 64  # trials that async scorers work on at a time
_TURN = 0.01  # seconds of scoring between two looks at requests
_TOGETHER = 16  # rows that are scored before the next look at the clock
_LONG = 20_000  # characters of a text that is scored aside

Rows = dict[TaskRun, list[TrialRow]]
Brought = tuple[TaskRun, TrialRow, Mapping[str, Score]]
Scored = tuple[TaskRun, TrialRow, list[ScoreRow]]
Row = TypeVar("Row", TrialRow, AttemptRow)


class Recorder:
    """Collects rows and hands them to the store, which one thread at a time may use."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._rows: Rows = {}
        self._buffered = 0  # rows in the buffer
        self._attempts: list[tuple[TaskRun, AttemptRow]] = []
        self._brought: list[Brought] = []
        self._scores: list[Scored] = []
        self._writer = ThreadPoolExecutor(1, "writer")
        self._scoring = ThreadPoolExecutor(slow_threads(), "scoring")
        self._awaiting = asyncio.Semaphore(_AWAITED)
        self._slow: set[asyncio.Task[None]] = set()
        self._saved = asyncio.Event()  # what has come is on disk
        self._wake = asyncio.Event()  # something has come
        self._hurry = asyncio.Event()  # it should not wait for more
        self._emptied = asyncio.Event()
        self._closing = False
        self._committing = False
        self._scores_wanted = True
        self._task: asyncio.Task[None] | None = None
        self.failure: BaseException | None = None
        self.on_failure: Callable[[BaseException], None] = lambda error: None
        self.on_close: Callable[[], Awaitable[None]] = _nothing  # before its thread ends
        self.on_commit: Callable[[TaskRun, Sequence[TrialRow]], None] = lambda run, rows: None

    def start(self) -> None:
        self._task = asyncio.ensure_future(self._work())

    # -- what comes in ---------------------------------------------------------------------

    def add(
        self,
        run: TaskRun,
        rows: Sequence[TrialRow],
        scores: Mapping[int, Mapping[str, Score]] | None = None,
        *,
        at_once: bool = False,
    ) -> asyncio.Event:
        """Take rows that are to be committed together, with scores that came along, by trial.

        Return the event of their commit, which does not wait for more rows if it is `at_once`.
        """
        self._rows.setdefault(run, []).extend(rows)
        self._buffered += len(rows)
        if scores:
            self._brought += [(run, row, scores[row.trial]) for row in rows if row.trial in scores]
        self._wake.set()
        if at_once or self._buffered >= _MOST:
            self._hurry.set()
        return self._saved

    def attempt(self, run: TaskRun, row: AttemptRow) -> None:
        self._attempts.append((run, row))
        self._wake.set()

    @property
    def thread(self) -> ThreadPoolExecutor:
        """The one thread that uses the store."""
        return self._writer

    @property
    def is_crowded(self) -> bool:
        """Whether more rows are waiting than should be at risk."""
        return self._buffered + len(self._slow) > _CROWDED and self.failure is None

    @property
    def is_idle(self) -> bool:
        """Whether everything that came is on disk, with all its scores."""
        return not (self._committing or self._waiting() or self._slow)

    async def room(self) -> None:
        """Wait while it is crowded."""
        while self.is_crowded:
            self._emptied.clear()
            await self._emptied.wait()

    @property
    def scoring(self) -> int:
        """Rows on disk that slow scorers have not scored yet."""
        return len(self._slow)

    async def scored(self) -> None:
        """Wait until all that came is on disk with its scores, or scores are no longer wanted."""
        while not self.is_idle and self._scores_wanted and self._is_working:
            self._emptied.clear()
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._emptied.wait(), _LOOK)

    @property
    def _is_working(self) -> bool:
        """Whether anybody is there to commit; not after an error, or when all is cancelled."""
        return self.failure is None and self._task is not None and not self._task.done()

    def leave_scores(self) -> None:
        """Do not wait for slow scorers; a resumed run scores what they have not."""
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
        await self.on_close()
        self._writer.shutdown()
        self._scoring.shutdown(wait=False, cancel_futures=True)

    # -- what goes out ---------------------------------------------------------------------

    async def _work(self) -> None:
        """Commit the buffer repeatedly, until the recorder is closed."""
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
                self._saved.set()
                self.on_failure(error)
                return

    def _is_over(self) -> bool:
        scoring = self._scores_wanted and self._slow
        return self._closing and not (self._waiting() or scoring)

    def _waiting(self) -> bool:
        return bool(self._rows or self._attempts or self._scores)

    async def _commit(self) -> None:
        rows, attempts, scores = self._rows, self._attempts, self._scores
        brought, self._brought = self._brought, []
        self._rows, self._attempts, self._scores, self._buffered = {}, [], [], 0
        saved, self._saved = self._saved, asyncio.Event()
        self._committing = True
        if not self._closing:
            self._hurry.clear()
        aside = await _grade(rows)
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._writer, self._write, rows, attempts, brought, scores)
        self._committing = False
        saved.set()
        for run, committed in rows.items():
            run.counters.committed(committed)
            self._announce(run, self._left_by_slow_scorers(run, committed, aside))
        for run, row, added in scores:
            row.scores += added
            for score in added:
                run.counters.scored(row.problem, score)
            self._announce(run, [row])
        self._emptied.set()

    def _announce(self, run: TaskRun, rows: Sequence[TrialRow]) -> None:
        """Pass on rows that are on disk with all their scores."""
        if rows:
            self.on_commit(run, rows)

    def _write(
        self,
        rows: Rows,
        attempts: list[tuple[TaskRun, AttemptRow]],
        brought: list[Brought],
        scores: list[Scored],
    ) -> None:
        """Store, in the writer's thread."""
        for run, row, named in brought:
            row.scores += [
                score_row(run.scorer_number(self._store, name), score, row.text)
                for name, score in named.items()
            ]
        for run, failed in _grouped(attempts).items():
            self._store.add_attempts(run.number, _numbered(run, failed))
        for run, drawn in rows.items():
            self._store.append(run.number, _numbered(run, drawn), again=run.retries_failed)
        if scores:
            self._store.add_scores(
                (run.numbers[row.problem], row.trial, score)
                for run, row, added in scores
                for score in added
            )

    # -- slow scorers ----------------------------------------------------------------------

    def _left_by_slow_scorers(
        self, run: TaskRun, rows: list[TrialRow], aside: set[int]
    ) -> list[TrialRow]:
        """Start scorers on rows that are not scored yet, and return the other rows."""
        if not run.slow.scorers and not aside:
            return rows
        left = []
        for row in rows:
            grader = run.grader if id(row) in aside else run.slow
            if not grader.scorers or row.status not in grader.scored_statuses:
                left.append(row)
                continue
            task = asyncio.ensure_future(self._score(run, row, grader))
            self._slow.add(task)
            task.add_done_callback(self._scored)
        return left

    async def _score(self, run: TaskRun, row: TrialRow, grader: Grader) -> None:
        async with self._awaiting:
            scores = await grader.grade_async(row, self._scoring)
        self._scores.append((run, row, scores))  # a commit may have replaced the list meanwhile

    def _scored(self, task: asyncio.Task[None]) -> None:
        self._slow.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self.failure = self.failure or error
            self.on_failure(error)
        self._wake.set()
        self._emptied.set()


async def _nothing() -> None:
    """Do nothing."""


async def _grade(rows: Rows) -> set[int]:
    """Score rows by the quick scorers; return the identities of rows that are to be scored aside.

    They are scored many together, because scattered among requests each score would take thrice as
    long, but never for so long that requests would notice.
    """
    aside: set[int] = set()
    until = time.monotonic() + _TURN
    for run, drawn in rows.items():
        for start in range(0, len(drawn) if run.quick.scorers else 0, _TOGETHER):
            aside.update(map(id, _grade_together(run.quick, drawn[start : start + _TOGETHER])))
            if time.monotonic() > until:
                await asyncio.sleep(0)
                until = time.monotonic() + _TURN
    return aside


def _grade_together(grader: Grader, rows: Sequence[TrialRow]) -> list[TrialRow]:
    """Score a few rows; return those that are left, being long or hard for a pattern."""
    aside = [row for row in rows if row.text is not None and len(row.text) > _LONG]
    usual = [row for row in rows if row.text is None or len(row.text) <= _LONG]
    try:
        quickly(grader.grade_all, usual)
    except NeedsWorker:
        aside += [row for row in usual if not _is_graded(grader, row)]
    return aside


def _is_graded(grader: Grader, row: TrialRow) -> bool:
    """Score a row; return whether that could be done at once."""
    row.scores.clear()
    try:
        row.scores += quickly(grader.grade, row)
    except NeedsWorker:
        return False
    return True


def _numbered(task_run: TaskRun, rows: Sequence[Row]) -> Sequence[Row]:
    """Return rows with the numbers that the store gave their problems."""
    if task_run.is_in_order:
        return rows
    return [replace(row, problem=task_run.numbers[row.problem]) for row in rows]


def _grouped(pairs: Sequence[tuple[TaskRun, Any]]) -> dict[TaskRun, list[Any]]:
    groups: dict[TaskRun, list[Any]] = {}
    for run, row in pairs:
        groups.setdefault(run, []).append(row)
    return groups


_OBJECTS = 50_000  # new ones before the next collection; Python's default is 700


@contextmanager
def fewer_collections() -> Iterator[None]:
    """Let Python look for reference cycles less often, as long as this lasts.

    Rows, texts and replies are freed as soon as nothing refers to them; they are not part of
    cycles. Looking through those that wait for a commit, again and again, would take a tenth of
    the CPU time of a run with 16 completions to a request.
    """
    before = gc.get_threshold()
    if before[0]:  # 0: the program has switched collections off
        gc.set_threshold(max(before[0], _OBJECTS), *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
