"""The interval methods by name, and the targets that each is for.

>>> @register_method("whole", over=("problems",), summary="everything there can be")
... def whole(request):
...     return Interval(*request.range(), se=None)
>>> methods.get("whole").over
('problems',)
>>> methods.remove("whole")
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from passband.errors import InvalidInput, WrongType
from passband.notes import Note
from passband.registry import Registry
from passband.stats.checks import Over, check_over, check_text
from passband.stats.data.scale import Scale
from passband.stats.interval.request import IntervalRequest, as_mean_request


@dataclass(frozen=True)
class Interval:
    """The ends, the standard error, and notes on them."""

    low: float | None
    high: float | None
    se: float | None
    notes: tuple[Note, ...] = ()
    seed: int | None = None
    value: float | None = None  #: to print in place of the observed one, such as a posterior mean

    def __post_init__(self) -> None:
        for note in self.notes:
            if not isinstance(note, Note):
                raise WrongType(f"a note must be a Note(code, text); got {note!r}.")

    @staticmethod
    def none(reason: Note) -> Interval:
        """Return an interval without ends, with the reason."""
        return Interval(None, None, None, (reason,))

    def stretched(self, scale: Scale) -> Interval:
        """Return the interval on a scale with two ends, from that for scores from 0 to 1."""
        if self.low is None or self.high is None:
            return self
        width = scale.at_share(1.0) - scale.at_share(0.0)
        low, high = scale.at_share(self.low), scale.at_share(self.high)
        return replace(self, low=low, high=high, se=self.se and width * self.se)

    def with_notes(self, *notes: Note) -> Interval:
        """Return the interval with further notes."""
        return replace(self, notes=(*self.notes, *notes))


Make = Callable[[IntervalRequest], Interval]


@dataclass(frozen=True)
class Method:
    """A way to make intervals, and the targets that it is for."""

    name: str
    summary: str
    over: tuple[Over, ...]
    make: Make


methods: Registry[Method] = Registry(
    "interval method",
    homes={
        "auto": "passband.stats.interval.default.selection",
        **dict.fromkeys(
            ("percentile", "bca", "studentized", "two-level", "t"),
            "passband.stats.interval.bootstrap.methods",
        ),
        "eva": "passband.stats.interval.bootstrap.eva_bootstrap",
        **dict.fromkeys(
            ("uniform", "jeffreys", "empirical-bayes", "hierarchical"),
            "passband.stats.interval.posterior",
        ),
    },
)


def register_method(name: str, *, over: tuple[Over, ...], summary: str) -> Callable[[Make], Make]:
    """Register a way to make intervals, as a decorator.

    The function takes an `IntervalRequest` (outcomes, metric, value, over, level, seed) and returns
    an `Interval`. `over` names the targets that it is for: "problems", "trials", or both. The
    method is then known by its name to `estimate` and to the command line.
    """
    check_text("the name of a method", name, "auto")
    for target in over:
        check_over(target)

    def add(make: Make) -> Make:
        methods.add(name, Method(name, summary, tuple(over), make))
        return make

    return add


def interval_for(name: str, request: IntervalRequest) -> Interval:
    """Return the interval by the method of that name."""
    method = methods.get(name)
    if request.over not in method.over:
        targets = " and ".join(f"over={target!r}" for target in method.over)
        raise InvalidInput(f"method {name!r} is for {targets}; got over={request.over!r}.")
    simpler = as_mean_request(request)
    try:
        if simpler.metric.parts[0].needs_answers and name != "auto":
            raise InvalidInput("it needs more than scores.")
        interval = method.make(simpler)
    except InvalidInput as error:
        if not request.metric.parts[0].needs_answers:
            raise
        raise InvalidInput(
            f"method {name!r} has no interval over {request.over} for {request.metric.name}, which "
            "depends on answers and not on scores alone; use method='auto'."
        ) from error
    if not isinstance(interval, Interval):
        raise WrongType(f"method {name!r} must return an Interval; got {interval!r}.")
    return interval
