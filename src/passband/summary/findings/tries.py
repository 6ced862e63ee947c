"""Estimate a metric at every number of tries, with simultaneous bands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from passband.errors import InvalidInput
from passband.notes import Note
from passband.stats import Over
from passband.stats.data import Outcomes
from passband.stats.interval import Band, band
from passband.summary.summary import Request

_MOST_POINTS = 40  # of a curve


@dataclass(frozen=True)
class Point:
    """The value at one k, with the band for problems like these and for these very problems."""

    k: int
    value: float
    outer: tuple[float, float] | None
    inner: tuple[float, float] | None


@dataclass(frozen=True)
class Tries:
    """A curve over k."""

    metric: str  #: with a star for k: "pass@*"
    level: float
    points: tuple[Point, ...]
    left_out: int  #: problems with a trial, and with too few for the last k
    notes: tuple[Note, ...] = ()


def tries_of(outcomes: Outcomes, request: Request) -> tuple[Tries, ...]:
    """Return the curves of pass@k and pass^k, or of the best of k where scores are graded.

    There is none where no problem has a second trial.
    """
    counted = outcomes.counted(request.policy)
    if not counted.n_trials or counted.most_trials() < 2:
        return ()
    metrics = ("pass@*", "pass^*") if counted.is_binary else ("max@*",)
    curves = [_tries(counted, metric, request) for metric in metrics]
    return tuple(curve for curve in curves if curve is not None)


def _tries(outcomes: Outcomes, metric: str, request: Request) -> Tries | None:
    outer = _band(outcomes, metric, "problems", request)
    inner = _band(outcomes, metric, "trials", request)
    drawn = outer or inner
    if drawn is None:
        return None
    places = _places(outcomes, drawn)
    left_out = int(drawn.left_out[places[-1]] - drawn.left_out[0])
    points = tuple(
        Point(
            int(drawn.k[index]), float(drawn.value[index]), _ends(outer, index), _ends(inner, index)
        )
        for index in places
    )  # fmt: skip
    return Tries(metric, request.level, points, left_out, drawn.notes)


def _band(outcomes: Outcomes, metric: str, over: Over, request: Request) -> Band | None:
    try:
        return band(outcomes, metric, over=over, level=request.level)
    except InvalidInput:  # too many different numbers of trials, or too few problems
        return None


def _ends(drawn: Band | None, at: int) -> tuple[float, float] | None:
    if drawn is None or drawn.is_refused:
        return None
    return float(drawn.low[at]), float(drawn.high[at])


def _places(outcomes: Outcomes, drawn: Band) -> list[int]:
    """Return the places of a curve that are kept, up to the k that most problems allow.

    Beyond the fewest trials of a problem the curve is one of fewer and fewer problems, which is
    another quantity: it ends where a tenth of those that have a trial is left out.
    """
    untried = drawn.left_out[0]
    most = (outcomes.n_problems - untried) / 10
    return thinned(
        [index for index in range(len(drawn)) if drawn.left_out[index] - untried <= most]
    )


def thinned(places: Sequence[int]) -> list[int]:
    """Return all of a few places; of many, the ends and those evenly spaced on a log scale.

    >>> thinned(range(4)), len(thinned(range(1000)))
    ([0, 1, 2, 3], 41)
    """
    if len(places) <= _MOST_POINTS:
        return list(places)
    last = len(places)
    spaced = {round(last ** (step / (_MOST_POINTS - 1))) - 1 for step in range(_MOST_POINTS)}
    powers = {2**power - 1 for power in range(last.bit_length()) if 2**power <= last}
    return [places[index] for index in sorted(spaced | powers) if index < last]
