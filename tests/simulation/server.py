"""The model's server: what it answers, and how it fails. A front speaks for it to the client."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any, Literal

from simulation.clock import Clock
from simulation.ledger import Ledger
from simulation.questions import TOO_LONG, Place, answer

Habit = Literal["takes n", "ignores n", "refuses n"]
TRANSIENT = (
    "limit", "limit 0", "limit 3", "limit 5000", "limit garbage", "limit date", "503 with date",
    "500", "502", "503", "408", "529", "hang", "slow", "reset", "reset in body", "cut json",
    "html", "no choices", "error in 200", "fewer choices", "more choices", "null bytes",
)  # fmt: skip
MIXED = ("500", "502", "limit 3", "limit", "hang", "reset", "cut json", "408")


@dataclass(frozen=True)
class Outage:
    """A time in which no connection is accepted, or every request fails."""

    start: float
    seconds: float
    kind: str  # "refused", one of TRANSIENT, or "mixed"

    def covers(self, now: float) -> bool:
        return self.start <= now < self.start + self.seconds


@dataclass(frozen=True)
class Weather:
    """How often and in which ways requests fail, and for how long all of them do."""

    rate: float = 0.0
    kinds: tuple[str, ...] = TRANSIENT
    outages: tuple[Outage, ...] = ()
    fatal_at: int = 0  # the request, from 1 on, that is answered with 401, as all after it are
    most: int = 80  # faults beyond outages in one session


@dataclass
class Served:
    """What the server does with a request: a fault, or a number of choices after some time."""

    fault: str | None
    seconds: float
    choices: list[Place] = field(default_factory=list)


class Server:
    """Decides what becomes of each request, by a generator of its own."""

    def __init__(self, seed: str, clock: Clock, ledger: Ledger) -> None:
        self._rng = random.Random(seed)
        self._clock, self._ledger = clock, ledger
        self.habit: Habit = "takes n"
        self.has_too_long = False
        self.latency = 0.1
        self.timeout = 60.0  # of the client
        self.weather = Weather()
        self._began = clock.now
        self._requests = self._faults = 0

    def begin(self, weather: Weather) -> None:
        """Begin a session."""
        self.weather, self._began = weather, self._clock.now
        self._requests = self._faults = 0

    @property
    def outage(self) -> str | None:
        """The way in which every request fails now, if they do."""
        now = self._clock.now - self._began
        return next((o.kind for o in self.weather.outages if o.covers(now)), None)

    def refuse(self) -> None:
        """Note a connection that was not accepted."""
        self._ledger.play("refused")

    def serve(self, places: tuple[Place, ...]) -> Served:
        """Decide on a request."""
        self._requests += 1
        seconds = min(self._rng.expovariate(1 / self.latency), self.timeout / 2)
        fault = self._fault(places)
        if fault is not None:
            self._ledger.play(fault)
        if fault == "slow":
            return Served(None, seconds * 20, self._choices(places, None))
        return Served(fault, seconds, self._choices(places, fault))

    def _fault(self, places: tuple[Place, ...]) -> str | None:
        if 0 < self.weather.fatal_at <= self._requests:
            return "401"
        if self.outage is not None:
            return self._rng.choice(MIXED) if self.outage == "mixed" else self.outage
        if self.has_too_long and places[0].problem == TOO_LONG:
            return "too long"
        if len(places) > 1 and self.habit == "refuses n":
            return "n refused"
        if self._faults < self.weather.most and self._rng.random() < self.weather.rate:
            fault = self._rng.choice(self.weather.kinds)
            if self._is_possible(fault, len(places)):
                self._faults += 1
                return fault
        return None

    def _is_possible(self, fault: str, count: int) -> bool:
        """Return whether a number of choices is recognizably wrong."""
        if fault == "fewer choices":
            return count > 1
        return fault != "more choices" or self.habit != "ignores n"

    def _choices(self, places: tuple[Place, ...], fault: str | None) -> list[Place]:
        count = 1 if self.habit == "ignores n" else len(places)
        if fault == "fewer choices":
            count = self._rng.randrange(1, len(places))
        return list(places[:count])


def reply(served: Served, identity: str) -> dict[str, Any]:
    """Return the reply of a chat server with the choices that it gives."""
    choices = [_choice(index, place) for index, place in enumerate(served.choices)]
    if served.fault == "more choices":
        other = {"role": "assistant", "content": "a choice that nobody asked for: 7"}
        choices.append({"index": len(choices), "message": other, "finish_reason": "stop"})
    usage = {"prompt_tokens": 10, "completion_tokens": 20 * len(choices)}
    return {"id": identity, "object": "chat.completion", "choices": choices, "usage": usage}


def _choice(index: int, place: Place) -> dict[str, Any]:
    said = answer(place)
    message = {"role": "assistant", "content": said.text}
    return {"index": index, "message": message, "finish_reason": said.finish}
