"""What the user should know while a run goes on, beyond its progress.

A switch that stops a run from another thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from passband.run.task_run import TaskRun


def notes_of(runs: Sequence[TaskRun]) -> list[str]:
    """Return what the subjects of a run have to say about their requests."""
    subjects = {id(run.subject): run.subject for run in runs}.values()
    return [text for subject in subjects for text in subject.notes]


_LOOK = 0.1  # seconds between two looks whether to go on waiting for a lock


class Stop:
    """Stops a run from another thread, whether it has begun or not."""

    def __init__(self) -> None:
        self._is_set = threading.Event()
        self._stop: Callable[[], None] | None = None

    def __call__(self) -> None:
        """Ask the run to end."""
        self._is_set.set()
        if self._stop is not None:
            self._stop()

    def started(self, stop: Callable[[], None]) -> None:
        """Note how the run is stopped, now that it has begun."""
        self._stop = stop
        if self._is_set.is_set():
            stop()

    def acquire(self, lock: threading.Lock) -> bool:
        """Acquire a lock; return False if this is stopped first."""
        while not lock.acquire(timeout=_LOOK):
            if self._is_set.is_set():
                return False
        return True
