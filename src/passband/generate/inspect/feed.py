"""The feed of a running evaluation: one epoch of a sample in, the finished sample out."""

from __future__ import annotations

import asyncio
from contextvars import Context, copy_context
from typing import Any

from passband.generate.provider import Hopeless

Key = tuple[str, int]  # id and epoch


class Feed:
    """Adds samples to a task of Inspect while it runs, and waits for each.

    Everything happens in the event loop of the evaluation.
    """

    def __init__(self) -> None:
        self._futures: dict[Key, asyncio.Future[Any]] = {}
        self._in_flight: set[Key] = set()  # waited for or not
        self._queue: list[tuple[Any, int]] = []  # not yet known to Inspect
        self._context: Context | None = None  # in which Inspect finds the task's queue
        self.begun = asyncio.Event()  # whether Inspect has asked for samples
        self._news = asyncio.Event()
        self._closing = False
        self._failure: str | None = None  # why the evaluation ended by itself

    def source(self) -> Any:
        """Return what Inspect takes for a data set."""
        from inspect_ai import SampleSource

        return SampleSource.from_samples(
            [],
            next_samples=self._next_samples,
            sample_complete=self._completed,
            sample_abandoned=self._abandoned,
        )

    @property
    def is_idle(self) -> bool:
        """Whether nothing is in flight."""
        return not self._in_flight

    async def run(self, sample: Any, epoch: int) -> Any:
        """Run one epoch of a sample and return it as it ended, an `EvalSample`."""
        self._raise_failure()
        key = str(sample.id), epoch
        future = asyncio.get_running_loop().create_future()
        self._futures[key] = future
        self._in_flight.add(key)
        self._queue.append((sample, epoch))
        self._flush()
        self._news.set()
        try:
            return await future
        finally:
            self._futures.pop(key, None)

    def close(self) -> None:
        """Let the evaluation end once nothing is in flight."""
        self._closing = True
        self._news.set()

    def ended(self, reason: str) -> None:
        """Note that the evaluation is over; what is still waited for will never come."""
        self._failure = reason
        self.begun.set()
        for future in self._futures.values():
            if not future.done():
                future.set_exception(Hopeless(reason))

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise Hopeless(self._failure)

    def _flush(self) -> None:
        """Hand queued samples to Inspect, once it has asked for the first."""
        if self._context is None:
            return
        from inspect_ai import enqueue_sample

        queued, self._queue = self._queue, []
        for sample, epoch in queued:
            self._context.run(enqueue_sample, sample, epoch=epoch)

    # -- called by Inspect -----------------------------------------------------------------

    async def _next_samples(self) -> list[Any] | None:
        """Wait for more; called when nothing is in flight."""
        if self._context is None:
            self._context = copy_context()
            self.begun.set()
            self._flush()
        if not self._is_over:
            await self._news.wait()
            self._news.clear()
        return None if self._is_over else []

    @property
    def _is_over(self) -> bool:
        """Whether no sample will come; one that came just before the end is still run."""
        return self._closing and self.is_idle

    async def _completed(self, sample: Any) -> None:
        future = self._ended((str(sample.id), sample.epoch))
        if future is not None:
            future.set_result(sample)

    async def _abandoned(self, sample: Any, epoch: int) -> None:
        future = self._ended((str(sample.id), epoch))
        if future is not None:
            future.cancel()

    def _ended(self, key: Key) -> asyncio.Future[Any] | None:
        """Return the future of a sample that has ended, if it is still waited for."""
        self._in_flight.discard(key)
        future = self._futures.get(key)
        return None if future is None or future.done() else future
