"""How long an event loop was held up by code that blocks it."""

from __future__ import annotations

import asyncio

from passband.errors import warn

_EVERY = 0.25  # seconds
_ALLOWED = 1.0  # seconds that are not counted
_LOUD = 5.0  # seconds from which it is said; less may be a busy machine


class Heartbeat:
    """A task that wakes up regularly, and measures by how much it is late."""

    def __init__(self) -> None:
        self.held = 0.0  # seconds in total
        self._task: asyncio.Task[None] | None = None
        self._has_warned = False

    def start(self) -> None:
        """Begin in the running event loop, if it has not begun."""
        if self._task is None or self._task.done():
            self._task = asyncio.ensure_future(self._beat())

    def stop(self) -> None:
        """Stop; it may begin again."""
        if self._task is not None and not self._task.get_loop().is_closed():
            self._task.cancel()
        self._task = None

    async def _beat(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            before = loop.time()
            await asyncio.sleep(_EVERY)
            self.note(loop.time() - before - _EVERY)

    def note(self, seconds: float) -> None:
        """Count a time in which nothing else could happen."""
        if seconds <= _ALLOWED:
            return
        self.held += seconds
        if seconds > _LOUD and not self._has_warned:
            self._has_warned = True
            warn(
                f"the event loop stood still for {seconds:.0f} s: the model's function is async "
                "but blocks, and every other answer waits for it. Make it a plain function (def), "
                "which is called in threads, or await what blocks."
            )
