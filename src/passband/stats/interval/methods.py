"""The interval methods by name, and which target each is for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from passband.errors import InvalidInput
from passband.notes import Note
from passband.registry import Registry
from passband.stats.interval.request import IntervalRequest

__all__ = ["Interval", "interval_for", "method", "methods"]


@dataclass(frozen=True)
class Interval:
    """The ends, the standard error, and what to keep in mind."""

    low: float | None
    high: float | None
    se: float | None
    notes: tuple[Note, ...] = ()
    seed: int | None = None

    def with_notes(self, *notes: Note) -> Interval:
        return Interval(self.low, self.high, self.se, (*self.notes, *notes), self.seed)


Make = Callable[[IntervalRequest], Interval]


@dataclass(frozen=True)
class Method:
    name: str
    summary: str
    over: tuple[str, ...]
    make: Make


methods: Registry[Method] = Registry(
    "interval method",
    homes=(
        "passband.stats.interval.default.auto",
        "passband.stats.interval.bootstrap.methods",
        "passband.stats.interval.bootstrap.eva",
        "passband.stats.interval.posterior.methods",
    ),
)


def method(name: str, *, over: tuple[str, ...], summary: str) -> Callable[[Make], Make]:
    """Register a way to make intervals."""

    def add(make: Make) -> Make:
        methods.add(name, Method(name, summary, over, make))
        return make

    return add


def interval_for(name: str, request: IntervalRequest) -> Interval:
    """Return the interval by the method of that name."""
    chosen = methods.get(name)
    if request.over not in chosen.over:
        targets = " and ".join(f"over={target!r}" for target in chosen.over)
        raise InvalidInput(f"method {name!r} is for {targets}; got over={request.over!r}.")
    return chosen.make(request)
