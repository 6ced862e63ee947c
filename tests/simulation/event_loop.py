"""An event loop in simulated time: waiting moves the clock, threads are calls, signals are events.

Hours of back-off pass in milliseconds. Nothing depends on the machine, so that a seed always leads
to the same steps in the same order.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from simulation.clock import Clock

T = TypeVar("T")
MOST_STEPS = 200_000  # of one session; one that takes more goes round in circles
MOST_SECONDS = 3e6  # of one session; more than every pause that a server may ask for


class Killed(SystemExit):
    """The process has been killed; asyncio passes this on from wherever it is raised."""


class Stuck(AssertionError):
    """Nothing is ready and nothing is scheduled: the run would wait for ever."""


class SimulatedSelector(selectors.DefaultSelector):
    """Moves the clock to the next timer instead of waiting for it."""

    clock: Clock
    began: float
    on_step: Callable[[], None]
    steps = 0

    def select(self, timeout: float | None = None) -> list[Any]:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise Stuck(f"{MOST_STEPS} steps to {self.clock.now:g} s, and no end")
        self.on_step()
        events: list[Any] = super().select(0)
        if events or (timeout is not None and timeout <= 0):
            return events
        if timeout is None:
            raise Stuck("nothing is ready, and nothing is scheduled")
        if self.clock.now - self.began > MOST_SECONDS:
            raise Stuck(f"{MOST_SECONDS:g} s, and no end")
        self.clock.now += timeout
        return []


class SimulatedLoop(asyncio.SelectorEventLoop):
    """Runs calls for threads itself, when as much time has passed as a thread might take."""

    is_dead = False  # whether its process was killed

    def __init__(
        self, clock: Clock, on_step: Callable[[], None], thread_time: Callable[[], float]
    ) -> None:
        selector = SimulatedSelector()
        selector.clock, selector.began, selector.on_step = clock, clock.now, on_step
        self.clock, self._steps = clock, selector
        self.handlers: dict[int, Callable[[], None]] = {}
        self._thread_time = thread_time
        super().__init__(selector)
        self._clock_resolution = 1e-6  # of the sums of pauses, which are not exact

    def time(self) -> float:
        return self.clock.now

    def run_in_executor(
        self, executor: object, function: Callable[..., T], *arguments: Any
    ) -> asyncio.Future[T]:
        future: asyncio.Future[T] = self.create_future()
        self.call_later(self._thread_time(), _work, future, function, arguments)
        return future

    def add_signal_handler(self, number: int, handler: Callable[[], None]) -> None:
        self.handlers[number] = handler

    def remove_signal_handler(self, number: int) -> bool:
        return self.handlers.pop(number, None) is not None

    def deliver(self, number: int) -> bool:
        """Deliver a signal, if the run still listens."""
        handler = self.handlers.get(number)
        if handler is not None:
            handler()
        return handler is not None

    def complete(
        self,
        coroutine: Coroutine[Any, Any, T],
        clean: Callable[[], Coroutine[Any, Any, None]] | None = None,
    ) -> tuple[T, list[str]]:
        """Run a coroutine to its end; return its result and the tasks that it left behind.

        `clean` does what the end of a process that was killed does.
        """
        try:
            result = self.run_until_complete(coroutine)
            for _ in range(3):  # what was cancelled at the very end may still see to it
                self.run_until_complete(_nothing())
            return result, [str(task.get_coro()) for task in asyncio.all_tasks(self)]
        finally:
            self._bury()
            if self.is_dead and clean is not None:
                self.run_until_complete(clean())
            self.close()

    def _bury(self) -> None:
        """End what is left, as `asyncio.run` does; nothing is killed twice."""
        self._steps.on_step = lambda: None
        left = asyncio.all_tasks(self)
        for task in left:
            task.cancel()
        if left:
            self.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        self.run_until_complete(self.shutdown_asyncgens())


async def pause(seconds: float) -> None:
    """Let simulated time pass."""
    loop = asyncio.get_running_loop()
    over = loop.create_future()
    timer = loop.call_later(seconds, _release, over)
    try:
        await over
    finally:
        timer.cancel()


def _release(over: asyncio.Future[None]) -> None:
    if not over.done():  # it may have been cancelled at the same moment
        over.set_result(None)


async def _nothing() -> None:
    pass


def _work(
    future: asyncio.Future[T], function: Callable[..., T], arguments: tuple[Any, ...]
) -> None:
    try:
        result = function(*arguments)
    except Killed:
        raise
    except BaseException as error:
        if not future.done():
            future.set_exception(error)
        return
    if not future.done():
        future.set_result(result)
