"""Intervals over problems for graded scores: bounded, of one sign, or of both.

Scores between 0 and 1 have three sets of ends: Wilson's, with the number of trials replaced by the
number that the values' own variance is worth; ends that follow the values' skewness; and those of
scores of 0 and 1 with the same mean (`share_out`), drawn in by as much as graded scores vary
less. The outer ones count. Only the last are left where all scores come close to 0 and 1.

Scores without bounds but of one sign have the outer ends of a log-normal interval and one that
follows the skewness. The tail of such scores may be missing from a small sample; no interval can
make up for that, and a note says so. Scores of both signs have the outer ends of Student's
interval and one that follows the skewness.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from passband.stats.interval.default.clusters import (
    ClusteredValues,
    ExpectedProblem,
    cluster_spread,
)
from passband.stats.interval.default.graded_sample import GradedSample, SharedCounts
from passband.stats.interval.default.wilson import (
    Ends,
    outer_ends,
    over_problems,
    roots,
    student_quantile,
)
from passband.stats.interval.ratio import log_normal_ends
from passband.types import Floats

_LEAST = 1e-13
_LEAN = 1.5  # a sample understates the skewness of a long tail
_FARTHEST = 3.0  # e^3 = 20 times the mean: farther out, a log-normal law says nothing


def graded_over_problems(
    sample: GradedSample, level: float, *, outer: float | None = None
) -> Ends | None:
    """Return the ends on the scale of the values; None where the data do not allow any."""
    if not sample.is_bounded:
        return _unbounded(sample, level)
    low, high = sample.request.range()
    ends = _alone(sample, level, outer) if sample.codes is None else _clustered(sample, level)
    scale = high - low
    return Ends(low + scale * ends.low, low + scale * ends.high, scale * ends.se)


# -- scores between 0 and 1 --------------------------------------------------------------------


def _alone(sample: GradedSample, level: float, outer: float | None) -> Ends:
    values, mean = sample.scaled, np.asarray(sample.scaled.mean())
    direct = _missed(sample, level) if sample.is_constant else _direct(values, level)
    shared = sample.shared
    if shared is None:
        return direct.containing(mean)
    twin = over_problems(shared.mixture, shared.values, level, outer=outer)
    twin = twin.towards(mean, _narrower(values, shared) ** 0.5)
    ends = outer_ends(direct, twin).mixed(twin, sample.closeness)
    return replace(ends, se=direct.se if direct.se > 0.0 else twin.se).containing(mean)


def _direct(values: Floats, level: float) -> Ends:
    """Return the outer of Wilson's ends and of ends that follow the skewness.

    A small sample understates the skewness of values near one end of the scale. It is taken to be
    at least that of the law on [0, 1] with this mean and variance.
    """
    count = float(len(values))
    mean = np.asarray(values.mean())
    away = values - mean
    second = float(away @ away) / count
    variance = np.asarray(second * count / (count - 1.0))
    share = min(1.0, float(variance / max(float(mean * (1.0 - mean)), _LEAST)))
    q = student_quantile(level, count - 1.0)
    beta = 2.0 * share * (1.0 - 2.0 * mean) / (1.0 + share)
    unit = float(np.abs(away).max())  # whose square may be too small for a number
    own = unit * float(((away / unit) ** 3).mean()) / float(((away / unit) ** 2).mean())
    own *= count / max(count - 2.0, 1.0)
    tilt = np.maximum(beta, own) if beta > 0.0 else np.minimum(beta, own)
    wilson = roots(mean, share * mean * (1 - mean), share * (1 - 2 * mean), share, q, count)
    skewed = roots(mean, variance, tilt, share, q, count)
    se = np.sqrt(variance / count)
    return outer_ends(Ends(*wilson, se), Ends(*skewed, se))


def _missed(sample: GradedSample, level: float) -> Ends:
    """Return the shift that identical values leave possible.

    A share of 1 - tail^(1/M) of the problems may be of another kind, at either end of the scale,
    and be missed by M problems with a probability of `tail`.
    """
    mean, missed = sample.scaled.mean(), missed_share(level, sample.problems)
    return Ends(np.asarray(mean * (1.0 - missed)), mean + missed * (1.0 - mean), np.asarray(0.0))


def missed_share(level: float, units: float) -> float:
    """Return the largest share of units of another kind that none of `units` may show."""
    return float(1.0 - ((1.0 - level) / 2.0) ** (1.0 / units))


def _narrower(values: Floats, shared: SharedCounts) -> float:
    """Return the variance of values relative to problems split among counts.

    One further problem, as the fit expects it, is counted on both sides: a single value between
    the counts, among many at 0, is no evidence that all of them lie between.
    """
    mean = float(values.mean())
    further = shared.expected_variance(mean)
    own = float(((values - mean) ** 2).sum()) + further
    return min(own / max(len(values) * shared.variance(mean) + further, _LEAST), 1.0)


def _clustered(sample: GradedSample, level: float) -> Ends:
    assert sample.codes is not None
    grouped = ClusteredValues(sample.scaled, sample.codes)
    return grouped.ends(_expected(sample.scaled, sample.shared), level)


def _expected(values: Floats, shared: SharedCounts | None) -> ExpectedProblem:
    """Return the moments of a further problem, as the fit to the shares has them, drawn in."""
    count, mean = float(len(values)), float(values.mean())
    further, weights = values, np.full(len(values), 1.0 / count)
    if shared is not None:
        further = mean + _narrower(values, shared) ** 0.5 * (shared.values - mean)
        weights = shared.mixture.predictive
    centre = (values.sum() + 2.0 * weights @ further) / (count + 2.0)
    second = float(weights @ (further - centre) ** 2)
    alone = (float(((values - centre) ** 2).sum()) + 2.0 * second) / (count + 2.0)
    third = float(weights @ (further - centre) ** 3)
    return ExpectedProblem(float(centre), second, third, alone / max(count - 1.0, 1.0))


# -- scores without bounds ---------------------------------------------------------------------


@dataclass(frozen=True)
class _Moments:
    """Mean, variance and tilt of units, problems or clusters, in units of the largest value."""

    mean: float
    variance: float  # of the mean, times `units`
    tilt: float
    units: float
    freedom: float
    is_clustered: bool = False

    def ends(self, level: float, sign: int) -> tuple[float, float]:
        q = student_quantile(level, self.freedom)
        mean, variance = np.asarray(self.mean), np.asarray(self.variance)
        tilt = np.asarray(self.tilt if sign == 0 else _LEAN * self.tilt)
        skewed = roots(mean, variance, tilt, 0.0, q, self.units)
        low, high = float(skewed[0]), float(skewed[1])
        if self.is_clustered or sign == 0:
            # A few clusters, or values of both signs with long tails, do not show which way they
            # lean: the skewness of the sample is that of its largest value.
            reach = q * (self.variance / self.units) ** 0.5
            low, high = min(low, self.mean - reach), max(high, self.mean + reach)
        if sign == 0 or self.mean == 0.0:
            return low, high
        log = np.log1p(self.variance / self.mean**2)
        reach = q * np.sqrt(log / self.units + log**2 / (2.0 * self.freedom))
        factor = float(np.exp(min(reach, _FARTHEST)))
        near, far = self.mean / factor, self.mean * factor
        return (near, max(far, high)) if sign > 0 else (min(far, low), near)


def _unbounded(sample: GradedSample, level: float) -> Ends | None:
    if sample.problems < 2 or sample.is_constant:
        return None
    unit = 2.0 ** float(np.frexp(np.abs(sample.values).max())[1])  # exact, and no power overflows
    values = sample.values / unit
    moments = _of_problems(values) if sample.codes is None else _of_clusters(values, sample)
    if moments is None:
        return None
    ends = moments.ends(level, sample.sign)
    if sample.request.metric.parts[0].is_spent and sample.codes is None:
        ends = _wider(
            ends, log_normal_ends(np.abs(values), np.ones(len(values)), level), sample.sign
        )
    se = (moments.variance / moments.units) ** 0.5
    return Ends(*(np.asarray(end * unit) for end in (*ends, se)))


def _wider(
    ends: tuple[float, float], log_normal: tuple[float, float] | None, sign: int
) -> tuple[float, float]:
    """Return the outer of two intervals, of which the second is for values without their sign."""
    if log_normal is None or sign == 0:
        return ends
    low, high = log_normal if sign > 0 else (-log_normal[1], -log_normal[0])
    return min(ends[0], low), max(ends[1], high)


def _of_problems(values: Floats) -> _Moments:
    count = float(len(values))
    mean = float(values.mean())
    away = values - mean
    second = float(away @ away) / count
    tilt = float((away**3).mean()) / second
    return _Moments(mean, second * count / (count - 1.0), tilt, count, count - 1.0)


def _of_clusters(values: Floats, sample: GradedSample) -> _Moments | None:
    """Return the moments by Kish's number of clusters; None for a single one."""
    assert sample.codes is not None
    spread = cluster_spread(values, sample.codes)
    if spread.clusters == 1:
        return None
    alone = _of_problems(values)
    variance = max(spread.variance, alone.variance / alone.units)
    sums = np.bincount(sample.codes, weights=values - alone.mean)
    square = float(sums @ sums)
    third = float((sums**3).sum()) / len(values)
    tilt = spread.effective * third / square if square > 0.0 else 0.0
    units = spread.effective
    return _Moments(alone.mean, units * variance, tilt, units, spread.freedom, is_clustered=True)
