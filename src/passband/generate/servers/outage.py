"""The time in which a server has answered nothing, and when that is too long to go on waiting."""

from __future__ import annotations

import time
from collections.abc import Callable

from passband.generate.provider import ProviderFault, RateLimited

_DAY = 43_200.0  # seconds from which a time of day needs its date
_SAFE = "What was recorded is safe; run the same command"


class Silence:
    """Counts from the first request without an answer to the next answer of any request."""

    def __init__(self, longest: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.longest = longest  # seconds, as --max-outage says
        self._clock = clock
        self._since: float | None = None

    def end(self) -> None:
        """Note an answer."""
        self._since = None

    def seconds(self) -> float:
        """Return how long it has lasted; the first call begins it."""
        now = self._clock()
        if self._since is None:
            self._since = now
        return now - self._since

    def bounded(self, pause: float) -> float:
        """Return a pause of our own choice, no longer than is left."""
        return min(pause, max(0.5, self.longest - self.seconds()))

    def is_over(self, fault: ProviderFault) -> str | None:
        """Return why there is no more waiting, or None if there is.

        A server that asks for more time than is left is not waited for at all.
        """
        lasted, last = self.seconds(), fault.detail.rstrip(".")
        if not isinstance(fault, RateLimited):
            if lasted <= self.longest:
                return None
            what = f"the server has been down for {lasted:.0f} s"
            return f"{what}. Last: {last}. {_SAFE} again to go on."
        if lasted > self.longest:
            return (
                f"the server has turned every request away for {lasted:.0f} s, longer than "
                f"--max-outage. Last: {last}. {_SAFE} again to go on."
            )
        wait = fault.retry_after or 0.0
        if lasted + wait <= self.longest:
            return None
        return (
            f"the server asks to wait until {_time_of_day(wait)} ({wait:.0f} s), longer than "
            f"--max-outage ({self.longest:g} s). Last: {last}. {_SAFE} then."
        )


def _time_of_day(wait: float) -> str:
    form = "%H:%M" if wait < _DAY else "%Y-%m-%d %H:%M"
    return time.strftime(form, time.localtime(time.time() + wait))
