"""The bootstrap of a mean with infinitely many replicates, computed instead of drawn.

The mean of M draws with replacement from M observed values has the M-fold convolution of their
histogram as its distribution. Put the values on a lattice, take the Fourier transform of the
histogram to the power M, and transform back: no replicates, no seed, no Monte-Carlo error. The same
holds for any sum of independent draws, so pools of several kinds may be added up, each with its own
power.

The lattice is the values' own where they have one that fits (c/n of pass@1 does): then the result
is exact. Otherwise it is a fine grid; each value is split over its two neighbours so that means are
exact, and the spread is set to the exact one afterwards. What is left is an error of the ends
below a thousandth of a standard error, a tenth of what a million replicates would leave. Only a
window of 20 standard errors around the mean is kept.

With hundreds of distinct pairs (n, c) the sum of all values is as good as continuous, and its
characteristic function, which is the product of theirs, is negligible beyond a few dozen multiples
of the lowest frequency of a window of 20 standard errors. Those are computed exactly; nothing is
drawn. What is left out are waves shorter than two thirds of a standard error, with an amplitude of
e^-44 for a normal distribution. The points are 1/800 of a standard error apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from passband.types import Floats, Ints

SLACK = 1e-11  # a cumulated probability this close to the requested one counts as equal
_WINDOW = 20.0  # standard errors
_ON_LATTICE = 1e-9
_DEAD = -45.0  # log of an amplitude that no longer matters


@dataclass(frozen=True, eq=False)
class ValuePool:
    """A distribution with finitely many values, and the number of independent draws from it."""

    values: Floats
    shares: Floats
    draws: int

    @cached_property
    def mean(self) -> float:
        return float(self.shares @ self.values)

    @cached_property
    def variance(self) -> float:
        return float(self.shares @ (self.values - self.mean) ** 2)

    @property
    def origin(self) -> float:
        return float(self.values.min())

    @property
    def span(self) -> float:
        return float(np.ptp(self.values))


@dataclass(frozen=True, eq=False)
class MeanDistribution:
    """The distribution of a mean: evenly spaced points, and the probability of each."""

    points: Floats
    masses: Floats
    mean: float
    sd: float

    @cached_property
    def _from_below(self) -> Floats:
        return np.cumsum(self.masses)

    @cached_property
    def _from_above(self) -> Floats:
        return np.cumsum(self.masses[::-1])[::-1]

    def lower(self, tail: float) -> float:
        """Return the smallest point x with P(mean <= x) >= tail."""
        index = int(np.searchsorted(self._from_below, tail - SLACK))
        return float(self.points[min(index, len(self.points) - 1)])

    def upper(self, tail: float) -> float:
        """Return the largest point x with P(mean >= x) >= tail."""
        index = int(np.searchsorted(-self._from_above, SLACK - tail, side="right"))
        return float(self.points[max(index - 1, 0)])

    def below(self, value: float) -> float:
        """Return P(mean < value) + P(mean = value) / 2."""
        near = 1e-3 * (self.points[1] - self.points[0]) if len(self.points) > 1 else 0.0
        start, end = np.searchsorted(self.points, [value - near, value + near])
        return float(self.masses[:start].sum() + self.masses[start:end].sum() / 2)


def bootstrap_distribution(values: Floats, problems: Ints) -> MeanDistribution:
    """Return the distribution of the bootstrap mean, `problems` of them having each value.

    Draw as many problems as there are, with replacement, and take the mean:
    P(mean = x) is the M-fold convolution of the histogram at M x. Use it instead of replicates
    wherever the estimate is a plain mean over problems.

    >>> distribution = bootstrap_distribution(np.array([0.0, 1.0]), np.array([2, 2]))
    >>> distribution.points.round(2).tolist(), distribution.masses.round(4).tolist()
    ([0.0, 0.25, 0.5, 0.75, 1.0], [0.0625, 0.25, 0.375, 0.25, 0.0625])
    >>> distribution.lower(0.05), distribution.upper(0.05), distribution.sd
    (0.0, 1.0, 0.25)
    """
    total = int(problems.sum())
    return distribution_of_mean([ValuePool(values, problems / total, total)], total)


def distribution_of_mean(pools: Sequence[ValuePool], divisor: int) -> MeanDistribution:
    """Return the distribution of the sum of all draws from all pools, divided by `divisor`.

    >>> coin = ValuePool(np.arange(2.0), np.full(2, 1 / 2), 1)
    >>> die = ValuePool(np.arange(6.0), np.full(6, 1 / 6), 1)
    >>> (12 * distribution_of_mean([coin, die], 1).masses).round(9).tolist()
    [1.0, 2.0, 2.0, 2.0, 2.0, 2.0, 1.0]
    """
    total = sum(pool.draws * pool.mean for pool in pools)
    variance = sum(pool.draws * pool.variance for pool in pools)
    if variance == 0.0:
        return MeanDistribution(np.array([total / divisor]), np.ones(1), total / divisor, 0.0)
    lattice = _lattice(pools, variance)
    origin = sum(pool.draws * pool.origin for pool in pools)
    first, masses = _window(pools, lattice, (total - origin) / lattice.step)
    sums = origin + (first + np.arange(len(masses))) * lattice.step
    if not lattice.own:
        wide = variance + sum(pool.draws * lattice.blur(pool) for pool in pools)
        sums = total + (sums - total) * (variance / wide) ** 0.5
    return MeanDistribution(
        sums / divisor, masses / masses.sum(), total / divisor, variance**0.5 / divisor
    )


@dataclass(frozen=True)
class _Lattice:
    """Points `step` apart, counted from the smallest value of each pool."""

    step: float
    own: bool  # whether every value lies on a point
    cells: int  # points in the window

    def places(self, pool: ValuePool) -> tuple[Floats, Floats]:
        """Return the point below each value, and how far beyond it the value lies, 0 to 1."""
        place = (pool.values - pool.origin) / self.step
        floor = np.rint(place) if self.own else np.floor(place)
        return floor, np.zeros(len(place)) if self.own else place - floor

    def blur(self, pool: ValuePool) -> float:
        """Return the variance added by splitting values over two grid points."""
        _, beyond = self.places(pool)
        return self.step**2 * float(pool.shares @ (beyond * (1.0 - beyond)))


def _lattice(pools: Sequence[ValuePool], variance: float) -> _Lattice:
    """Choose the values' own lattice if the window needs few enough of its points."""
    most = 1 << (20 if len(pools) == 1 else 18)
    width = min(sum(pool.draws * pool.span for pool in pools), _WINDOW * variance**0.5)
    unit = max(pool.span for pool in pools)
    offsets = np.concatenate([(pool.values - pool.origin) / unit for pool in pools])
    parts = _common_denominator(offsets, int(most * unit / width))
    if parts is not None:
        return _Lattice(unit / parts, True, _quick_length(width * parts / unit + 2))
    cells = most // 4
    # Whole steps in the widest pool, and an eighth to spare for the split at the upper end.
    return _Lattice(unit / np.ceil(unit * cells * 7 / 8 / width), False, cells)


