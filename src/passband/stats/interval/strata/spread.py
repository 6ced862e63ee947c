"""Variance and skewness within strata, and the ends of the weighted mean.

Arrays have one entry per stratum in the last axis; leading axes are data sets. Values are scaled to
[0, 1] where they have bounds.

With weights w, and in stratum h a mean m over M problems whose values have variance V, the
weighted mean has the variance S = sum w^2 V / M. As for a single sample (`default.wilson`), the
interval is every t for which

    (t - m)^2 <= q^2 [ S + B (t - m) - R (t - m)^2 ]

so that the spread belongs to the target. When the target moves by d, the means of the strata move
by c d with c = w V / (M S), which is the likeliest way to get there; what that does to their
variances gives B and R, once from the skewness of the values and once as for proportions. q is
Student's, with the degrees of freedom of S by Satterthwaite's rule, or nearer to the normal one the
more the values are like single trials.

Satterthwaite (1946), Biometrics Bulletin 2; Zou and Donner (2008), Statistics in Medicine 27.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from passband.stats.interval.default.wilson import (
    Ends,
    between_ends,
    normal_quantile,
    over_trials,
    roots,
)
from passband.stats.interval.fit.count_grid import CountGrid
from passband.stats.interval.fit.mixture import Mixture
from passband.stats.interval.registry import Interval
from passband.types import Floats, Ints

_LEAST = 1e-13


@dataclass(frozen=True, eq=False)
class StratumSpread:
    """The moments of the strata's values, each around the mean of its stratum."""

    weight: Floats
    count: Floats  #: problems
    mean: Floats
    variance: Floats  #: of one problem's value
    third: Floats  #: central moment
    freedom: Floats  #: degrees of freedom of the variance

    @property
    def problems(self) -> float:
        """The number of problems that the weighted mean is worth."""
        return 1.0 / float((self.weight**2 / self.count).sum())


def spread_of_counts(
    grid: CountGrid, counts: Floats, values: Floats, weight: Floats
) -> StratumSpread:
    """Return the spread of strata from their counts over the pairs of a grid: (..., strata, pairs).

    To each stratum some problems are added that a family of Beta distributions, fitted to it,
    predicts. In all they are as many as the default interval of a single sample adds, and a
    stratum gets the more the more it would contribute to the variance if all problems were alike.
    """
    size = counts.sum(axis=-1)
    count = size.reshape(-1, size.shape[-1])[0]
    parts = weight**2 / count
    extra = max(2.0, float(parts.sum()) ** -0.5 - 1.0) * parts / parts.sum()
    masses = counts + extra[:, None] * _predicted(grid, counts)
    distribution = masses / masses.sum(axis=-1, keepdims=True)
    centre = (distribution * values).sum(axis=-1, keepdims=True)
    away = values - centre
    variance = (distribution * away**2).sum(axis=-1) * count / np.maximum(count - 1.0, 1.0)
    third = (distribution * away**3).sum(axis=-1)
    mean = (counts * values).sum(axis=-1) / count
    return _pooled(StratumSpread(weight, count, mean, variance, third, count - 1.0 + 2.0 * extra))


def _predicted(grid: CountGrid, counts: Floats) -> Floats:
    """Return the probabilities of one further problem of each stratum, n as observed."""
    shares = grid.per_n(counts) / counts.sum(axis=-1, keepdims=True)
    likelihood = counts @ grid.log_beta_binomial.T
    weight = np.exp(likelihood - likelihood.max(axis=-1, keepdims=True))
    weight /= weight.sum(axis=-1, keepdims=True)
    predicted: Floats = weight @ grid.beta_binomial * grid.spread(shares)
    return predicted


def spread_of_values(strata: Sequence[Floats], weight: Floats) -> StratumSpread:
    """Return the spread of strata from the values of their problems."""
    count = np.array([float(len(values)) for values in strata])
    mean = np.array([values.mean() for values in strata])
    squares = np.array([((values - values.mean()) ** 2).sum() for values in strata])
    third = np.array([((values - values.mean()) ** 3).mean() for values in strata])
    variance = squares / np.maximum(count - 1.0, 1.0)
    return _pooled(StratumSpread(weight, count, mean, variance, third, count - 1.0))


def _pooled(spread: StratumSpread) -> StratumSpread:
    """Give strata of a single problem the mean variance of the others.

    Where every stratum is a single problem, that is the variance across all of them: too large,
    as it includes what differs between strata, but the only one there is.
    """
    is_single = spread.count == 1.0
    variance, third, freedom = spread.variance, spread.third, spread.freedom
    if is_single.any():
        degrees = spread.count - 1.0
        total = float(degrees.sum())
        if total:
            of_all = (variance @ degrees / total)[..., None]
            skew = (third @ degrees / total)[..., None]
        else:
            total = max(len(degrees) - 1.0, 1.0)
            away = spread.mean - spread.mean.mean(axis=-1, keepdims=True)
            of_all = (away**2).sum(axis=-1, keepdims=True) / total
            skew = (away**3).mean(axis=-1, keepdims=True)
        variance = np.where(is_single, np.maximum(of_all, variance), variance)
        third = np.where(is_single, skew, third)
        freedom = np.where(is_single, total, freedom)
    return StratumSpread(
        spread.weight, spread.count, spread.mean, np.maximum(variance, _LEAST), third,
        np.maximum(freedom, 1.0),
    )  # fmt: skip


_SHRINK = 0.125  # keeps what is scaled by it clear of 0 and 1, where ends are cut


