"""Daemon threads in which plain functions are called, so that they do not block an event loop."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from passband.errors import warn
from passband.generate.provider import Hopeless

__all__ = ["DeadlinePassed", "Threads"]

MOST_HUNG = 1000  # calls that never return, each of which keeps a thread


class DeadlinePassed(Exception):
    """A call has taken too long; unlike a TimeoutError, no function raises it of its own."""


@dataclass(eq=False)
class _Call:
    """A call that waits for a thread, or is being made."""

    function: Callable[[], Any]
    taken: asyncio.Future[None]  # by a thread
    result: asyncio.Future[Any]
    is_hung: bool = False  # whether nothing waits for it any more


class Threads:
    """Daemon threads that call functions, at most `most` at a time.

    The program waits for the threads of `concurrent.futures` when it ends, even after a second
    Ctrl-C, and a function that never returns would hold it for ever. Nothing can stop a thread: one
    whose call is late is replaced, so that it costs no other call, up to `most_hung` of them.
    """

    def __init__(self, most: int, most_hung: int = MOST_HUNG) -> None:
        self._most, self._most_hung = most, most_hung
        self._idle = 0
        self._started = 0  # threads, those left out that hang
        self._hung = 0
        self._has_warned = False
        self._calls: queue.SimpleQueue[_Call | None] = queue.SimpleQueue()

    async def run(self, function: Callable[[], Any], timeout: float | None = None) -> Any:
        """Return the result of a call; its time begins when a thread takes it."""
        if self._hung >= self._most_hung:
            raise self._too_many()
        loop = asyncio.get_running_loop()
        call = _Call(function, loop.create_future(), loop.create_future())
        self._calls.put(call)
        if self._idle:
            self._idle -= 1
        else:
            self._start()
        try:
            await call.taken
            done, _ = await asyncio.wait({call.result}, timeout=timeout)
        except BaseException:
            call.result.cancel()
            raise
        if done:
            return call.result.result()
        self._give_up(call)
        raise DeadlinePassed(f"no answer within {timeout:g} s")

    def close(self) -> None:
        """End each thread once it is idle."""
        for _ in range(self._started):
            self._calls.put(None)

    def _start(self) -> None:
        if self._started >= self._most:
            return
        try:
            threading.Thread(target=self._work, daemon=True).start()
        except RuntimeError:  # the system allows no more
            if self._started == 0:
                self._fail_waiting()
        else:
            self._started += 1

    def _give_up(self, call: _Call) -> None:
        """Leave a thread to its call, and start another in its place."""
        call.is_hung = True
        self._hung += 1
        self._started -= 1
        if self._hung >= self._most_hung:
            self._fail_waiting()
        elif not self._calls.empty():
            self._start()
        if not self._has_warned:
            self._has_warned = True
            warn(
                "a call of the model's function is late, and cannot be stopped; other calls go on "
                f"in a new thread. After {self._most_hung} such calls the run stops."
            )

    def _fail_waiting(self) -> None:
        """Fail the calls that no thread will take."""
        with suppress(queue.Empty):
            while (call := self._calls.get_nowait()) is not None:
                if not call.taken.done():
                    call.taken.set_exception(self._too_many())

    def _too_many(self) -> Hopeless:
        return Hopeless(
            f"{self._hung} calls of the model's function have not returned, and each keeps a "
            f"thread. Give the function a timeout of its own, or a longer --timeout."
        )

    # -- in a thread -----------------------------------------------------------------------

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            loop = call.result.get_loop()
            result, error = None, None
            try:
                loop.call_soon_threadsafe(_resolve, call.taken)
                if not call.result.cancelled():
                    result = call.function()
            except Exception as raised:
                error = raised
            except BaseException as raised:  # sys.exit() of the function is not ours
                error = RuntimeError(f"{type(raised).__name__}: {raised}")
            with suppress(RuntimeError):  # the loop is closed: nothing waits any more
                loop.call_soon_threadsafe(self._done, call, result, error)
            if call.is_hung:  # it was, and another thread has its place
                return

    def _done(self, call: _Call, result: Any, error: Exception | None) -> None:
        """Resolve the future, in the thread of the event loop."""
        if call.is_hung:
            self._hung -= 1
            return
        self._idle += 1
        if call.result.cancelled():
            return
        if error is None:
            call.result.set_result(result)
        elif isinstance(error, StopIteration):  # which no future can hold
            call.result.set_exception(RuntimeError(f"StopIteration: {error}"))
        else:
            call.result.set_exception(error)


def _resolve(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
