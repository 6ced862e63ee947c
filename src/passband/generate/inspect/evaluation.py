"""One evaluation by Inspect: started with the first sample, fed until it is closed.

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
from typing import Any

from passband.generate.inspect.calls import Trial, noting_solver, watched
from passband.generate.inspect.feed import Feed
from passband.generate.inspect.installed import message_of

_TURN = threading.Lock()
_AGAIN = 0.02  # seconds between two looks whether it is our turn


class Evaluation:
    """A call of Inspect's `eval_async` for one task and one model."""

    def __init__(self, task: Any, model: Any, settings: Mapping[str, Any]) -> None:
        self.count = 0  # samples that were run, or are
        self._feed = Feed()
        self._trials: dict[tuple[str, int], Trial] = {}
        self._task = _fed(task, self._feed, self._trials, model)
        self._model = model
        self._settings = settings
        self._running = asyncio.ensure_future(self._run())

    @property
    def begun(self) -> asyncio.Event:
        """Whether Inspect has started the evaluation, or ended it."""
        return self._feed.begun

    async def run(self, sample: Any, epoch: int, trial: Trial) -> Any:
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
        """End the evaluation; what is in flight is abandoned."""
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


def _fed(task: Any, feed: Feed, trials: Mapping[tuple[str, int], Trial], model: Any) -> Any:
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
    """Let Inspect set up its own logger, which it does once, and leave those of others alone.

    It would raise the level of the root logger, and so silence the program that runs it. Errors of
    samples are warnings to Inspect; here they are recorded, with the trials.
    """
    from inspect_ai._util.logger import init_logger

    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    init_logger("error")
    root.setLevel(level)
    root.handlers[:] = handlers
