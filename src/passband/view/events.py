"""Numbers that move: what has changed on a page, sent while it is open."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeAlias

from aiohttp import web

from passband.errors import describe

Look: TypeAlias = Callable[[], Awaitable[Mapping[str, str] | None]]
_logger = logging.getLogger("passband.view")
_QUIET = 15  # looks without a change, after which a line says that the server is there


class Pulse:
    """The time between two looks, and the end of all of them."""

    def __init__(self, seconds: float = 1.0) -> None:
        self._seconds = seconds
        self._stop = asyncio.Event()

    async def wait(self) -> bool:
        """Wait for the next look; return whether there is one."""
        try:
            await asyncio.wait_for(self._stop.wait(), self._seconds)
        except asyncio.TimeoutError:
            return True
        return False

    def stop(self) -> None:
        """Let no other look come."""
        self._stop.set()


async def send_changes(request: web.Request, look: Look, pulse: Pulse) -> web.StreamResponse:
    """Send texts by their places, at first all of them, then those that have changed.

    None from `look` says that there is nothing to look at any more.
    """
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8"})
    await response.prepare(request)
    with sending(request):
        await _send_changes(response, look, pulse)
    return response


async def _send_changes(response: web.StreamResponse, look: Look, pulse: Pulse) -> None:
    sent: dict[str, str] = {}
    quiet = 0
    while True:
        texts = await look()
        if texts is None:
            await response.write(b"event: gone\ndata: {}\n\n")
            break
        changed = {key: text for key, text in texts.items() if sent.get(key) != text}
        quiet = 0 if changed else quiet + 1
        if changed:
            await response.write(f"data: {json.dumps(changed)}\n\n".encode())
            sent |= changed
        elif quiet % _QUIET == 0:
            await response.write(b": still here\n\n")
        if not await pulse.wait():
            break


@contextmanager
def sending(request: web.Request) -> Iterator[None]:
    """End the connection where a block fails that sends an answer piece by piece.

    No page can say so any more; the terminal does, unless it is only that nobody listens.
    """
    try:
        yield
    except Exception as error:
        if not isinstance(error, ConnectionError):
            _logger.error("a page failed: %s", describe(error), exc_info=error)
        if request.transport is not None:
            request.transport.abort()
