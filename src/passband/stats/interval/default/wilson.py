"""Score-type intervals: the unbiased mean in the middle, and a spread that moves with the target.

Both targets end in one quadratic. With m the observed mean over M problems, the interval is every
t for which

    (t - m)^2 <= (q^2 / M) [ V + b (t - m) - r (t - m)^2 ]

V is the variance of a problem's value, b how that variance tilts as the target moves up, r how it
bends, and q a quantile. The Wilson interval for a proportion is V = m(1-m), b = 1-2m, r = 1. That
the spread belongs to the target and not to the estimate is what keeps these intervals honest near
0 and 1, where the estimated variance vanishes.

All arrays may have leading axes, one entry per data set. Values are scaled to [0, 1].
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from passband.stats.checks import ROUNDING
from passband.stats.interval.default.trial_noise import trial_noise
from passband.stats.interval.fit.count_grid import CountGrid
from passband.stats.interval.fit.mixture import Mixture
from passband.stats.metric.pmf import binomial_pmf
from passband.types import Floats

_LEAST_VARIANCE = 1e-13
_SHARING = 16  # numbers of problems, from 1 to all, that are taken to share a hidden rate


@dataclass(frozen=True)
class Ends:
    """Lower and upper ends, and the standard error they rest on."""

    low: Floats
    high: Floats
    se: Floats

    def containing(self, mean: Floats) -> Ends:
        """Stretch to contain the estimate, and cut to [0, 1]."""
        low = np.clip(np.minimum(self.low, mean), 0.0, 1.0)
        high = np.clip(np.maximum(self.high, mean), 0.0, 1.0)
        return Ends(low, high, self.se)

    def towards(self, mean: Floats, factor: float) -> Ends:
        """Draw the ends in towards the estimate, by a factor of 1 or less."""
        low, high = mean + factor * (self.low - mean), mean + factor * (self.high - mean)
        return Ends(low, high, factor * self.se)

    def mixed(self, other: Ends, share: float) -> Ends:
        """Return ends a share of the way to others, keeping the standard error."""
        low = share * other.low + (1.0 - share) * self.low
        return Ends(low, share * other.high + (1.0 - share) * self.high, self.se)


def outer_ends(first: Ends, second: Ends) -> Ends:
    """Return the lower of the lower ends and the higher of the higher ones."""
    low, high = np.minimum(first.low, second.low), np.maximum(first.high, second.high)
    return Ends(low, high, first.se)


def over_problems(
    mixture: Mixture,
    values: Floats,
    level: float,
    reach: float | None = None,
    outer: float | None = None,
) -> Ends:
    """Return the interval for problems like these.

    The spread is that of the observed problems together with a few that the fit predicts, so it
    is never zero. Two sets of ends are made: Wilson's, with the number of trials replaced by the
    number that the scores' own variance is worth; and ends that follow the scores' skewness. The
    result lies between their average and the outer ones, closer to the outer the more problems
    there are. A band over several k gives `reach`, a larger quantile, and takes the `outer` ends.
    """
    m_problems = mixture.counts.sum(axis=-1)
    count = float(m_problems.flat[0])
    mean = mixture.counts @ values / m_problems
    distribution, extra = widened_distribution(mixture, count)
    centre = distribution @ values
    away = values - centre[..., None]
    second = np.maximum((distribution * away**2).sum(axis=-1), _LEAST_VARIANCE)
    third = (distribution * away**3).sum(axis=-1)
    variance = second * count / (count - 1.0) if count > 1 else second
    share = np.minimum(1.0, variance / np.maximum(centre * (1.0 - centre), _LEAST_VARIANCE))
    z = normal_quantile(level) if reach is None else reach
    wide = student_quantile(level_of(z), max(count - 1.0 + 2.0 * extra, 1.0))
    q = z + (wide - z) * (1.0 - share)
    wilson = roots(mean, share * mean * (1 - mean), share * (1 - 2 * mean), share, q, count)
    skewed = roots(mean, variance, third / second, share, q, count)
    towards = min(max(1.0 - 5.0 / count, 0.5), 1.0) if outer is None else outer
    low, high = between_ends(wilson, skewed, towards)
    low, high = _guarded(mixture, values, low, high, 1.0 - level_of(z))
    return Ends(low, high, np.sqrt(variance / count)).containing(mean)


def _guarded(
    mixture: Mixture, values: Floats, low: Floats, high: Floats, error: float
) -> tuple[Floats, Floats]:
    """Stretch the ends to where they would be if all problems had the least value, or the largest.

    With M problems at the least value, up to 1 - tail^(1/M) of all problems could have the largest.
    A problem in between says nothing against that; four or more say how values spread.
    """
    count = float(mixture.counts.sum(axis=-1).flat[0])
    least, most = float(values.min()), float(values.max())
    reach = (1.0 - (error / 2.0) ** (1.0 / count)) * (most - least)
    above = mixture.counts @ (values > least + ROUNDING)
    below = mixture.counts @ (values < most - ROUNDING)
    high = high + _few(above) * np.maximum(least + reach - high, 0.0)
    low = low - _few(below) * np.maximum(low - (most - reach), 0.0)
    return low, high


def _few(problems: Floats) -> Floats:
    """Return 1 for one problem or none, 0 from four on."""
    share: Floats = np.minimum(np.maximum((4.0 - problems) / 3.0, 0.0), 1.0)
    return share


def widened_distribution(mixture: Mixture, count: float) -> tuple[Floats, float]:
    """Return the observed pairs with some that the fit predicts, and how many those are."""
    extra = max(2.0, count**0.5 - 1.0)
    distribution: Floats = (mixture.counts + extra * mixture.predictive) / (count + extra)
    return distribution, extra


def over_trials(
    mixture: Mixture,
    values: Floats,
    k: int,
    level: float,
    *,
    squares: Floats | None = None,
    reach: float | None = None,
) -> Ends:
    """Return the interval for these problems, the model being sampled again.

    The only unknown is how much the values would move (`trial_noise`): a variance, and its tilt,
    from how the variance goes along with the value across problems. The quantile is Student's, the
    fewer problems carry the variance the larger. Where n is at least 2k, `squares` may hold
    unbiased estimates of the squared latent value, which measure the variance without any model.
    """
    m_problems = mixture.counts.sum(axis=-1)
    count = float(m_problems.flat[0])
    mean = mixture.counts @ values / m_problems
    noise = trial_noise(mixture, values, k, squares)
    q = student_quantiles(level, noise.freedom)
    q *= 1.0 if reach is None else reach / normal_quantile(level)
    low, high = roots(mean, noise.variance, noise.lean, 0.0, q, count)
    if reach is not None:
        # Where a curve saturates, an overstated tilt lets the variance vanish short of the bound,
        # and the end on that side stops before the truth. A band visits every such k.
        flat = roots(mean, noise.variance, noise.tilt / 4.0, 0.0, q, count)
        low, high = between_ends((low, high), flat, 1.0)
    error = 1.0 - (level if reach is None else level_of(reach))
    low, high = _hidden(mixture, values, mean, (low, high), error / 2.0)
    return Ends(low, high, np.sqrt(noise.variance / count)).containing(mean)


def _hidden(
    mixture: Mixture, values: Floats, mean: Floats, ends: tuple[Floats, Floats], tail: float
) -> tuple[Floats, Floats]:
    """Stretch the ends to where rates may be that problems with all trials alike do not show.

    R such problems with n trials each may share a rate of 1 - tail^(1/(nR)) of the other result,
    and show none of it with a probability of `tail`. The worst R counts. Problems with both results
    show how noisy the trials are, if there are a few.
    """
    grid, counts = mixture.grid, mixture.counts
    successes, trials = grid.successes, grid.trials
    weight = _few(counts @ ((successes > 0) & (successes < trials)))
    low, high = ends
    if not weight.any():
        return low, high
    for end in (0, 1):
        alike = counts * (successes == end * trials)
        moved = _moved(grid, values, alike, end, tail) / counts.sum(axis=-1)
        low = low - weight * np.maximum(low - (mean + moved.min(axis=0)), 0.0)
        high = high + weight * np.maximum(mean + moved.max(axis=0) - high, 0.0)
    return low, high


def _moved(grid: CountGrid, values: Floats, alike: Floats, end: int, tail: float) -> Floats:
    """Return the most that R problems at an end add to the sum; R is an axis."""
    problems = np.maximum(alike.sum(axis=-1), _LEAST_VARIANCE)
    trials = np.maximum(alike @ grid.trials / problems, 1.0)
    steps = np.linspace(0.0, 1.0, _SHARING).reshape(-1, *[1] * problems.ndim)
    sharing = np.maximum(problems, 1.0) ** steps
    p = np.abs(end - (1.0 - tail ** (1.0 / (trials * sharing))))
    chances = binomial_pmf(grid.trials, grid.successes, p[..., None])
    shift = grid.per_n(chances * values) - values[grid.starts + end * np.array(grid.ns)]
    moved: Floats = sharing * (shift * grid.per_n(alike) / problems[..., None]).sum(axis=-1)
    return moved


def roots(
    mean: Floats, variance: Floats, tilt: Floats, bend: Floats | float, q: Floats | float, m: float
) -> tuple[Floats, Floats]:
    """Solve the quadratic of the module's description."""
    square = q * q / m
    divisor = 1.0 + square * bend
    shift = square * tilt / 2.0
    half = np.sqrt(np.maximum(shift**2 + divisor * square * variance, 0.0))
    return mean + (shift - half) / divisor, mean + (shift + half) / divisor


