"""The difference of two sides, with an interval at any level and a test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist
from typing import Protocol

import numpy as np

from passband.notes import (
    EQUAL_CHANGES,
    ONE_PROBLEM,
    ONE_TRIAL,
    RELIABLE_CLUSTERS,
    UNEVEN_TRIALS,
    ZERO_FACTOR_UNPAIRED,
    Note,
    few_clusters,
    of_side,
)
from passband.stats.checks import Over
from passband.stats.data.outcomes import Outcomes
from passband.stats.decision.pairing import (
    common_range,
    linear_values,
    shared_units,
    sums_by,
    without_dust,
)
from passband.stats.decision.sign_flips import sign_flip_p_value
from passband.stats.interval.default.wilson import roots, student_quantile
from passband.stats.interval.estimate import Estimate, estimate
from passband.stats.metric.metric import Metric
from passband.types import Floats, Ints

__all__ = ["Contrast", "Independent", "Paired", "Uneven", "contrast_of"]

Ends = tuple[float, float]


class Contrast(Protocol):
    """The difference of two sides, with an interval at any level."""

    notes: tuple[Note, ...]

    @property
    def method(self) -> str: ...
    @property
    def test(self) -> str: ...
    @property
    def value(self) -> float: ...
    @property
    def se(self) -> float | None: ...
    @property
    def p_value(self) -> float | None: ...
    @property
    def probability(self) -> float | None: ...
    def ends(self, level: float) -> Ends | None:
        """Return the interval; None where the data do not allow one."""
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
    paired = Paired(without_dust(values[1] - values[0]), unit, high - low, notes)
    if (a.trials == b.trials).all():
        return paired
    return Uneven(paired, independent(a, b, metric, "trials"))


class Uneven:
    """Paired differences where the sides have different numbers of trials of a problem.

    Then a difference is not symmetric even if the models are alike: the side with fewer trials is
    the rougher one, and its rare values all fall to one side. The interval is never narrower than
    the noise of either side's trials says, and the p-value never smaller.
    """

    method = "paired, and no narrower than the noise of the trials"
    test = "sign flips, and no surer than the noise of the trials"

    def __init__(self, paired: Paired, noise: Independent) -> None:
        self._paired, self._noise = paired, noise
        self.value, self.se = paired.value, paired.se
        self.notes = (*paired.notes, UNEVEN_TRIALS)

    @property
    def p_value(self) -> float | None:
        p_values = [p for p in (self._paired.p_value, self._noise.p_value) if p is not None]
        return max(p_values, default=None)

    @property
    def probability(self) -> float | None:
        """The confidence of whichever is less sure: the interval holds both, and touches 0 first."""
        both = [side.probability for side in (self._paired, self._noise)]
        known = [confidence for confidence in both if confidence is not None]
        return min(known, key=lambda confidence: abs(confidence - 0.5), default=None)

    def ends(self, level: float) -> Ends | None:
        both = [side.ends(level) for side in (self._paired, self._noise)]
        known = [ends for ends in both if ends is not None]
        if not known:
            return None
        return min(low for low, _ in known), max(high for _, high in known)


class Paired:
    """The mean of differences by problem, or by cluster."""

    method = "paired"

    def __init__(
        self, change: Floats, unit: Ints | None, span: float, notes: tuple[Note, ...] = ()
    ) -> None:
        self._change, self._unit, self._span = change, unit, span
        self.value = float(change.mean())
        units = len(change) if unit is None else int(unit.max()) + 1
        if len(change) == 1:
            notes = (*notes, ONE_PROBLEM)
        elif unit is not None and units < RELIABLE_CLUSTERS:
            notes = (*notes, few_clusters(units))
        self.notes = (*notes, EQUAL_CHANGES) if self._moments.spread == 0.0 else notes

    @property
    def test(self) -> str:
        return "sign flips" if self._unit is None else "sign flips of clusters"

    @cached_property
    def _moments(self) -> _Moments:
        alone = _Moments.of(self._change, None)
        if self._unit is None:
            return alone
        grouped = _Moments.of(self._change, self._unit)
        # Never surer than without clusters, and never with more units than there are clusters.
        return replace(
            grouped,
            spread=max(grouped.spread, alone.spread),
            error=max(grouped.error, alone.error),
            plain_error=max(grouped.plain_error, alone.plain_error),
        )

    @property
    def se(self) -> float | None:
        """The standard deviation of the differences over the root of their number."""
        return self._moments.plain_error or None

    @property
    def p_value(self) -> float:
        if self._unit is None:
            return sign_flip_p_value(self._change)
        return sign_flip_p_value(sums_by(self._unit, self._change))

    @property
    def probability(self) -> float | None:
        return _confidence(self.value, self.ends)

    def ends(self, level: float) -> Ends | None:
        if self._span == 0.0 and self._moments.spread == 0.0:
            return None
        if self._moments.spread == 0.0:
            low, high = self._bound((1.0 - level) / 2.0)
        else:
            low, high = self._moments.ends(level)
        return (
            max(min(low, self.value), min(-self._span, self.value)),
            min(max(high, self.value), max(self._span, self.value)),
        )

    def _bound(self, tail: float) -> Ends:
        """Return how far the mean could be off if a share of the units, missed so far, differs."""
        units = len(self._change) if self._unit is None else int(self._unit.max()) + 1
        missed = 1.0 - tail ** (1.0 / units)
        m = self.value
        return m - missed * (self._span + m), m + missed * (self._span - m)


@dataclass(frozen=True)
class _Moments:
    """Spread and skewness of the units' deviations, on the scale of one problem."""

    mean: float
    units: int
    spread: float  # sum of squared deviations; 0 if rounding is all there is
    tilt: float
    error: float  # standard error that the interval uses
    plain_error: float

    @staticmethod
    def of(change: Floats, unit: Ints | None) -> _Moments:
        mean = float(change.mean())
        if unit is None:
            away, moved = change - mean, np.count_nonzero(change)
        else:
            size = len(change) / (int(unit.max()) + 1)
            away = sums_by(unit, change - mean) / size
            moved = np.count_nonzero(np.bincount(unit, weights=change != 0.0))
        units = len(away)
        spread = float(away @ away)
        if spread <= 1e-20 * float(change @ change):
            return _Moments(mean, units, 0.0, 0.0, 0.0, 0.0)
        # Two further units, one up and one down by as much as those that moved at all.
        second = spread * (1.0 + 2.0 / moved) / (units + 2.0)
        tilt = float((away**3).sum()) / (units + 2.0) / second
        degrees = max(units - 1.0, 1.0)
        error, plain = (second / degrees) ** 0.5, (spread / units / degrees) ** 0.5
        return _Moments(mean, units, spread, tilt, error, plain)

    def ends(self, level: float) -> Ends:
        q = student_quantile(level, max(self.units - 1.0, 1.0))
        mean, variance = np.asarray(self.mean), np.asarray(self.error**2 * self.units)
        ends = [
            roots(mean, variance, np.asarray(tilt), 0.0, q, float(self.units))
            for tilt in (0.0, self.tilt)
        ]
        return (float(ends[0][0] + ends[1][0]) / 2.0, float(ends[0][1] + ends[1][1]) / 2.0)


class Independent:
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

    @property
    def p_value(self) -> float | None:
        chance = self.probability
        return None if chance is None else 2.0 * min(chance, 1.0 - chance)

    @cached_property
    def probability(self) -> float | None:
        return _confidence(self.value, self.ends)


_FARTHEST = 6.0  # standard deviations; beyond, no interval here is worth being believed


def _confidence(value: float, ends: Callable[[float], Ends | None]) -> float | None:
    """Return the one-sided confidence that the difference is positive.

    The level at which the near end is 0 is found on the scale of normal deviations, by false
    position with the Illinois correction.
    """
    if ends(0.5) is None:
        return None
    if value == 0.0:
        return 0.5
    normal = NormalDist()

    def gap(z: float) -> float:
        low, high = ends(max(2.0 * normal.cdf(z) - 1.0, 1e-6)) or (0.0, 0.0)
        return low if value > 0 else -high

    near, at_near = 0.0, abs(value)
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
    return normal.cdf(far if value > 0 else -far)
