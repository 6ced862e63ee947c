"""The difference of two sides, with an interval at any level and a test.

`permuted_moments` deals a problem's trials to the two models at random. Two models that are alike
on a problem could as well have exchanged any of its trials. Given the successes of both together,
those of the first are then hypergeometric, and the moments of the difference follow exactly. With
different numbers of trials on the two sides they say what the data often do not show: how far the
values of the side with fewer trials scatter, and to which side.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import Protocol

import numpy as np

from passband.notes import Note, of_side
from passband.stats.checks import Over
from passband.stats.data.outcomes import Outcomes
from passband.stats.decision.paired import UNEVEN_TRIALS, Ends, Paired, Permuted, Tested, Unseen
from passband.stats.decision.pairing import (
    changes,
    common_range,
    effective_units,
    linear_values,
    shared_units,
)
from passband.stats.interval.default.wilson import level_of
from passband.stats.interval.estimation import Estimate, estimate
from passband.stats.interval.notes import ONE_TRIAL
from passband.stats.metric.metric import Metric
from passband.stats.metric.pmf import log_choose
from passband.types import Floats, Ints

ZERO_FACTOR_UNPAIRED = Note(
    "zero-factor-unpaired", "one factor of the blend is zero, so the interval ignores the pairing"
)


def permuted_moments(a: Outcomes, b: Outcomes, metric: Metric) -> Permuted:
    """Return the moments of each problem's difference b - a about its mean, for scores of 0 and 1.

    >>> from passband.stats.metric.registry import parse_metric
    >>> one, two = Outcomes.from_counts([1], 1), Outcomes.from_counts([1], 3)
    >>> permuted_moments(one, two, parse_metric("pass@1")).second.round(9).tolist()
    [0.444444444]
    """
    values = [_Values(side, metric) for side in (a, b)]
    successes = a.required_successes() + b.required_successes()
    most = b.most_trials() + 1
    designs, design = np.unique(a.trials * most + b.trials, return_inverse=True)
    most_of_both = int(successes.max()) + 1
    kinds, kind = np.unique(design * most_of_both + successes, return_inverse=True)
    second, third = np.empty(len(kinds)), np.empty(len(kinds))
    for index, code in enumerate(designs.tolist()):
        rows = slice(*np.searchsorted(kinds, (index * most_of_both, (index + 1) * most_of_both)))
        of_a, of_b = values[0].at(code // most), values[1].at(code % most)
        second[rows], third[rows] = _moments(of_a, of_b, kinds[rows] % most_of_both)
    return Permuted(second[kind], third[kind])


class _Values:
    """The value of a problem by its trials and successes, on the scale of one side's mean."""

    def __init__(self, side: Outcomes, metric: Metric) -> None:
        self._metric, self._means = metric, metric.means(side)
        self._known: dict[int, Floats] = {}

    def at(self, trials: int) -> Floats:
        """Return the values of 0, 1, ... successes in this many trials."""
        if trials not in self._known:
            table = Outcomes.from_counts(np.arange(trials + 1), trials)
            parts = list(self._metric.by_problem(table).T)
            self._known[trials] = self._metric.linear(parts, self._means)
        return self._known[trials]


def _moments(of_a: Floats, of_b: Floats, successes: Ints) -> tuple[Floats, Floats]:
    """Return the central moments of b - a given the successes of both together."""
    n_a, n_b = len(of_a) - 1, len(of_b) - 1
    at_a = np.arange(n_a + 1)
    at_b = successes[:, None] - at_a
    can_be = (at_b >= 0) & (at_b <= n_b)
    at_b = np.clip(at_b, 0, n_b)
    ways = log_choose(n_a, at_a) + log_choose(n_b, at_b)
    ways -= log_choose(n_a + n_b, successes)[:, None]
    chance = np.where(can_be, np.exp(ways), 0.0)
    change = of_b[at_b] - of_a
    away = change - (chance * change).sum(axis=1, keepdims=True)
    return (chance * away**2).sum(axis=1), (chance * away**3).sum(axis=1)


class Contrast(Protocol):
    """The difference of two sides, with an interval at any level."""

    value: float
    unseen: Unseen | None

    @property
    def notes(self) -> tuple[Note, ...]: ...
    @property
    def method(self) -> str: ...
    @property
    def test(self) -> str: ...
    @property
    def se(self) -> float | None: ...
    @property
    def p_value(self) -> float | None: ...
    @property
    def confidence(self) -> float | None: ...
    def ends(self, level: float) -> Ends | None:
        """Return the interval; None where the data do not allow one."""
        ...

    def tail(self, at: float) -> float | None:
        """Return half of 1 - L, with L the level at which the near end of the interval is `at`."""
        ...

    def guarded_ends(self, level: float) -> Ends | None:
        """Return ends that allow for problems of a kind that was not drawn."""
        ...

    def guarded_tail(self, at: float) -> float | None:
        """Return the tail at which the nearer of the guarded ends is `at`."""
        ...


def contrast_of(
    a: Outcomes,
    b: Outcomes,
    metric: Metric,
    over: Over,
    independent: Callable[..., Independent] | None = None,
) -> Contrast:
    """Return the difference of two sides with the same problems in the same order.

    `independent` makes the difference of independent sides; many pairs share work by it.
    """
    independent = independent or Independent
    unit = shared_units((a, b)) if over == "problems" else None
    one_trial = over == "trials" and min(a.most_trials(), b.most_trials()) == 1
    if over == "trials" and not one_trial:
        return independent(a, b, metric, over)
    values = [linear_values(side, metric) for side in (a, b)]
    if values[0] is None or values[1] is None:
        return independent(a, b, metric, over, (ZERO_FACTOR_UNPAIRED,))
    low, high = common_range((a, b), metric)
    notes = (ONE_TRIAL,) if one_trial else ()
    change = changes(values[0], values[1])
    if (a.trials == b.trials).all():
        return Paired(change, unit, high - low, notes)
    notes = (*notes, UNEVEN_TRIALS)
    if a.is_binary and b.is_binary and not any(part.needs_answers for part in metric.parts):
        return Paired(change, unit, high - low, notes, permuted_moments(a, b, metric))
    return Uneven(Paired(change, unit, high - low, notes), independent(a, b, metric, "trials"))


