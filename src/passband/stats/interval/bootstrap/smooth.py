"""The distribution of a sum over very many unlike problems, from its low frequencies.

With hundreds of distinct pairs (n, c) the sum of all values is as good as continuous, and its
characteristic function, which is the product of theirs, is negligible beyond a few dozen multiples
of the lowest frequency of a window of 20 standard errors. Those are computed exactly; nothing is
drawn. What is left out are waves shorter than two thirds of a standard error, with an amplitude of
e^-44 for a normal distribution. The points are 1/800 of a standard error apart.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from passband.stats.interval.bootstrap.exact import MeanDistribution
from passband.types import Floats, Ints

__all__ = ["TrialGroup", "distribution_of_groups"]

_WINDOW = 20.0  # standard errors
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

    def log_spectrum(self, frequencies: Floats) -> Floats:
        """Return the log of the characteristic function of the centred sum."""
        waves = np.exp(1j * np.outer(self.values, frequencies))
        centred = (self.shares @ waves) * np.exp(-1j * np.outer(self.means, frequencies))
        logs: Floats = self.problems @ np.log(np.where(centred == 0.0, 1e-300, centred))
        return logs


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
