"""The sign-flip test: if the models are alike, each difference could have the other sign."""

from __future__ import annotations

import numpy as np

from passband.stats.checks import ROUNDING, ROUNDING_DIGITS
from passband.stats.metric.pmf import log_choose
from passband.types import Floats, Ints

_MOST_SUMS = 1 << 20
_MOST_WORK = 1 << 25
_ONE_BY_ONE = 1024
_ACCURACY = 1e-12  # of a Fourier sum; below, Hoeffding's bound is given
_LEAST = 1e-300  # no p-value is zero


def sign_flip_p_value(change: Floats, *, mid: bool = False) -> float:
    """Return the probability that random signs of the d make their sum as far from 0 as it is.

    Equal sizes of d are taken together, a binomial number of them having a plus. Then, in this
    order: all sums are listed if there are up to a million; if the d are multiples of one number,
    the distribution of the sum is the Fourier transform of a product of cosines, exact to twelve
    digits; for other d the sum is smoothed by less than a thousandth of its standard deviation, the
    p-value rounded up by as much, and all but the 1024 largest sizes taken as normal. Nothing is
    random. Zeros do not matter. With `mid`, sums exactly as far from 0 as the observed one count
    half; where the sum was smoothed there are none.

    >>> round(sign_flip_p_value(np.array([1, 1, 1, 1, 1, -1.0])), 12)  # McNemar, 5 against 1
    0.21875
    >>> round(sign_flip_p_value(np.array([1, 1, 1, 1, 1, -1.0]), mid=True), 12)
    0.125
    """
    size = np.abs(change)
    largest = float(size.max(initial=0.0))
    size = size[size > ROUNDING * largest]
    observed = abs(float(change.sum()))
    if len(size) == 0 or observed <= ROUNDING * largest * len(size):
        return 1.0
    step, count = np.unique(np.round(size / largest, ROUNDING_DIGITS), return_counts=True)
    reached = observed / largest * (1.0 - 1e-10)
    if float(np.log2(count + 1.0).sum()) <= np.log2(_MOST_SUMS):
        return min(1.0, max(_by_listing(step, count, reached, mid), _LEAST))
    deviation = float(np.sqrt(count @ step**2))
    grain = _common_divisor(step)
    if grain is not None and len(step) * 40.0 * deviation / grain <= _MOST_WORK:
        p_value = _on_grid(np.round(step / grain), count, reached / grain, mid)
    else:
        p_value = _smoothed(step, count, reached, deviation)
    if p_value > _ACCURACY:
        return min(1.0, p_value)
    hoeffding = 2.0 * float(np.exp(-((reached / deviation) ** 2) / 2.0))
    return min(_ACCURACY, max(hoeffding, _LEAST))


def _by_listing(step: Floats, count: Ints, reached: float, mid: bool = False) -> float:
    """Return the p-value from all sums there can be."""
    sums, weights = np.zeros(1), np.ones(1)
    for size, m in zip(step.tolist(), count.tolist(), strict=True):
        plus = np.arange(m + 1)
        ways = log_choose(m, plus)
        sums = np.add.outer(sums, size * (2.0 * plus - m)).ravel()
        weights = np.multiply.outer(weights, np.exp(ways - m * np.log(2.0))).ravel()
    p_value = float(weights[np.abs(sums) >= reached].sum())
    if mid:
        p_value -= (
            float(weights[np.abs(np.abs(sums) - reached) <= 1e-8 * (1.0 + reached)].sum()) / 2.0
        )
    return p_value


def _common_divisor(step: Floats) -> float | None:
    """Return the largest number that all are multiples of, if it is not too small."""
    divisor = float(step[-1])
    for size in step.tolist():
        larger, smaller = size, divisor
        while smaller > 1e-5:
            larger, smaller = smaller, abs(larger - smaller * round(larger / smaller))
        if smaller > 1e-9 or larger < 1e-5:
            return None
        divisor = larger
    return divisor


def _on_grid(multiple: Floats, count: Ints, reached: float, mid: bool = False) -> float:
    """Invert the characteristic function of a whole-numbered sum, wrapped far in its tails."""
    deviation = float(np.sqrt(count @ multiple**2))
    window = min(2.0 * float(count @ multiple) + 2.0, 20.0 * deviation)
    points = 1 << int(np.ceil(np.log2(window)))
    angle = 2.0 * np.pi * np.arange(points // 2 + 1) / points
    curve = np.ones(len(angle))
    for size, m in zip(multiple.tolist(), count.tolist(), strict=True):
        curve *= np.cos(size * angle) ** m
    distribution = np.fft.irfft(curve, points)
    sums = np.minimum(np.arange(points), points - np.arange(points))
    p_value = float(distribution[sums >= reached - 1e-6].sum())
    if mid:
        p_value -= float(distribution[np.abs(sums - reached) <= 1e-3].sum()) / 2.0
    return p_value


def _smoothed(step: Floats, count: Ints, reached: float, deviation: float) -> float:
    """Sum the Fourier series of the sum, blurred by a narrow normal to make the series short."""
    largest = np.argsort(-count * step**2)[:_ONE_BY_ONE].tolist()
    others = deviation**2 - float(count[largest] @ step[largest] ** 2)
    half = 9.0 * deviation
    angle = np.pi * np.arange(1, _MOST_WORK // max(len(largest), 256) + 1) / half
    blur = 8.0 / float(angle[-1])
    inside = reached - 5.0 * blur
    if inside <= 0.0:
        return 1.0
    curve = np.exp(-(blur**2 + max(others, 0.0)) * angle**2 / 2.0)
    for index in largest:
        curve *= np.cos(step[index] * angle) ** count[index]
        alive = np.abs(curve) > 1e-20  # most terms die early
        if 2 * np.count_nonzero(alive) < len(alive):
            curve, angle = curve[alive], angle[alive]
    wave = 2.0 / (half * angle) * curve * np.sin(angle * inside)
    return 1.0 - inside / half - float(wave.sum())