def strata_over_problems(
    mean: Floats, spread: StratumSpread, level: float, *, bounded: bool = True
) -> Ends:
    """Return the interval for problems like these, the strata and their weights being fixed."""
    w, count, m, variance = spread.weight, spread.count, spread.mean, spread.variance
    parts = w**2 * variance / count
    total = parts.sum(axis=-1)
    # c of the docstring: the likeliest share of each stratum in a move of the weighted mean
    moved = w * variance / (count * total[..., None])
    # Satterthwaite's degrees of freedom
    degrees = total**2 / (parts**2 / spread.freedom).sum(axis=-1)
    skew = (w**3 * spread.third / count**2).sum(axis=-1) / total
    binary = np.minimum(variance / np.maximum(m * (1.0 - m), variance), 1.0) * bounded
    share = (parts * binary * (1.0 - 1.0 / count)).sum(axis=-1) / total
    # Values like single trials have a binomial variance, known with the mean: no need for Student.
    z = normal_quantile(level)
    q = z + (_student(level, degrees) - z) * (1.0 - share)
    lean = (w**2 / count * binary * (1.0 - 2.0 * m) * moved).sum(axis=-1)
    bend = (w**2 / count * binary * moved**2).sum(axis=-1)
    skewed = roots(mean, total, skew, bend, q, 1.0)
    wilson = roots(mean, total, lean, bend, q, 1.0) if bounded else skewed
    towards = min(max(1.0 - 5.0 / spread.problems, 0.5), 1.0)
    low, high = between_ends(wilson, skewed, towards)
    return Ends(low, high, np.sqrt(total))


def _student(level: float, freedom: Floats) -> Floats:
    """Return the quantiles of `default.wilson.student_quantile` for several degrees of freedom."""
    from passband.stats.special import stdtrit

    quantiles: Floats = -stdtrit(np.maximum(freedom, 1.0), (1.0 - level) / 2.0)
    return quantiles


def edge_over_problems(weights: Floats, counts: Floats, tail: float) -> float:
    """Return the possible distance of the weighted mean from an edge all problems are on.

    The largest sum of w x such that all problems of all strata are on the edge with probability
    `tail`, the probability of being off it being x in each: the product of (1 - x)^M. There
    1 - x = min(1, r M / w), with r found by bisection. One stratum gives 1 - tail^(1/M).

    >>> round(edge_over_problems(np.array([1.0]), np.array([10.0]), 0.025), 4)  # 1 - .025^(1/10)
    0.3085
    """
    seen = weights > 0
    ratio, count, weight = counts[seen] / weights[seen], counts[seen], weights[seen]
    low, high = 0.0, 1.0 / float(ratio.min())
    for _ in range(100):
        middle = (low + high) / 2.0
        # the log of the probability that no problem is off the edge
        if float(count @ np.log(np.minimum(middle * ratio, 1.0))) < math.log(tail):
            low = middle
        else:
            high = middle
    return float(weight @ (1.0 - np.minimum(high * ratio, 1.0)))


def strata_over_trials(
    mean: Floats, mixture: Mixture, values: Floats, k: int, level: float, squares: Floats | None
) -> Ends:
    """Return the interval for these problems, each problem having a weight of its own.

    Over trials a stratum is nothing but a weight a of each of its problems. The variance is the
    sum of a^2 v, that of (sum a)^2 / (sum a^2) problems drawn with probabilities like a^2, which
    is what `weighted_counts` makes of them. The default interval of those, taken clear of 0 and 1
    where its ends would be cut, is moved to the weighted mean.
    """
    # Values move into the middle of [0, 1], where no end is cut, and the ends move back.
    away = (1.0 - _SHRINK) / 2.0
    inner = away + _SHRINK * values
    known = squares
    if squares is not None:
        known = away**2 + 2.0 * away * _SHRINK * values + _SHRINK**2 * squares
    ends = over_trials(mixture, inner, k, level, squares=known)
    middle = mixture.counts @ inner / mixture.counts.sum(axis=-1)
    return Ends(
        mean + (ends.low - middle) / _SHRINK,
        mean + (ends.high - middle) / _SHRINK,
        ends.se / _SHRINK,
    )


def weighted_counts(weights: Floats, places: Ints, pairs: int) -> Floats:
    """Return problems of different weights as counts over the pairs of a grid.

    `places` are the pairs of the problems; leading axes are data sets. The counts add up to the
    number of problems of one weight that the weighted mean is worth.
    """
    squares = weights**2
    effective = float(weights.sum()) ** 2 / float(squares.sum())
    counts: Floats = np.zeros((*places.shape[:-1], pairs))
    for index in np.ndindex(places.shape[:-1]):
        np.add.at(counts[index], places[index], squares / squares.sum() * effective)
    return counts


def square_and_add(
    value: float, weights: Floats, values: Floats, intervals: Sequence[Interval]
) -> Interval:
    """Return the interval of a weighted sum from the intervals of its independent terms.

    The distance from the value to an end is the root of the sum of the squared distances of the
    terms (Zou and Donner's MOVER). Every interval must have ends.
    """
    lows = np.array([interval.low for interval in intervals], dtype=np.float64)
    highs = np.array([interval.high for interval in intervals], dtype=np.float64)
    errors = [interval.se for interval in intervals]
    se = None
    if all(error is not None for error in errors):
        se = float(np.linalg.norm(weights * np.array(errors, dtype=np.float64)))
    return Interval(
        value - float(np.linalg.norm(weights * (values - lows))),
        value + float(np.linalg.norm(weights * (highs - values))),
        se,
    )
