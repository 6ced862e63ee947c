"""One evaluation by Inspect: started with the first sample, fed with samples until it is closed.

Inspect runs one evaluation in a process at a time, so evaluations take turns.
"""

from __future__ import annotations

import asyncio
import copy
import logging
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import Context, copy_context
from typing import TYPE_CHECKING, Any

from passband.generate.inspect.calls import TrialCalls, noting_solver, watched
from passband.generate.inspect.installed import message_of
from passband.generate.provider import Hopeless, JsonMapping

if TYPE_CHECKING:
    from inspect_ai import Task
    from inspect_ai.dataset import Sample

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
        """Return whether nothing is in flight."""
        return not self._in_flight

    async def run(self, sample: Sample, epoch: int) -> Any:
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
        """Note that the evaluation is over, and fail the samples that are still awaited."""
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
        """Return whether no sample will come; one that came just before the end is still run."""
        return self._closing and self.is_idle

    async def _completed(self, sample: Sample) -> None:
        future = self._ended((str(sample.id), sample.epoch))
        if future is not None:
            future.set_result(sample)

    async def _abandoned(self, sample: Sample, epoch: int) -> None:
        future = self._ended((str(sample.id), epoch))
        if future is not None:
            future.cancel()

    def _ended(self, key: Key) -> asyncio.Future[Any] | None:
        """Return the future of a sample that has ended, if it is still waited for."""
        self._in_flight.discard(key)
        future = self._futures.get(key)
        return None if future is None or future.done() else future


_TURN = threading.Lock()
_AGAIN = 0.02  # seconds between two looks whether it is our turn


class InspectEvaluation:
    """A call of Inspect's `eval_async` for one task and one model."""

    def __init__(self, task: Task, model: Any, settings: JsonMapping) -> None:
        self.count = 0  # samples that were run, or are
        self._feed = Feed()
        self._trials: dict[tuple[str, int], TrialCalls] = {}
        self._task = _fed(task, self._feed, self._trials, model)
        self._model = model
        self._settings = settings
        self._running = asyncio.ensure_future(self._run())

    @property
    def begun(self) -> asyncio.Event:
        """Return the event that Inspect has started the evaluation, or ended it."""
        return self._feed.begun

    async def run(self, sample: Sample, epoch: int, trial: TrialCalls) -> Any:
        """Run one epoch of a sample and return it as it ended."""
        key = str(sample.id), epoch
        self.count += 1
        self._trials[key] = trial
        try:
            return await self._feed.run(sample, epoch)
        finally:
            self._trials.pop(key, None)

    def finish(self) -> None:
        """Let the evaluation end once nothing is in flight."""
        self._feed.close()

    async def close(self) -> None:
        """End the evaluation, and abandon samples in flight."""
        self.finish()
        if not self._feed.is_idle:
            self._running.cancel()
        with suppress(asyncio.CancelledError):
            await self._running

    async def _run(self) -> None:
        while not _TURN.acquire(blocking=False):
            await asyncio.sleep(_AGAIN)
        try:
            with _quiet(), watched(self._model.api), _scratch() as folder:
                reason = await self._evaluated(folder)
        except Exception as error:
            reason = message_of(error)
        finally:
            _TURN.release()
        self._feed.ended(f"Inspect ended the evaluation: {reason}")

    async def _evaluated(self, folder: str) -> str:
        """Evaluate, and return why it ended."""
        from inspect_ai import eval_async

        (log,) = await eval_async(self._task, self._model, log_dir=folder, **self._settings)
        return str(log.error.message) if log.error else str(log.status)


def _fed(task: Task, feed: Feed, trials: Mapping[tuple[str, int], TrialCalls], model: Any) -> Any:
    """Return a copy of a task that is fed with samples and notes their trials."""
    from inspect_ai import task_with
    from inspect_ai.solver import Plan

    changes = {"dataset": feed.source(), "model": model}
    if task.setup or isinstance(task.solver, (Sequence, Plan)):
        setup = task.setup or []
        own = list(setup) if isinstance(setup, Sequence) else [setup]
        changes["setup"] = [noting_solver(trials), *own]
    else:  # a step more would cost Inspect a tenth of its time for a sample
        changes["solver"] = noting_solver(trials, task.solver)
    return task_with(copy.copy(task), **changes)


@contextmanager
def _scratch() -> Iterator[str]:
    """Give Inspect a folder for the log that it insists on."""
    with tempfile.TemporaryDirectory(prefix="passband-inspect-") as folder:
        yield folder


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Inspect from the terminal; `eval_async` has no option for that."""
    from inspect_ai.util import _display as display

    _keep_logging()
    before = display._display_type
    display.init_display_type("none")
    try:
        yield
    finally:
        display._display_type = before


def _keep_logging() -> None:
    """Let Inspect set up its own logger, once, and leave other loggers alone.

    It would raise the level of the root logger, and so silence the program that runs it. Errors of
    samples are warnings to Inspect; here they are recorded, with the trials.
    """
    from inspect_ai._util.logger import init_logger

    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    init_logger("error")
    root.setLevel(level)
    root.handlers[:] = handlers
