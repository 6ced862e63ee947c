"""Run async scorers on recorded trials from synchronous code."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import contextmanager

from passband.run.loop.grader import Grader
from passband.trials import ScoreRow, TrialRow

_AWAITED = 64  # trials that are scored at a time


@contextmanager
def loop_for(running: asyncio.AbstractEventLoop | None) -> Iterator[asyncio.AbstractEventLoop]:
    """Yield the event loop of another thread: a running one, or one made for the purpose.

    A scorer may keep connections, which belong to the loop that they were made in: within a run
    it must be that of the run.
    """
    if running is not None:
        yield running
        return
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def graded_in_threads(
    threads: Executor,
    grade: Callable[[TrialRow], list[ScoreRow]],
    rows: Iterable[TrialRow],
    is_stopping: Callable[[], bool],
) -> Iterator[tuple[TrialRow, list[ScoreRow]]]:
    """Yield rows with their scores as they are done: one that hangs holds up no other.

    Only some are under way at a time, so that rows are read as they are needed.
    """
    waiting = iter(rows)
    running: dict[Future[list[ScoreRow]], TrialRow] = {}
    while True:
        while len(running) < _AWAITED and not is_stopping():
            row = next(waiting, None)
            if row is None:
                break
            running[threads.submit(grade, row)] = row
        if not running:
            return
        done, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            yield running.pop(future), future.result()


def grade_in_loop(
    loop: asyncio.AbstractEventLoop,
    grader: Grader,
    rows: Sequence[TrialRow],
    is_stopping: Callable[[], bool],
    tick: Callable[[], None] = lambda: None,
) -> list[list[ScoreRow]]:
    """Return the scores of each row; rows that come up once the run is stopping get none."""

    async def grade_all() -> list[list[ScoreRow]]:
        limit = asyncio.Semaphore(_AWAITED)

        async def grade(row: TrialRow) -> list[ScoreRow]:
            async with limit:
                scores = [] if is_stopping() else await grader.grade_async(row, None)
                tick()
                return scores

        return list(await asyncio.gather(*map(grade, rows)))

    return asyncio.run_coroutine_threadsafe(grade_all(), loop).result()
