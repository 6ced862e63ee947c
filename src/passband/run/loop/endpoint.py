"""The state that all requests to one server share: pauses, circuit breaker, stop signal."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Callable

from passband.errors import PassbandError
from passband.generate import RateLimited, Silence, Unavailable
from passband.log import INFO, event
from passband.run.settings import Patience


class Stopping(Exception):
    """The run is ending; a batch that was not sent is left for the next run."""


class Outage(PassbandError):
    """The server has given no answer for longer than --max-outage, or says that it will not."""


class Endpoint:
    """The state of a server, inferred from its replies.

    While the breaker is closed, every request may go. After many failures in a row it opens: one
    request at a time goes as a probe, the others wait, and the first success closes it again.
    """

    def __init__(self, patience: Patience, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.patience = patience
        self.answered = 0  # requests answered so far
        self.answered_before = False  # by earlier processes of this run
        self.first_answer = asyncio.Event()
        self.is_troubled = False  # whether the last request that ended had no answer
        self.retries: Counter[str] = Counter()  # failed attempts by their outcome
        self.backing_off = 0  # requests that wait before their next attempt
        self._clock = clock
        self._paused_until = 0.0
        self._pauses = 0  # in a row
        self._failures = 0  # in a row
        self._silence = Silence(patience.outage, clock)
        self._is_open = False
        self._probes = 0  # in vain
        self._probing = False
        self._changed = asyncio.Event()
        self._stop = asyncio.Event()

    # -- stopping --------------------------------------------------------------------------

    @property
    def is_stopping(self) -> bool:
        return self._stop.is_set()

    def stop(self) -> None:
        """Stop: no further request may go."""
        self._stop.set()
        self._changed.set()

    async def sleep(self, seconds: float) -> None:
        """Wait; raise `Stopping` if the run is stopping or begins to."""
        if not self._stop.is_set():
            try:
                await asyncio.wait_for(self._stop.wait(), seconds)
            except asyncio.TimeoutError:
                return
        raise Stopping

    async def back_off(self, seconds: float) -> None:
        """Wait before another attempt at a request, and count those that do."""
        self.backing_off += 1
        event("wait", INFO, reason="retry", seconds=round(seconds, 2))
        try:
            await self.sleep(seconds)
        finally:
            self.backing_off -= 1

    # -- going -----------------------------------------------------------------------------

    @property
    def paused_for(self) -> float:
        """Seconds until the next request may go; 0 if it may now."""
        return max(0.0, self._paused_until - self._clock())

    @property
    def is_clear(self) -> bool:
        """Whether a request may go at once."""
        if self._is_open or self._stop.is_set():
            return False
        return not self._paused_until or self._paused_until <= self._clock()

    @property
    def is_down(self) -> bool:
        return self._is_open

    async def ready(self) -> None:
        """Wait until a request may go."""
        while True:
            if self._stop.is_set():
                raise Stopping
            if (pause := self.paused_for) > 0:
                # Requests that waited together must not come back together.
                await self.sleep(pause + random.uniform(0, min(5.0, 0.1 + 0.1 * pause)))
            elif not self._is_open:
                return
            elif not self._probing:
                self._probing = True
                return
            else:
                self._changed.clear()
                await self._changed.wait()

    # -- outcomes of requests --------------------------------------------------------------

    def succeeded(self) -> None:
        """Note an answer of any kind: the server is up."""
        self.answered += 1
        self.first_answer.set()
        self.is_troubled = False
        self._pauses = self._failures = self._probes = 0
        self._silence.end()
        if self._is_open:
            self._is_open = self._probing = False
            self._paused_until = 0.0
            self._changed.set()
            event("breaker", INFO, state="closed")

    def limited(self, fault: RateLimited) -> None:
        """Pause for as long as the server asks, or else longer each time; raise `Outage`."""
        if why := self._silence.is_over(fault):
            raise Outage(why)
        seconds = self._silence.bounded(self._backoff(self._pauses, 60.0))
        if fault.retry_after is not None:  # unless that did not help before
            seconds = max(fault.retry_after, min(5.0, seconds) if self._pauses else 0.0)
        if self.paused_for == 0:
            self._pauses += 1
        self._pause(seconds)
        self.released()

    def failed(self, fault: Unavailable) -> None:
        """Note that the server did not answer; many in a row open the breaker."""
        self._failures += 1
        self.is_troubled = True
        why = self._silence.is_over(fault)
        if why and fault.everyone:
            raise Outage(why)
        if self._failures < self.patience.failures:
            return
        if not self._is_open:
            event("breaker", INFO, state="open", failures=self._failures)
        self._is_open = True
        self._probed()
        if why:
            raise Outage(why)
        if self.paused_for == 0:  # a probe; not one of many that failed together
            # The only requests left may be at fault: then they are given up.
            longest = 30.0 if fault.everyone else 5.0
            self._pause(self._silence.bounded(self._backoff(self._probes, longest)))
            self._probes += 1

    def heard(self) -> None:
        """Note a reply that is no answer, such as a rejection: the server is there."""
        self._silence.end()

    def released(self) -> None:
        """Let another request be the probe: this one ended without an answer."""
        self.is_troubled = True
        self._probed()

    def _probed(self) -> None:
        if self._probing:
            self._probing = False
            self._changed.set()

    def _pause(self, seconds: float) -> None:
        reason = "down" if self._is_open else "rate_limited"
        event("wait", INFO, reason=reason, seconds=round(seconds, 2))
        self._paused_until = max(self._paused_until, self._clock() + seconds)

    def _backoff(self, times: int, longest: float) -> float:
        return min(longest, self.patience.first_pause * 2.0 ** min(times, 20))
