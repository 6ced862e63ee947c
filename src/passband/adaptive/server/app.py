"""The HTTP side of a server: paths, keys, limits, and errors as the protocol has them.

A limit on requests per second, for each client on its own.
"""

from __future__ import annotations

import logging
import math
import sqlite3
import time
from collections import OrderedDict
from collections.abc import Callable

from aiohttp import web

from passband.adaptive.server.body import Refusal, to_json
from passband.adaptive.server.endpoints import Endpoint, endpoints
from passband.adaptive.server.keys import Keys, is_loopback
from passband.adaptive.server.service import Service
from passband.errors import PassbandError, describe
from passband.trials import DiskNearlyFull


class RateLimit:
    """Buckets of tokens: `rate` a second flow in, `burst` fit, each request takes one.

    >>> now = 0.0
    >>> limit = RateLimit(2.0, burst=1, clock=lambda: now)
    >>> limit.wait("a"), limit.wait("a"), limit.wait("b")
    (0.0, 0.5, 0.0)
    >>> now = 0.5
    >>> limit.wait("a")
    0.0
    """

    def __init__(
        self, rate: float, *, burst: float, clock: Callable[[], float], most: int = 10_000
    ) -> None:
        self._rate, self._burst, self._clock, self._most = rate, burst, clock, most
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, client: str) -> float:
        """Take a token; return 0, or without one the seconds until there is one."""
        if not self._rate:
            return 0.0
        now = self._clock()
        tokens, then = self._buckets.get(client, (self._burst, now))
        tokens = min(self._burst, tokens + (now - then) * self._rate)
        wait = 0.0 if tokens >= 1 else (1 - tokens) / self._rate
        self._buckets[client] = (tokens if wait else tokens - 1, now)
        self._buckets.move_to_end(client)
        if len(self._buckets) > self._most:  # whoever has been away for longest starts afresh
            self._buckets.popitem(last=False)
        return wait


RATE = 2000.0  # requests a second with one key
_WRONG_KEYS = 5.0  # a second from one address
_logger = logging.getLogger("passband.serve")


def make_app(
    service: Service,
    keys: Keys,
    *,
    rate: float = RATE,
    clock: Callable[[], float] = time.monotonic,
) -> web.Application:
    """Return the application; `rate` is a limit for each key, 0 for none."""
    guard = _Guard(keys, rate, clock)
    app = web.Application(middlewares=[guard.middleware])
    for (method, path), endpoint in endpoints(service).items():
        app.router.add_route(method, path, endpoint)
    return app


class _Guard:
    """Check the key and the limits of every request, and turn errors into replies."""

    def __init__(self, keys: Keys, rate: float, clock: Callable[[], float]) -> None:
        self._keys = keys
        self._requests = RateLimit(rate, burst=max(1.0, 2 * rate), clock=clock)
        self._wrong = RateLimit(_WRONG_KEYS, burst=50, clock=clock)

    @web.middleware
    async def middleware(self, request: web.Request, handler: Endpoint) -> web.StreamResponse:
        """Answer a request, whatever is wrong with it."""
        try:
            self._check(request)
            return await handler(request)
        except Exception as error:
            refusal = _refusal(error)
            if refusal.status == 500:  # without the request, which may hold a key
                _logger.error("%s failed: %s", request.method, describe(error), exc_info=error)
            return web.json_response(
                refusal.to_json(), status=refusal.status, headers=refusal.headers, dumps=to_json
            )

    def _check(self, request: web.Request) -> None:
        if not self._keys.are_configured and not is_loopback(_host(request)):
            # Any key is taken here, so that a web page whose name leads to this machine would do.
            raise Refusal(403, "Without configured keys, requests must be for this machine's name.")
        key = request.headers.get("x-api-key", "")
        if not self._keys.accept(key):
            _limit(self._wrong, request.remote or "")
            raise Refusal(401, "The header x-api-key must hold a valid key.")
        _limit(self._requests, key)


def _host(request: web.Request) -> str:
    name = request.headers.get("Host", "localhost")
    if name.startswith("["):
        return name[1:].partition("]")[0]
    return name.partition(":")[0]


def _limit(limit: RateLimit, client: str) -> None:
    wait = limit.wait(client)
    if wait:
        seconds = str(max(1, math.ceil(wait)))
        raise Refusal(429, "Too many requests.", headers={"Retry-After": seconds})


def _refusal(error: Exception) -> Refusal:
    """Return the reply to a client for an error; an unexpected error gives no details."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, web.HTTPException):
        headers = {"Allow": error.headers["Allow"]} if "Allow" in error.headers else {}
        return Refusal(error.status, error.reason, headers=headers)
    if isinstance(error, DiskNearlyFull):
        return Refusal(507, str(error))
    if isinstance(error, sqlite3.Error | PassbandError):
        return Refusal(503, "The server cannot use its state directory now.")
    return Refusal(500, "The server failed on this request.")
