"""The difference of two sides, with an interval at any level and a test."""

from __future__ import annotations

from collections.abc import Callable
from statistics import NormalDist
from typing import Protocol

import numpy as np

from passband.notes import ONE_TRIAL, UNEVEN_TRIALS, ZERO_FACTOR_UNPAIRED, Note, of_side
from passband.stats.checks import Over
from passband.stats.data.outcomes import Outcomes
from passband.stats.decision.paired import Ends, Paired, Tested
from passband.stats.decision.pairing import (
    common_range,
    linear_values,
    shared_units,
    without_dust,
)
from passband.stats.decision.permuted import permuted_moments
from passband.stats.interval.estimate import Estimate, estimate
from passband.stats.metric.metric import Metric

__all__ = ["Contrast", "Independent", "Uneven", "contrast_of"]


class Contrast(Protocol):
    """The difference of two sides, with an interval at any level."""

    value: float

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
    change = without_dust(values[1] - values[0])
    if (a.trials == b.trials).all():
        return Paired(change, unit, high - low, notes)
    notes = (*notes, UNEVEN_TRIALS)
    if a.is_binary and b.is_binary:
        return Paired(change, unit, high - low, notes, permuted_moments(a, b, metric))
    return Uneven(Paired(change, unit, high - low, notes), independent(a, b, metric, "trials"))


class Uneven(Tested):
    """Paired differences of graded scores, the sides having different numbers of trials.

    Then a difference is not symmetric even if the models are alike: the side with fewer trials is
    the rougher one, and its rare values all fall to one side. The interval is never narrower than
    the noise of either side's trials says.
    """

    method = "paired, and no narrower than the noise of the trials"
    test = "interval"

    def __init__(self, paired: Paired, noise: Independent) -> None:
        self.paired, self._noise = paired, noise
        self.value, self.se, self.notes = paired.value, paired.se, paired.notes

    def tail(self, at: float) -> float | None:
        tails = [tail for side in (self.paired, self._noise) if (tail := side.tail(at)) is not None]
        return max(tails, default=None)

    def ends(self, level: float) -> Ends | None:
        both = [side.ends(level) for side in (self.paired, self._noise)]
        known = [ends for ends in both if ends is not None]
        if not known:
            return None
        return min(low for low, _ in known), max(high for _, high in known)


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
        first, second = self._sides(0.95)
        self.value = second.value - first.value
        self.se = None
        if first.se is not None and second.se is not None:
            self.se = float(np.hypot(first.se, second.se)) or None
        sides = [*(of_side("a", n) for n in first.notes), *(of_side("b", n) for n in second.notes)]
        self.notes = (*sides, *notes)

    def _sides(self, level: float) -> tuple[Estimate, Estimate]:
        first, second = (
            estimate(side, self._metric.name, over=self._over, level=level)
            for side in (self._a, self._b)
        )
        return first, second

    def ends(self, level: float) -> Ends | None:
        a, b = self._sides(level)
        if a.low is None or a.high is None or b.low is None or b.high is None:
            return None
        down = np.hypot(b.value - b.low, a.high - a.value)
        up = np.hypot(b.high - b.value, a.value - a.low)
        return float(self.value - down), float(self.value + up)

    def tail(self, at: float) -> float | None:
        return _tail(self.value, self.ends, at)


_FARTHEST = 6.0  # standard deviations; beyond, no interval here is worth being believed


def _tail(value: float, ends: Callable[[float], Ends | None], at: float) -> float | None:
    """Return half of 1 - L, with L the level at which the near end is `at`.

    The level is found on the scale of normal deviations, by false position with the Illinois
    correction.
    """
    if ends(0.5) is None:
        return None
    if value == at:
        return 0.5
    normal = NormalDist()

    def gap(z: float) -> float:
        low, high = ends(max(2.0 * normal.cdf(z) - 1.0, 1e-6)) or (at, at)
        return low - at if value > at else at - high

    near, at_near = 0.0, abs(value - at)
    far, at_far = _FARTHEST, gap(_FARTHEST)
    while at_far < 0.0 and far - near > 1e-9:
        z = near + (far - near) * at_near / (at_near - at_far)
        gap_here = gap(z)
        if gap_here == 0.0:
            near = far = z
        elif gap_here > 0.0:
            near, at_near, at_far = z, gap_here, at_far / 2.0
        else:
            far, at_far, at_near = z, gap_here, at_near / 2.0
    return normal.cdf(-far)
