"""A limit on requests per second, for each client on its own."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable


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
