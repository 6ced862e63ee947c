"""The mean of differences by problem or by cluster, with an interval and its inversion.

With d_i the difference of the values of problem i, m its mean, s the standard error and g the ratio
of third to second moment, the ends at Student's quantile q lie between those of two intervals,

    m -+ q s    and    m + q^2 g / (2 M) -+ sqrt((q^2 g / (2 M))^2 + q^2 s^2),

six tenths of the way from the inner end to the outer one: the skewness of few problems is believed
in full only where it is bad news. As a sample shows less skewness than there is, g is raised by
three tenths. Both numbers were chosen for size and power (benchmarks/coverage_compare.py).

The p-value is read from the same ends: twice the tail of the q at which the near end is 0. So a
p-value below 1 - level and an interval that excludes 0 are one and the same statement.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from passband.notes import Note
from passband.stats.decision.pairing import effective_units, sums_by
from passband.stats.decision.sign_flips import sign_flip_p_value
from passband.stats.interval.default.wilson import student_quantile
from passband.stats.interval.notes import ONE_PROBLEM, RELIABLE_CLUSTERS, few_clusters, one_cluster
from passband.types import Floats, Ints

EQUAL_CHANGES = Note(
    "equal-changes",
    "every problem changed by the same amount; the interval bounds what a not-yet-seen problem "
    "could change",
)
UNEVEN_TRIALS = Note(
    "uneven-trials",
    "the two runs have different trial counts per problem, so the interval is at least as wide as "
    "sampling noise alone would make it",
)

Ends = tuple[float, float]

_ADDED = 2.0  # units added to the spread, one up and one down by as much as those that moved
_OUTER = 0.6  # weight of the outer of two ends
_SKEW = 1.3  # by how much the true skewness exceeds that of a sample
_FLOOR = 0.5  # least share of the variance without clusters that is left with them
_LEAST = NormalDist().cdf(-6.0)  # six standard deviations; no interval here is surer


class Unseen(NamedTuple):
    """Bound the shift of a difference by a kind of problem that was not drawn.

    Of M problems drawn, none is of a kind that makes up a share q with probability (1 - q)^M.
    """

    units: float  # problems, or clusters
    span: float  # the largest difference that a problem can make

    def ends(self, value: float, tail: float) -> Ends:
        """Return the possible shift of the mean by a missed share of differing units."""
        missed = 1.0 - tail ** (1.0 / self.units)
        return value - missed * (self.span + value), value + missed * (self.span - value)

    def tail(self, value: float, at: float) -> float:
        """Return the chance of missing all of the share that moves the mean to `at`."""
        return float(min(0.5, max((1.0 - self._missed(value, at)) ** self.units, _LEAST)))

    def needed(self, value: float, at: float, tail: float) -> float:
        """Return the factor on the number of units that lowers that chance to `tail`."""
        missed = self._missed(value, at)
        return math.log(tail) / math.log1p(-missed) / self.units if 0.0 < missed < 1.0 else 1.0

    def _missed(self, value: float, at: float) -> float:
        room = self.span + (value if value > at else -value)
        return min(abs(value - at) / room, 1.0) if room > 0.0 else 0.0


class Tested:
    """Read p-value and confidence of a difference from its interval."""

    value: float
    unseen: Unseen | None = None  # None where there are no other problems than these

    def ends(self, level: float) -> Ends | None:
        """Return the interval; None where the data do not allow one."""
        raise NotImplementedError

    def guarded_ends(self, level: float) -> Ends | None:
        """Return ends that allow for problems of a kind that was not drawn.

        A few problems lost entirely show in no spread before one of them is drawn, so that a claim
        that no loss matters must not rest on the spread alone.
        """
        ends = self.ends(level)
        if ends is None or self.unseen is None:
            return ends
        low, high = self.unseen.ends(self.value, (1.0 - level) / 2.0)
        return min(ends[0], low), max(ends[1], high)

    def guarded_tail(self, at: float) -> float | None:
        """Return the tail at which the nearer of the guarded ends is `at`."""
        tail = self.tail(at)
        if tail is None or self.unseen is None:
            return tail
        return max(tail, self.unseen.tail(self.value, at))

    def tail(self, at: float) -> float | None:
        """Return the one-sided p-value of the difference being beyond `at`.

        That is half of 1 - L, with L the level at which the near end of the interval is `at`.
        """
        raise NotImplementedError

    @cached_property
    def p_value(self) -> float | None:
        tail = self.tail(0.0)
        return None if tail is None else min(1.0, 2.0 * tail)

    @property
    def confidence(self) -> float | None:
        """One-sided confidence that the difference is positive."""
        if self.p_value is None:
            return None
        return 1.0 - self.p_value / 2.0 if self.value >= 0.0 else self.p_value / 2.0


class Permuted(NamedTuple):
    """Second and third moments of a problem's difference if trials had been dealt at random."""

    second: Floats
    third: Floats

    def take(self, kept: Ints) -> Permuted:
        return Permuted(self.second[kept], self.third[kept])


