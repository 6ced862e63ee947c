"""A run from start to end: the directory, the model, the signals, and in which order they go."""

from __future__ import annotations

import asyncio
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from passband.generate.provider import Provider
from passband.generate.providers import Connection, make_provider
from passband.run.budget import Budget
from passband.run.counters import Price
from passband.run.loop import Ending, Runner, Watcher
from passband.run.prepare import load_problems, prepare
from passband.run.settings import Settings
from passband.run.task_run import TaskRun
from passband.tasks.task import Task
from passband.trials.store import LOW_WATER, Store, utc_now

__all__ = ["Finished", "run_session"]

_TERMINATED = 5.0  # seconds that requests under way are waited for after SIGTERM


@dataclass(frozen=True)
class Finished:
    """A run that has come to an end."""

    directory: Path
    ending: Ending
    parts: Sequence[TaskRun]
    seconds: float
    cost: float | None


def run_session(
    tasks: Sequence[Task],
    model: str | Provider | Callable[..., Any],
    directory: Path,
    *,
    settings: Settings,
    connection: Connection,
    watcher: Watcher,
    price: Price | None = None,
    low_water: int = LOW_WATER,
) -> Finished:
    """Ask everything that the directory lacks, and return when it is there or cannot be."""
    began, started = time.monotonic(), utc_now()
    budget = Budget(price, settings.max_cost)
    name, provider = _provider(model, connection)
    problems = [load_problems(task, settings) for task in tasks]
    store = Store(directory, low_water=low_water)
    try:
        runner = Runner(
            parts=[
                prepare(store, task, asked, name, settings)
                for task, asked in zip(tasks, problems, strict=True)
            ],
            provider=provider,
            store=store,
            budget=budget,
            watcher=watcher,
            concurrency=settings.concurrency,
            patience=settings.patience,
        )
        ending = _completed(runner)
        asked = sum(part.counters.fresh for part in runner.parts)
        if asked:
            seconds = time.monotonic() - runner.started
            store.add_session(started, seconds, asked, settings.concurrency)
    finally:
        store.close()
    seconds = time.monotonic() - began
    return Finished(directory, ending, runner.parts, seconds, budget.spent(runner.parts))


def _provider(
    model: str | Provider | Callable[..., Any], connection: Connection
) -> tuple[str, Provider]:
    """Return a model and its name."""
    if isinstance(model, str):
        return model, make_provider(model, connection)
    if hasattr(model, "generate"):
        return str(getattr(model, "name", type(model).__name__)), cast("Provider", model)
    from passband.generate.function import Function

    kind = type(model)  # a bound or built-in function may lack a module or a name
    module = getattr(model, "__module__", None) or kind.__module__
    name = f"python:{module}:{getattr(model, '__qualname__', kind.__name__)}"
    return name, Function(model, timeout=connection.timeout, threads=connection.concurrency)


def _completed(runner: Runner) -> Ending:
    """Run to the end, also where an event loop is running already, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        with _signals_kept():
            return asyncio.run(_run(runner))
    return _completed_elsewhere(runner)


def _completed_elsewhere(runner: Runner) -> Ending:
    """Run to the end in a thread, which gets no signals: an interrupt is passed on to it."""
    loops: list[asyncio.AbstractEventLoop] = []

    async def run() -> Ending:
        loops.append(asyncio.get_running_loop())
        return await _run(runner)

    with ThreadPoolExecutor(1) as thread:
        running = thread.submit(asyncio.run, run())
        while True:
            try:
                return running.result()
            except KeyboardInterrupt:
                if running.done() or not loops:
                    raise
                loops[0].call_soon_threadsafe(runner.interrupt)


async def _run(runner: Runner) -> Ending:
    loop = asyncio.get_running_loop()
    with _handled(loop, runner):
        return await runner.run()


@contextmanager
def _signals_kept() -> Iterator[None]:
    """Give signals back to who had them, once there is no event loop that they could break."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            if handler is not None and threading.current_thread() is threading.main_thread():
                signal.signal(number, handler)


@contextmanager
def _handled(loop: asyncio.AbstractEventLoop, runner: Runner) -> Iterator[None]:
    """Turn signals into an orderly end; only the main thread of a program gets any."""
    handlers: dict[signal.Signals, Callable[[], None]] = {
        signal.SIGINT: runner.interrupt,
        signal.SIGTERM: lambda: runner.interrupt("terminated", _TERMINATED),
    }
    held = []
    for number, handler in handlers.items():
        try:
            loop.add_signal_handler(number, handler)
        except (NotImplementedError, RuntimeError, ValueError):  # another system, another thread
            continue
        held.append(number)
    try:
        yield
    finally:
        for number in held:
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_IGN)  # nothing is left to stop but the loop itself
