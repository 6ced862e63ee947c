"""One address of a model that is served at several: its load, its pace, and its rest."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from passband.generate.provider import Completion, Provider, ProviderFault, Request, Unavailable
from passband.generate.served import ServedModel

__all__ = ["Replica"]

_FAILURES = 3  # in a row, each perhaps the fault of its request, that mean the address is down
_FIRST_REST, _LONGEST_REST = 0.5, 30.0  # seconds; a rest doubles each time
_WEIGHT = 0.1  # of the newest answer in the average pace


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
        self.pace: float | None = None  # seconds of an answer for each request in flight
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
    def expected(self) -> float:
        """Seconds that one request more would take here, by those before it; 0 if it is idle.

        An idle address is always worth a request: what is known of its pace may be out of date.
        """
        return (self.pace or 0.0) * (self.in_flight + 1) if self.in_flight else 0.0

    # -- asking ------------------------------------------------------------------------------

    async def generate(self, request: Request) -> Sequence[Completion]:
        """Make one attempt here; it is in flight already."""
        load, start = max(1, self.in_flight), self._clock()
        completions = await self.provider.generate(request)
        self._answer((self._clock() - start) / load)
        return completions

    async def list_models(self) -> None:
        """Ask what is served here, where the provider can."""
        served: Callable[[], Any] | None = getattr(self.provider, "served", None)
        self.is_listed = True
        if served is not None:
            self.served = await served()

    def _answer(self, pace: float) -> None:
        self.answered += 1
        self._failures = self._rests = 0
        before = pace if self.pace is None else self.pace
        self.pace = before + _WEIGHT * (pace - before)

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
