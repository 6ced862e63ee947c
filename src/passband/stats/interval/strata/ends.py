"""The ends of the interval of a weighted mean over strata.

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

import numpy as np

from passband.stats.interval.default.wilson import (
    Ends,
    between_ends,
    normal_quantile,
    over_trials,
    roots,
)
from passband.stats.interval.fit.mixture import Mixture
from passband.stats.interval.methods import Interval
from passband.stats.interval.strata.spread import Spread
from passband.types import Floats, Ints

__all__ = [
    "edge_over_problems",
    "square_and_add",
    "strata_over_problems",
    "strata_over_trials",
    "weighted_counts",
]

_LEAST = 1e-13
_SHRINK = 0.125  # keeps what is scaled by it clear of 0 and 1, where ends are cut


def strata_over_problems(
    mean: Floats, spread: Spread, level: float, *, bounded: bool = True
) -> Ends:
    """Return the interval for problems like these, the strata and their weights being fixed."""
    w, count, m, variance = spread.weight, spread.count, spread.mean, spread.variance
    parts = w**2 * variance / count
    total = parts.sum(axis=-1)
    moved = w * variance / (count * total[..., None])
    degrees = total**2 / (parts**2 / spread.freedom).sum(axis=-1)
    skew = (w**3 * spread.third / count**2).sum(axis=-1) / total
    binary = np.minimum(variance / np.maximum(m * (1.0 - m), variance), 1.0) * bounded
    share = (parts * binary * (1.0 - 1.0 / count)).sum(axis=-1) / total
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
    from scipy.special import stdtrit

    quantiles: Floats = -stdtrit(np.maximum(freedom, 1.0), (1.0 - level) / 2.0)
    return quantiles


def edge_over_problems(weights: Floats, counts: Floats, tail: float) -> float:
    """Return how far the weighted mean can be from the edge where no problem is off it.

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