class Paired(Tested):
    """The mean of differences by problem, or by cluster."""

    method = "paired"

    def __init__(
        self,
        change: Floats,
        unit: Ints | None,
        span: float,
        notes: tuple[Note, ...] = (),
        permuted: Permuted | None = None,
    ) -> None:
        self.change, self._unit, self._span = change, unit, span
        self._permuted, self._given_notes = permuted, notes
        self.value = float(change.mean())
        self.unseen = Unseen(self._units, span) if span > 0.0 else None

    def without(self, dropped: Ints) -> Paired:
        """Return the difference on the other problems."""
        kept = np.delete(np.arange(len(self.change)), dropped)
        unit = None if self._unit is None else np.unique(self._unit[kept], return_inverse=True)[1]
        permuted = None if self._permuted is None else self._permuted.take(kept)
        return Paired(self.change[kept], unit, self._span, self._given_notes, permuted)

    @property
    def notes(self) -> tuple[Note, ...]:
        notes = self._given_notes
        if len(self.change) == 1:
            return (*notes, ONE_PROBLEM, EQUAL_CHANGES)
        if self._unit is not None and self._clusters.effective < RELIABLE_CLUSTERS:
            notes = (*notes, self._clusters.note())
        return (*notes, EQUAL_CHANGES) if self._is_flat and self._units > 1.0 else notes

    @cached_property
    def _clusters(self) -> _Clusters:
        assert self._unit is not None
        return _Clusters.of(self._unit)

    @cached_property
    def _moments(self) -> _Moments:
        moments = _Moments.of(self.change)
        if self._unit is not None:
            moments = _clustered(self.change, self._unit, self._clusters, moments)
        return moments if self._permuted is None else moments.at_least(self._permuted)

    @property
    def _is_flat(self) -> bool:
        return self._moments.error == 0.0

    @property
    def se(self) -> float | None:
        """The standard error that the interval uses; None where the data show no spread."""
        return self._moments.error or None

    def flip_p_value(self, *, mid: bool = False) -> float:
        """Return the p-value of sign flips, of whole clusters where there are any."""
        change = self.change if self._unit is None else sums_by(self._unit, self.change)
        return sign_flip_p_value(change, mid=mid)

    @property
    def is_uneven(self) -> bool:
        """Whether the two sides have different numbers of trials."""
        return UNEVEN_TRIALS in self._given_notes

    @property
    def flips(self) -> str:
        return "sign flips" if self._unit is None else "sign flips of clusters"

    @property
    def test(self) -> str:
        return "interval"

    def ends(self, level: float) -> Ends | None:
        if self._is_flat:
            if self.unseen is None:
                return None
            low, high = self.unseen.ends(self.value, (1.0 - level) / 2.0)
        else:
            low, high = self._moments.ends(level)
        return (
            max(min(low, self.value), min(-self._span, self.value)),
            min(max(high, self.value), max(self._span, self.value)),
        )

    def tail(self, at: float) -> float | None:
        if not self._is_flat:
            return self._moments.tail(self.value - at)
        return None if self.unseen is None else self.unseen.tail(self.value, at)

    @property
    def _units(self) -> float:
        return float(len(self.change)) if self._unit is None else self._clusters.effective