class Uneven(Tested):
    """Paired differences of graded scores or votes, with different numbers of trials.

    Then a difference is not symmetric even if the models are alike: the side with fewer trials is
    the rougher one, and its rare values all fall to one side. The interval is never narrower than
    the noise of either side's trials says.
    """

    method = "paired, and no narrower than the noise of the trials"
    test = "interval"

    def __init__(self, paired: Paired, noise: Independent) -> None:
        self.paired, self._noise = paired, noise
        self.value, self.se, self.notes = paired.value, paired.se, paired.notes
        self.unseen = paired.unseen

    def tail(self, at: float) -> float | None:
        tails = [tail for side in (self.paired, self._noise) if (tail := side.tail(at)) is not None]
        return max(tails, default=None)

    def ends(self, level: float) -> Ends | None:
        both = [side.ends(level) for side in (self.paired, self._noise)]
        known = [ends for ends in both if ends is not None]
        if not known:
            return None
        return min(low for low, _ in known), max(high for _, high in known)


_USUAL = 0.95  # the level that is mostly asked for


class Independent(Tested):
    """Two independent sides, each with its own default interval, joined by square-and-add."""

    method = "square-and-add"
    test = "interval"

    def __init__(
        self,
        a: Outcomes,
        b: Outcomes,
        metric: Metric,
        over: Over,
        notes: tuple[Note, ...] = (),
    ) -> None:
        self._a, self._b, self._metric, self._over = a, b, metric, over
        self._known: dict[float, Ends | None] = {}
        first, second = self._sides(_USUAL)
        self.value = second.value - first.value
        self._known[_USUAL] = self._joined(first, second)
        self.se = None
        if first.se is not None and second.se is not None:
            self.se = float(np.hypot(first.se, second.se)) or None
        sides = [*(of_side("a", n) for n in first.notes), *(of_side("b", n) for n in second.notes)]
        self.notes = (*sides, *notes)
        if over == "problems":
            low, high = common_range((a, b), metric)
            self.unseen = Unseen(min(map(_units, (a, b))), high - low) if high > low else None

    def _sides(self, level: float) -> tuple[Estimate, Estimate]:
        first, second = (
            estimate(side, self._metric.name, over=self._over, level=level)
            for side in (self._a, self._b)
        )
        return first, second

    def ends(self, level: float) -> Ends | None:
        if level not in self._known:
            self._known[level] = self._joined(*self._sides(level))
        return self._known[level]

    def _joined(self, a: Estimate, b: Estimate) -> Ends | None:
        if a.low is None or a.high is None or b.low is None or b.high is None:
            return None
        # b - a is lowest where b is at its low end and a at its high one (Newcombe's method 10).
        down = np.hypot(b.value - b.low, a.high - a.value)
        up = np.hypot(b.high - b.value, a.value - a.low)
        return float(self.value - down), float(self.value + up)

    def tail(self, at: float) -> float | None:
        return _tail(self.value, self.ends, at)


def _units(outcomes: Outcomes) -> float:
    """Return the number of problems, or of clusters, that outcomes amount to."""
    unit = shared_units((outcomes,))
    if unit is None:
        return float(outcomes.n_problems)
    return effective_units(np.bincount(unit).astype(np.float64))


_FARTHEST = 6.0  # standard deviations; beyond, no interval here is worth being believed


def _tail(value: float, ends: Callable[[float], Ends | None], at: float) -> float | None:
    """Return half of 1 - L, with L the level at which the near end is `at`.

    The level is found on the scale of normal deviations z. The distance of an end from the value
    is nearly a power of z, so the secant of their logarithms is followed, within a bracket.
    """
    if ends(0.5) is None:
        return None
    if value == at:
        return 0.5
    wanted = abs(value - at)

    def reached(z: float) -> float:
        low, high = ends(max(level_of(z), 1e-6)) or (value, value)
        return (value - low if value > at else high - value) / wanted

    # Secant steps, kept inside the bracket (near, far) by bisection.
    near, far = 0.0, _FARTHEST
    previous, z = (far, reached(far)), 2.0 * _FARTHEST / 3.0
    if previous[1] <= 1.0:
        return NormalDist().cdf(-_FARTHEST)
    z = min(far / previous[1], z)
    while far - near > 1e-9:
        here = reached(z)
        if abs(here - 1.0) <= 1e-11:
            return NormalDist().cdf(-z)
        near, far = (z, far) if here < 1.0 else (near, z)
        last, previous = previous, (z, here)
        z = _secant(last, previous)
        if not near < z < far:
            z = (near + far) / 2.0
    return NormalDist().cdf(-far)


def _secant(first: tuple[float, float], second: tuple[float, float]) -> float:
    """Return where the power law through two points reaches 1; 0 if there is none."""
    (x, f), (y, g) = first, second
    if min(f, g) <= 0.0 or f == g or x == y:
        return 0.0
    slope = math.log(f / g) / math.log(x / y)
    return y * math.exp(min(-math.log(g) / slope, 50.0)) if slope > 0.0 else 0.0
