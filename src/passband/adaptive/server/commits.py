"""Group commit: changes that arrive together reach the disk together."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

_GATHERING = 0.005  # seconds to wait for more changes, while several come at a time
Change = Callable[[sqlite3.Connection], None]


class Commits:
    """Changes of a database, each of them on disk when its `await` ends, or not made at all.

    Rows are written in the event loop, which takes microseconds. Only the commit, which waits for
    the disk, is made in a thread; what arrives meanwhile becomes the next transaction. A commit
    takes much of the computing of an answer, so that a busy server waits for a few of them.
    """

    def __init__(self, connection: sqlite3.Connection, before: Callable[[], None]) -> None:
        self._connection = connection
        self._before = before  # called ahead of each transaction; raises if it must not be made
        self._waiting: list[tuple[Change, asyncio.Future[None]]] = []
        self._running: asyncio.Task[None] | None = None
        self._is_busy = False  # whether several changes came together last time
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="commit")

    async def make(self, change: Change) -> None:
        """Make a change, and return when it is on disk."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        self._waiting.append((change, done))
        if self._running is None:
            self._running = loop.create_task(self._run())
        await done

    async def close(self) -> None:
        """Wait for what is under way, and end the thread."""
        if self._running is not None:
            await self._running
        self._thread.shutdown()

    async def _run(self) -> None:
        """Commit what is waiting until nothing is."""
        try:
            while self._waiting:
                if self._is_busy:
                    await asyncio.sleep(_GATHERING)
                batch, self._waiting = self._waiting, []
                self._is_busy = len(batch) > 1
                if not await self._committed(batch) and len(batch) > 1:
                    for one in batch:  # which of them was the bad one?
                        await self._committed([one])
        finally:
            self._running = None

    async def _committed(self, batch: list[tuple[Change, asyncio.Future[None]]]) -> bool:
        """Commit changes together; a single one that fails is told why."""
        try:
            self._before()
            self._connection.execute("BEGIN IMMEDIATE")
            for change, _ in batch:
                change(self._connection)
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(self._thread, self._connection.execute, "COMMIT")
        except Exception as error:
            self._undo()
            if len(batch) == 1 and not batch[0][1].done():
                batch[0][1].set_exception(error)
            return False
        for _, done in batch:
            if not done.done():  # whoever asked may have been cancelled
                done.set_result(None)
        return True

    def _undo(self) -> None:
        if self._connection.in_transaction:
            with suppress(sqlite3.Error):  # why it failed matters more; closing undoes it too
                self._connection.execute("ROLLBACK")