def _common_denominator(offsets: Floats, most: int) -> int | None:
    """Return the least L of at most `most` for which all offsets are multiples of 1/L.

    >>> _common_denominator(np.array([0.0, 0.25, 1 / 6, 1.0]), 100)
    12
    >>> _common_denominator(np.array([0.0, 2**-0.5, 1.0]), 100)
    """
    denominator = 1
    while denominator <= most:
        scaled = offsets * denominator
        off = np.abs(scaled - np.rint(scaled)) > _ON_LATTICE
        if not off.any():
            return denominator
        first = Fraction(float(scaled[off.argmax()]))
        factor = first.limit_denominator(max(most // denominator, 1)).denominator
        if factor == 1:
            return None
        denominator *= factor
    return None


def _quick_length(least: float) -> int:
    """Return the next length with a fast transform: 2, 3 or 5 times a power of two.

    >>> _quick_length(9.5), _quick_length(33.0), _quick_length(2.0)
    (10, 40, 2)
    """
    lengths = (odd << max(int(np.ceil(np.log2(least / odd))), 1) for odd in (1, 3, 5))
    return min(lengths)


def _window(pools: Sequence[ValuePool], lattice: _Lattice, centre: float) -> tuple[int, Floats]:
    """Return the first point of the window and the mass of each: all points, if they fit."""
    longest = sum(pool.draws * int(np.ceil(pool.span / lattice.step - 1e-6)) for pool in pools)
    wrapped = np.maximum(_convolved(pools, lattice), 0.0)
    if longest < lattice.cells:
        return 0, wrapped[: longest + 1]
    first = round(centre) - lattice.cells // 2
    return first, np.roll(wrapped, -(first % lattice.cells))


def _convolved(pools: Sequence[ValuePool], lattice: _Lattice) -> Floats:
    """Return the distribution of the sum of all draws, wrapped around the window."""
    spectrum = np.ones(lattice.cells // 2 + 1, dtype=np.complex128)
    alive = np.arange(len(spectrum))
    for pool in pools:
        factor = np.fft.rfft(_histogram(pool, lattice))[alive]
        with np.errstate(divide="ignore"):
            stays = pool.draws * np.log(np.abs(factor)) > _DEAD
        spectrum[alive[~stays]] = 0.0
        alive = alive[stays]
        spectrum[alive] *= factor[stays] ** pool.draws
    distribution: Floats = np.fft.irfft(spectrum, lattice.cells)
    return distribution


def _histogram(pool: ValuePool, lattice: _Lattice) -> Floats:
    floor, beyond = lattice.places(pool)
    cell = floor.astype(np.int64) % lattice.cells
    if lattice.own:
        return np.bincount(cell, pool.shares, lattice.cells).astype(np.float64)
    points = np.concatenate([cell, (cell + 1) % lattice.cells])
    shares = np.concatenate([pool.shares * (1.0 - beyond), pool.shares * beyond])
    return np.bincount(points, shares, lattice.cells).astype(np.float64)


_FREQUENCIES = 31
_POINTS = 1 << 14


@dataclass(frozen=True, eq=False)
class TrialGroup:
    """Problems with the same values to draw from, each kind with shares of its own."""

    values: Floats  # (values,)
    shares: Floats  # (kinds, values)
    problems: Ints  # (kinds,)

    @property
    def means(self) -> Floats:
        means: Floats = self.shares @ self.values
        return means

    @property
    def variance(self) -> float:
        away = self.values - self.means[:, None]
        return float(self.problems @ (self.shares * away**2).sum(axis=1))

    def log_spectrum(self, frequencies: Floats) -> NDArray[np.complex128]:
        """Return the log of the characteristic function of the centred sum."""
        waves = np.exp(1j * np.outer(self.values, frequencies))
        centred = (self.shares @ waves) * np.exp(-1j * np.outer(self.means, frequencies))
        logs = np.log(np.where(centred == 0.0, 1e-300, centred))
        return np.asarray(self.problems.astype(np.float64) @ logs)


def distribution_of_groups(groups: Iterable[TrialGroup], divisor: int) -> MeanDistribution:
    """Return the distribution of the sum of one draw for every problem, divided by `divisor`."""
    groups = list(groups)
    total = sum(float(group.problems @ group.means) for group in groups)
    sd = sum(group.variance for group in groups) ** 0.5
    if sd == 0.0:
        return MeanDistribution(np.array([total / divisor]), np.ones(1), total / divisor, 0.0)
    frequencies = 2.0 * np.pi * np.arange(_FREQUENCIES) / (_WINDOW * sd)
    spectrum = np.zeros(_POINTS // 2 + 1, dtype=np.complex128)
    spectrum[:_FREQUENCIES] = np.exp(sum(group.log_spectrum(frequencies) for group in groups))
    masses = np.fft.fftshift(np.maximum(np.fft.irfft(np.conj(spectrum), _POINTS), 0.0))
    sums = total + (np.arange(_POINTS) - _POINTS // 2) * (_WINDOW * sd / _POINTS)
    return MeanDistribution(sums / divisor, masses / masses.sum(), total / divisor, sd / divisor)
