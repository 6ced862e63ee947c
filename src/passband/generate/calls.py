"""Calls of a model's function, plain or async, each with a deadline that costs no other call.

A plain function is called in a thread (`Threads`). A coroutine is awaited in the event loop: one
that is late is cancelled, and left behind if it does not end. One that blocks the loop cannot be
stopped; the time that it takes is added to the deadlines of the others, and a warning says so.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from passband.generate.heartbeat import Heartbeat
from passband.generate.threads import DeadlinePassed, Threads

__all__ = ["Calls", "DeadlinePassed", "is_async"]

_GRACE = 1.0  # seconds that a cancelled coroutine has to end


class Calls:
    """Calls one function."""

    def __init__(self, function: Callable[..., Any], *, timeout: float, threads: int) -> None:
        self._function = function
        self._is_async = is_async(function)
        self._timeout = timeout
        self._threads = Threads(threads)
        self._heartbeat = Heartbeat()

    async def call(self, *arguments: Any, **named: Any) -> Any:
        """Return what the function returns; raise `DeadlinePassed` if that takes too long."""
        if self._is_async:
            return await self._awaited(self._function(*arguments, **named))
        made = await self._threads.run(lambda: self._function(*arguments, **named), self._timeout)
        return await self._awaited(made) if inspect.isawaitable(made) else made

    def close(self) -> None:
        """End the threads that are idle."""
        self._threads.close()
        self._heartbeat.stop()

    async def _awaited(self, made: Awaitable[Any]) -> Any:
        task = asyncio.ensure_future(made)
        self._heartbeat.start()
        try:
            if await self._is_in_time(task):
                return task.result()
            raise DeadlinePassed(f"no answer within {self._timeout:g} s")
        finally:
            if not task.done():
                await _end(task)

    async def _is_in_time(self, task: asyncio.Future[Any]) -> bool:
        left = self._timeout
        while left > 0:
            held = self._heartbeat.held
            done, _ = await asyncio.wait({task}, timeout=left)
            if done:
                return True
            left = self._heartbeat.held - held  # nothing could be answered in that time
        return False


def is_async(function: object) -> bool:
    """Return whether a function, or an object that is called, is async."""
    call = getattr(function, "__call__", None)  # noqa: B004  an object may be async to call
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


async def _end(task: asyncio.Future[Any]) -> None:
    """Cancel a task; forget it if it goes on, else the event loop would wait for it at its end."""
    task.cancel()
    try:
        await asyncio.wait({task}, timeout=_GRACE)
    finally:
        if task.done():
            with suppress(BaseException):
                task.exception()
        else:
            task._log_destroy_pending = False  # type: ignore[attr-defined]
            asyncio.tasks._unregister_task(task)  # type: ignore[arg-type]
