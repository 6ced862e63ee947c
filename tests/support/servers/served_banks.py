"""Passband's own server of the Trismik protocol, in a thread of this process."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from aiohttp.test_utils import TestServer

from passband.adaptive.bank import Bank
from passband.adaptive.server.app import make_app
from passband.adaptive.server.keys import Keys
from passband.adaptive.server.state import ServerState
from passband.system.event_loop import complete
from support.servers.serving import make_service


@contextmanager
def served_banks(banks: Sequence[Bank], folder: Path) -> Iterator[str]:
    """Yield the address of a server of banks, which keeps its runs in a folder."""
    ready, addresses = threading.Event(), []
    loops: list[asyncio.AbstractEventLoop] = []
    over = asyncio.Event()

    async def serve() -> None:
        state = ServerState(folder, low_water=0)
        try:
            async with TestServer(make_app(make_service(state, *banks), Keys([]))) as server:
                loops.append(asyncio.get_running_loop())
                addresses.append(f"http://127.0.0.1:{server.port}")
                ready.set()
                await over.wait()
        finally:
            await state.close()

    thread = threading.Thread(target=lambda: complete(serve()))
    thread.start()
    assert ready.wait(30)
    try:
        yield addresses[0]
    finally:
        loops[0].call_soon_threadsafe(over.set)
        thread.join()
