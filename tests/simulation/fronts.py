"""Two ways to the server: a provider in this process, and passband's HTTP client on a wire."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from passband.generate.provider import (
    Completion,
    Crashed,
    Hopeless,
    InvalidReply,
    Provider,
    RateLimited,
    Rejected,
    Request,
    TimedOut,
    Unavailable,
)
from passband.generate.servers.openai import OpenAIServer
from simulation.event_loop import pause
from simulation.ledger import Ledger
from simulation.questions import Front, Place, answer, places_of
from simulation.server import Served, Server

_EVERYONE = ("502", "503", "529")
_LIMITS = {"limit": None, "limit garbage": None, "limit 0": 0.0, "limit 3": 3.0,
           "limit 5000": 5000.0, "limit date": 40.0, "503 with date": 40.0}  # fmt: skip


def make_front(
    front: Front, server: Server, ledger: Ledger, batch: int, timeout: float
) -> WatchedProvider:
    """Return a client of the server that tells the ledger of every request."""
    inner: Provider
    if front == "wire":
        url = "http://simulated.invalid/v1"
        inner = OpenAIServer("model", base_url=url, batch=batch, timeout=timeout)
    else:
        inner = DirectProvider(server, batch, timeout)
    return WatchedProvider(inner, ledger)


class WatchedProvider(Provider):
    """Passes requests on, and notes what becomes of each."""

    name = "simulated"

    def __init__(self, inner: Provider, ledger: Ledger) -> None:
        self._inner, self._ledger = inner, ledger
        self.batch = inner.batch
        self.one_seed = getattr(inner, "one_seed", False)
        self.is_closed = False

    async def generate(self, request: Request) -> Sequence[Completion]:
        """Make one attempt."""
        assert not self.is_closed, "a request after the provider was closed"
        asked = self._ledger.ask(places_of(request.messages[0].content, request.seeds))
        try:
            completions = await self._inner.generate(request)
        except asyncio.CancelledError:
            asked.fault = "cancelled"
            raise
        except BaseException as error:
            is_down = getattr(error, "everyone", False)
            asked.fault = "Down" if is_down else type(error).__name__
            raise
        asked.answered = len(completions)
        return completions

    async def reset(self) -> None:
        reset: Any = getattr(self._inner, "reset", None)
        if reset is not None:
            await reset()

    async def close(self) -> None:
        self.is_closed = True
        await self._inner.close()


class DirectProvider(Provider):
    """Asks the server without any wire."""

    def __init__(self, server: Server, batch: int, timeout: float) -> None:
        self.batch, self._server, self._timeout = batch, server, timeout

    async def generate(self, request: Request) -> Sequence[Completion]:
        """Make one attempt."""
        places = places_of(request.messages[0].content, request.seeds)
        served = self._server.serve(places)
        if served.fault == "refused":
            raise Unavailable("connection refused", everyone=True)
        if served.fault == "hang" or served.seconds >= self._timeout:
            await pause(self._timeout)
            raise TimedOut("no answer")
        await pause(served.seconds)
        _raise(served)
        pairs = zip(served.choices, request.seeds, strict=False)
        return [_completion(place, seed) for place, seed in pairs]

    async def close(self) -> None:
        pass


def _completion(place: Place, seed: int | None) -> Completion:
    said = answer(place)
    return Completion(said.text, said.finish, prompt_tokens=10, completion_tokens=20, seed=seed)


def _raise(served: Served) -> None:
    """Raise what the client would make of a fault."""
    fault = served.fault
    if fault is None or fault in ("fewer choices", "more choices"):
        return
    if fault in _LIMITS:
        raise RateLimited(fault, http=429, retry_after=_LIMITS[fault])
    if fault in ("cut json", "html", "no choices", "error in 200"):
        raise InvalidReply(fault, http=200)
    if fault in ("too long", "n refused"):
        raise Rejected(fault, http=400)
    if fault == "401":
        raise Hopeless(fault, http=401)
    if fault == "408":
        raise TimedOut(fault, http=408)
    if fault == "null bytes":
        raise Crashed(fault)
    http = int(fault) if fault.isdigit() else None
    raise Unavailable(fault, http=http, everyone=fault in _EVERYONE)
