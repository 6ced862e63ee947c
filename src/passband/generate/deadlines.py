"""Deadlines for many requests at the price of one timer.

A timer for each request is set and unset a thousand times for every time that it rings. All
requests to a server have the same time, so the oldest is the first to be late: one task that looks
at the oldest now and then does for all of them.
"""

from __future__ import annotations

import asyncio
from types import TracebackType

_LOOKS = 50  # looks at the oldest request within the time that it has: late by 2% at most


class Deadlines:
    """Cancels the task that is inside a `Deadline` for longer than `seconds`."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.inside: dict[Deadline, float] = {}  # since when, the oldest first
        self._watch: asyncio.Task[None] | None = None

    def start(self) -> Deadline:
        """Return the deadline of one request, to be used in a with statement."""
        if self._watch is None or self._watch.done():
            self.loop = asyncio.get_running_loop()
            self._watch = asyncio.ensure_future(self._look())
        return Deadline(self)

    def close(self) -> None:
        """Stop the timer."""
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(self.seconds / _LOOKS)
            late = self.loop.time() - self.seconds
            for deadline, since in list(self.inside.items()):
                if since > late:
                    break
                del self.inside[deadline]
                deadline.expire()


class Deadline:
    """The time of one request: what is inside is cancelled when it is over."""

    __slots__ = ("_expired", "_of", "_task")

    def __init__(self, of: Deadlines) -> None:
        self._of = of
        self._expired = False
        self._task = asyncio.current_task(of.loop)

    def __enter__(self) -> None:
        self._of.inside[self] = self._of.loop.time()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._of.inside.pop(self, None)
        if self._expired and kind is asyncio.CancelledError:
            uncancel = getattr(self._task, "uncancel", None)  # since Python 3.11
            if uncancel is not None and uncancel() > 0:  # it was cancelled elsewhere too
                return
            raise asyncio.TimeoutError from None

    def expire(self) -> None:
        """Cancel the task inside."""
        self._expired = True
        if self._task is not None:
            self._task.cancel()
