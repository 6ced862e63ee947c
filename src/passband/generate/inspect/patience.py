"""Attempts at one request of an evaluation that Inspect runs.

The rules are those of a run: a rate limit holds up all requests and counts against none; a server
that is down for everyone is waited for; a request that fails while others are answered is given up.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable

from passband.generate.provider import (
    Completion,
    Crashed,
    GaveUp,
    Hopeless,
    InvalidReply,
    Provider,
    ProviderFault,
    RateLimited,
    Rejected,
    Request,
    TimedOut,
    Unavailable,
    Unfinished,
)
from passband.generate.servers.outage import Silence

_ATTEMPTS = 5  # failures of the server on a request, after which it is given up
_REPLIES = 3  # invalid replies, timeouts or exceptions, after which it is given up
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0


class PatientProvider:
    """Makes requests to a provider until there is an answer, or a reason for none."""

    def __init__(
        self,
        provider: Provider,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        outage: float = 600.0,
    ) -> None:
        self._provider = provider
        self._sleep = sleep
        self._answered = 0
        self._paused_until = 0.0
        self._pauses = 0  # in a row
        self._silence = Silence(outage, lambda: time.monotonic())

    async def generate(self, request: Request) -> Completion:
        """Return the answer to a request, or raise a fault that is final."""
        failures = replies = pauses = unfinished = 0
        while True:
            await self._ready()
            known = self._answered
            try:
                completions = await self._provider.generate(request)
                if not completions:
                    raise InvalidReply("the model returned no completion")
            except RateLimited as fault:
                if not fault.elsewhere:
                    self._limited(fault)
                continue
            except Unavailable as fault:
                failures += self._failed(fault, known)
                if failures >= _ATTEMPTS:
                    raise GaveUp(fault.detail, http=fault.http) from fault
                if fault.elsewhere:
                    continue
            except Unfinished as fault:  # once more; then it is taken as it is
                unfinished += 1
                if unfinished > 1:
                    self._answered += 1
                    return fault.completions[0]
            except (TimedOut, Crashed, InvalidReply) as fault:
                replies += 1
                if replies >= _REPLIES:
                    raise _final(fault) from fault
            else:
                self._answered += 1
                self._pauses = 0
                self._silence.end()
                return completions[0]
            await self._sleep(_backoff(pauses))
            pauses += 1

    async def _ready(self) -> None:
        while (pause := self._paused_until - time.monotonic()) > 0:
            # Requests that waited together must not come back together.
            await self._sleep(pause + random.uniform(0, min(5.0, 0.1 + 0.1 * pause)))

    def _limited(self, fault: RateLimited) -> None:
        """Pause all requests for as long as the server asks, or else longer each time."""
        if why := self._silence.is_over(fault):
            raise Hopeless(why)
        seconds = fault.retry_after
        if seconds is None:
            seconds = self._silence.bounded(_backoff(self._pauses))
        if self._paused_until <= time.monotonic():
            self._pauses += 1
        self._paused_until = max(self._paused_until, time.monotonic() + seconds)

    def _failed(self, fault: Unavailable, known: int) -> int:
        """Return whether a failure counts against the request; raise what ends the run."""
        if fault.elsewhere:  # one address is down, and the model is not
            return int(not fault.everyone)
        if fault.everyone and fault.http is None and not self._answered:
            raise Hopeless(f"the server cannot be reached: {fault.detail}")
        if why := self._silence.is_over(fault):
            raise Hopeless(why)
        return int(not fault.everyone or self._answered > known)


def _final(fault: ProviderFault) -> ProviderFault:
    kind = Rejected if isinstance(fault, InvalidReply) else GaveUp
    return kind(fault.detail, http=fault.http)


def _backoff(times: int) -> float:
    return random.uniform(0.5, 1.0) * min(_LONGEST_PAUSE, _FIRST_PAUSE * 2.0 ** min(times, 20))
