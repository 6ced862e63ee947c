"""Daemon threads in which plain functions are called, so that they do not block an event loop."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

__all__ = ["Threads"]


class Threads:
    """Daemon threads that call functions.

    The program waits for the threads of `concurrent.futures` when it ends, even after a second
    Ctrl-C, and a function that never returns would hold it for ever.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._idle = 0
        self._started = 0
        self._calls: queue.SimpleQueue[tuple[asyncio.Future[Any], Callable[[], Any]] | None]
        self._calls = queue.SimpleQueue()

    def run(self, call: Callable[[], Any]) -> asyncio.Future[Any]:
        """Return a future of the result of a call."""
        future = asyncio.get_running_loop().create_future()
        self._calls.put((future, call))
        if self._idle:
            self._idle -= 1
        elif self._started < self._most:
            self._started += 1
            threading.Thread(target=self._work, daemon=True).start()
        return future

    def close(self) -> None:
        """End each thread once it is idle."""
        for _ in range(self._started):
            self._calls.put(None)

    def _work(self) -> None:
        while (taken := self._calls.get()) is not None:
            future, call = taken
            result, error = None, None
            try:
                if not future.cancelled():
                    result = call()
            except Exception as raised:
                error = raised
            except BaseException as raised:  # sys.exit() of the function is not ours
                error = RuntimeError(f"{type(raised).__name__}: {raised}")
            with suppress(RuntimeError):  # the loop is closed: nothing waits any more
                future.get_loop().call_soon_threadsafe(self._done, future, result, error)

    def _done(self, future: asyncio.Future[Any], result: Any, error: Exception | None) -> None:
        """Resolve the future, in the thread of the event loop."""
        self._idle += 1
        if future.cancelled():
            return
        if error is None:
            future.set_result(result)
        elif isinstance(error, StopIteration):  # which no future can hold
            future.set_exception(RuntimeError(f"StopIteration: {error}"))
        else:
            future.set_exception(error)