@dataclass(frozen=True)
class _Moments:
    """Standard error and skewness of the mean of some units."""

    mean: float
    units: float
    degrees: float  # of freedom
    error: float  # standard error of the mean; 0 if the differences are equal
    tilt: float  # third over second moment of a unit, on the scale of one problem

    @staticmethod
    def of(change: Floats) -> _Moments:
        units = float(len(change))
        mean = float(change.mean())
        away = change - mean
        spread = float(away @ away)
        if spread <= 1e-20 * float(change @ change):
            return _Moments(mean, units, max(units - 1.0, 1.0), 0.0, 0.0)
        second = spread * (1.0 + _ADDED / int(np.count_nonzero(change))) / (units + _ADDED)
        tilt = _SKEW * float((away**3).sum()) / (units + _ADDED) / second
        return _Moments(mean, units, units - 1.0, (second / (units - 1.0)) ** 0.5, tilt)

    def at_least(self, permuted: Permuted) -> _Moments:
        """Return moments no surer than if every problem's trials had been dealt at random."""
        second = float(permuted.second.sum())
        if second == 0.0 or self.error == 0.0:
            return self
        problems = len(permuted.second)
        size = problems / self.units
        tilt = float(permuted.third.sum()) / second / size
        return replace(
            self,
            error=max(self.error, second**0.5 / problems),
            tilt=tilt if abs(tilt) > abs(self.tilt) else self.tilt,
        )

    def ends(self, level: float) -> Ends:
        q, tilt = student_quantile(level, self.degrees), self.tilt / (2.0 * self.units)
        return (
            self.mean - _distance(q, self.error, tilt),
            self.mean + _distance(q, self.error, -tilt),
        )

    def tail(self, gap: float) -> float:
        """Return Student's tail beyond the quantile q whose near end is `gap` away."""
        from passband.stats.special import stdtr

        tilt = self.tilt / (2.0 * self.units)
        q = _quantile_at(abs(gap), self.error, tilt if gap > 0.0 else -tilt)
        return max(float(stdtr(self.degrees, -q)), _LEAST)


def _distance(q: float, error: float, tilt: float) -> float:
    """Return the distance from mean to lower end at quantile q; with -tilt, to the upper."""
    plain, shift = q * error, q * q * tilt
    skewed = math.hypot(shift, plain) - shift
    return _OUTER * max(plain, skewed) + (1.0 - _OUTER) * min(plain, skewed)


def _quantile_at(gap: float, error: float, tilt: float) -> float:
    """Return the q at which the near end of an interval is `gap` below its centre.

    The distance of the end rises with q, and is at least (1 - outer weight) q times the error.
    """
    low, high = 0.0, gap / error / (1.0 - _OUTER)
    for _ in range(100):
        q = (low + high) / 2.0
        if _distance(q, error, tilt) < gap:
            low = q
        else:
            high = q
    return (low + high) / 2.0


@dataclass(frozen=True)
class _Clusters:
    """The sizes of clusters, and the number of clusters of equal size that they amount to."""

    sizes: Floats
    effective: float  # Kish's number

    @staticmethod
    def of(unit: Ints) -> _Clusters:
        sizes = np.bincount(unit).astype(np.float64)
        return _Clusters(sizes, effective_units(sizes))

    def note(self) -> Note:
        if len(self.sizes) == 1:
            return one_cluster(int(self.sizes[0]))
        return few_clusters(len(self.sizes), self.effective)


def _clustered(change: Floats, unit: Ints, clusters: _Clusters, alone: _Moments) -> _Moments:
    """Return the moments of the mean if whole clusters were drawn.

    The variance is the jackknife's, each cluster being left out in turn, and the degrees of freedom
    are one less than Kish's number: a few large clusters count for what they are. The skewness is
    believed only as far as the clusters are of one size.
    """
    sizes, count = clusters.sizes, float(len(clusters.sizes))
    degrees = max(clusters.effective - 1.0, 1.0)
    if alone.error == 0.0 or count == 1.0:  # a single cluster shows no spread of clusters
        return replace(alone, units=count, degrees=degrees, error=0.0)
    away = sums_by(unit, change - alone.mean)
    moved = int(np.count_nonzero(np.bincount(unit, weights=change != 0.0)))
    added = (1.0 + _ADDED / moved) * count / (count + _ADDED)
    left_out = away / (sizes.sum() - sizes)
    variance = (count - 1.0) / count * float(left_out @ left_out) * added
    away = away / (sizes.sum() / count)
    square = float(away @ away) * added
    third = _SKEW * float((away**3).sum()) * count / (count + _ADDED)
    tilt = third / square if square > 0.0 else 0.0
    return _Moments(
        alone.mean,
        count,
        degrees,
        max(variance, _FLOOR * alone.error**2) ** 0.5,
        tilt * (clusters.effective / count) ** 2,
    )
