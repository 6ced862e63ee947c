"""Event loops of passband's own: one for each call, closed at its end."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def complete(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end in a new event loop, and close the loop.

    `asyncio.run` does the same, unless it is patched to run inside other loops: Inspect does so in
    notebooks, and each thread then leaves a loop and its three file descriptors behind.
    """
    if sys.version_info < (3, 11):
        return asyncio.run(coroutine)
    with asyncio.Runner() as runner:
        return runner.run(coroutine)


def complete_anywhere(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end, also inside an event loop: then in a thread."""
    if not is_inside_a_loop():
        return complete(coroutine)
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(complete, coroutine).result()


def is_inside_a_loop() -> bool:
    """Return whether an event loop runs in this thread, as it does in a notebook.

    Nothing may run inside the `except`: what is raised there has this error as its context, and
    Inspect reports the first of such a chain.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


async def until_signal(ready: Callable[[], None]) -> None:
    """Wait for SIGINT or SIGTERM; call `ready` once either would be noticed."""
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    try:
        ready()
        await stop.wait()
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