def between_ends(
    first: tuple[Floats, Floats], second: tuple[Floats, Floats], outer: float
) -> tuple[Floats, Floats]:
    """Return ends between two sets of them: at 1 the outer ones, at 1/2 the average."""
    low = outer * np.minimum(first[0], second[0]) + (1 - outer) * np.maximum(first[0], second[0])
    high = outer * np.maximum(first[1], second[1]) + (1 - outer) * np.minimum(first[1], second[1])
    return low, high


def normal_quantile(level: float) -> float:
    """Return z such that a standard normal lies within +-z with probability `level`."""
    return -NormalDist().inv_cdf((1.0 - level) / 2.0)  # the small tail keeps its digits


def level_of(z: float) -> float:
    """Return the probability that a standard normal lies within +-z."""
    return min(2.0 * NormalDist().cdf(z) - 1.0, math.nextafter(1.0, 0.0))


def student_quantile(level: float, freedom: float) -> float:
    """Return t such that Student's t lies within +-t with probability `level`."""
    from passband.stats.special import stdtrit

    return -float(stdtrit(freedom, (1.0 - level) / 2.0))


def student_quantiles(level: float, freedom: Floats) -> Floats:
    """Return the quantile of Student's t at each number of degrees of freedom."""
    from passband.stats.special import stdtrit

    quantiles: Floats = -stdtrit(freedom, (1.0 - level) / 2.0)
    return quantiles
