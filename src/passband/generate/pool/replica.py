"""One address of a model that is served at several: its load, its speed, and its rest."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from passband.generate.provider import Completion, Provider, ProviderFault, Request, Unavailable
from passband.generate.servers.models_endpoint import ServedModel

_FAILURES = 3  # in a row, each perhaps the fault of its request, that mean the address is down
_POWER = 2.5  # of an answer's seconds, in how busy an address is
_FIRST_REST, _LONGEST_REST = 0.5, 30.0  # seconds; a rest doubles each time
_WEIGHT = 0.02  # of the newest answer in the average time; more for the first ones


class Replica:
    """A provider at one address, inferred from its replies to be awake or at rest.

    An address that fails rests, longer each time. After its rest one request at a time goes there,
    until one is answered.
    """

    def __init__(self, provider: Provider, clock: Callable[[], float] = time.monotonic) -> None:
        self.provider = provider
        self.address: str = getattr(provider, "address", None) or "an address without a name"
        self.in_flight = 0
        self.answered = 0
        self.completions = 0
        self.unusable = 0  # completions that are empty, cut off or refused
        self.seconds: float | None = None  # that an answer takes, on average over the last ones
        self.served: Sequence[ServedModel] | None = None  # what it says that it serves
        self.is_listed = False  # whether it was asked for that since it last came up
        self.trouble = ""  # why it gives no answers
        self._clock = clock
        self._failures = 0  # in a row
        self._rests = 0  # in a row
        self._wakes = 0.0

    # -- choosing ----------------------------------------------------------------------------

    @property
    def rest_left(self) -> float:
        """Seconds until it may be asked again; 0 if it may now."""
        return max(0.0, self._wakes - self._clock())

    @property
    def is_awake(self) -> bool:
        """Whether a request may go here: one at a time if the last ones were in vain."""
        if self._rests and self.in_flight:
            return False
        return self.rest_left == 0

    @property
    def burden(self) -> float:
        """How busy it is: requests in flight, times a power of the seconds of an answer.

        Equal counts (power 0) use too little of a fast server that could take more, and equal waits
        (a high power) use nothing of a slow one while the fast one queues. 2.5 comes within a tenth
        of the best division in both cases (benchmarks/pool.py). An idle address is always worth a
        request: what is known of its speed may be out of date.
        """
        return (self.in_flight + 1) * (self.seconds or 0.0) ** _POWER if self.in_flight else 0.0

    # -- asking ------------------------------------------------------------------------------

    async def generate(self, request: Request) -> Sequence[Completion]:
        """Make one attempt here; it is in flight already."""
        start = self._clock()
        completions = await self.provider.generate(request)
        self._answer(self._clock() - start)
        self.completions += len(completions)
        self.unusable += sum(not one.text or one.finish != "stop" for one in completions)
        return completions

    async def list_models(self) -> None:
        """Ask what is served here, where the provider can."""
        served: Callable[[], Any] | None = getattr(self.provider, "served", None)
        self.is_listed = True
        if served is not None:
            self.served = await served()

    def _answer(self, seconds: float) -> None:
        self.answered += 1
        self._failures = self._rests = 0
        before = self.seconds or 0.0
        self.seconds = before + max(_WEIGHT, 1 / self.answered) * (seconds - before)

    def heard(self) -> None:
        """Note a reply that is no answer, such as a rejection: the address is up."""
        self._failures = self._rests = 0

    # -- failing -----------------------------------------------------------------------------

    def fail(self, fault: ProviderFault) -> None:
        """Note that there was no answer; rest if the request cannot be to blame."""
        self._failures += 1
        is_down = isinstance(fault, Unavailable) and fault.everyone
        if is_down or self._failures >= _FAILURES:
            self.is_listed = False  # it may come back as another model
            self.trouble = fault.detail.rstrip(".")
            self.rest()

    def rest(self, seconds: float | None = None) -> None:
        """Be asked nothing for so many seconds, or else for longer each time."""
        if self.rest_left:  # one of many that failed together
            self._wakes = max(self._wakes, self._clock() + (seconds or 0.0))
            return
        own = min(_LONGEST_REST, _FIRST_REST * 2.0 ** min(self._rests, 20))
        if seconds is not None:  # unless that did not help before
            own = max(seconds, min(5.0, own) if self._rests else 0.0)
        self._rests += 1
        self._wakes = self._clock() + own
