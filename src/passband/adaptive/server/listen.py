"""A server from start to end: its state directory, its port, and the signals that stop it."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from aiohttp import web

from passband.adaptive.bank import Bank
from passband.adaptive.design import Design
from passband.adaptive.server.app import RATE, make_app
from passband.adaptive.server.catalogue import Catalogue
from passband.adaptive.server.keys import KEYS_VARIABLE, Keys, is_loopback
from passband.adaptive.server.service import Service
from passband.adaptive.server.state import ServerState
from passband.errors import InvalidInput, PassbandError
from passband.system import complete, until_signal
from passband.trials import utc_now

# One of the best five items is drawn, so that a seed matters and runs do not all show the same.
DESIGN = Design(selection="randomesque", se=0.25, max_items=150)
_PATIENCE = 10.0  # seconds for requests under way, once the server is to stop


@dataclass(frozen=True)
class ServeSettings:
    """Where a server listens, and its keys and limits."""

    directory: Path
    host: str = "127.0.0.1"
    port: int = 0  # any that is free
    keys: Sequence[str] = field(default=(), repr=False)
    design: Design = DESIGN
    rate: float = RATE

    def __post_init__(self) -> None:
        if not is_loopback(self.host) and not self.keys:
            raise InvalidInput(
                f"on {self.host} others can reach the server, and without keys anybody may use it. "
                f"Give keys with --key-file or {KEYS_VARIABLE}, or leave --host out."
            )
        if not 0 <= self.rate < float("inf"):
            raise InvalidInput(f"rate must be 0 or more requests a second; got {self.rate}.")


def serve(banks: Sequence[Bank], settings: ServeSettings, on_ready: Callable[[str], None]) -> None:
    """Serve banks until SIGINT or SIGTERM; `on_ready` is given the address."""
    complete(_serve(Catalogue(banks, settings.design), settings, on_ready))


async def _serve(
    catalogue: Catalogue, settings: ServeSettings, on_ready: Callable[[str], None]
) -> None:
    state = ServerState(settings.directory)
    try:
        service = Service(state, catalogue, new_id=lambda: str(uuid.uuid4()), now=utc_now)
        app = make_app(service, Keys(settings.keys), rate=settings.rate)
        runner = web.AppRunner(
            app, access_log=None, handle_signals=False, shutdown_timeout=_PATIENCE
        )
        await runner.setup()
        try:
            await _listen(runner, settings)
            await until_signal(lambda: on_ready(_address(runner, settings.host)))
        finally:
            await runner.cleanup()
    finally:
        await state.close()
        catalogue.close()


async def _listen(runner: web.AppRunner, settings: ServeSettings) -> None:
    try:
        await web.TCPSite(runner, settings.host, settings.port, backlog=1024).start()
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise PassbandError(
            f"cannot listen on port {settings.port} of {settings.host}: {reason}."
        ) from None


def _address(runner: web.AppRunner, host: str) -> str:
    port = runner.addresses[0][1]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
