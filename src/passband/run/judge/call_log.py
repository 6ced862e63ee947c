"""Calls to judges on their way to disk: written together, and none counts before it is there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import NamedTuple, TypeVar

from passband.trials import CallRow, Store

_EVERY = 0.05  # seconds between commits
Result = TypeVar("Result")


class RecordedCall(NamedTuple):
    """What the store holds of a call: a reply of the same content, and its attempts so far."""

    reply: CallRow | None
    attempts: int
    has_copy: bool  # whether a reply to another call is recorded for this one


class CallLog:
    """Reads and writes calls in the one thread that may use the store."""

    def __init__(self, store: Store, thread: Executor | None = None) -> None:
        self._store, self.thread = store, thread
        self._waiting: list[tuple[CallRow, asyncio.Future[None]]] = []
        self._flushing: set[asyncio.Task[None]] = set()

    async def look(
        self, scorer: int, problem: int, trial: int, call: int, key: bytes
    ) -> RecordedCall:
        """Return what is recorded of a call, and of calls with the same content."""

        def read() -> RecordedCall:
            replies = self._store.replies([key]).get(key, [])
            own = [row for row in self._store.calls(scorer, problem, trial) if row.call == call]
            attempts = max((row.attempt for row in own), default=0)
            place = (scorer, problem, trial, call)
            replies.sort(key=lambda row: (row.scorer, row.problem, row.trial, row.call) != place)
            copied = any(row.is_cached and row.key == key for row in own)
            return RecordedCall(replies[0] if replies else None, attempts, copied)

        return await self._in_thread(read)

    def add(self, row: CallRow) -> asyncio.Future[None]:
        """Take a call; what is returned is done when it is on disk, and raises if it is not."""
        loop = asyncio.get_running_loop()
        if not self._waiting:
            loop.call_later(_EVERY, self._start)
        saved: asyncio.Future[None] = loop.create_future()
        saved.add_done_callback(_retrieve)
        self._waiting.append((row, saved))
        return saved

    async def close(self) -> None:
        """Write what is left."""
        self._start()
        await asyncio.gather(*self._flushing, return_exceptions=True)

    def _start(self) -> None:
        if self._waiting:
            task = asyncio.ensure_future(self._flush())
            self._flushing.add(task)
            task.add_done_callback(self._flushing.discard)

    async def _flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        errors = await self._in_thread(lambda: self._write([row for row, _ in waiting]))
        for (_, saved), error in zip(waiting, errors, strict=True):
            if saved.done():  # whoever waited for it was cancelled
                continue
            if error is None:
                saved.set_result(None)
            else:
                saved.set_exception(error)

    def _write(self, rows: Sequence[CallRow]) -> list[Exception | None]:
        """Record calls together, or else one by one; return what is wrong with each."""
        error = self._refusal(rows)
        if error is None or len(rows) == 1:
            return [error] * len(rows)
        return [self._refusal([row]) for row in rows]

    def _refusal(self, rows: Sequence[CallRow]) -> Exception | None:
        try:
            self._store.add_calls(rows)
        except Exception as error:
            return error
        return None

    async def _in_thread(self, work: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self.thread, work)


def _retrieve(saved: asyncio.Future[None]) -> None:
    """Look at the error, for calls whose end nobody waits for."""
    if not saved.cancelled():
        saved.exception()
