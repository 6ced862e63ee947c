"""The largest of all standardised differences: intervals that hold together, and their p-values.

Hothorn, Bretz, Westfall (2008), Biometrical Journal 50, 346-363.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from passband.stats.interval.default.wilson import normal_quantile
from passband.stats.interval.seeds import generator
from passband.stats.tolerance import ROUNDING
from passband.types import Floats

__all__ = ["DRAWS", "Largest", "drawn_errors", "standard_errors"]

DRAWS = 20_000


def drawn_errors(root: Floats, seed: int) -> Floats:
    """Draw errors of all models' values together, from a root of their covariance."""
    drawn: Floats = generator(seed).standard_normal((DRAWS, root.shape[1])) @ root.T
    return drawn


def standard_errors(errors: Floats) -> Floats:
    """Return the standard error of each difference of two models: (models, models)."""
    square = errors.T @ errors / len(errors)
    size = np.diag(square)
    variance: Floats = np.maximum(size[:, None] + size[None, :] - 2.0 * square, 0.0)
    scale = float(size.max(initial=0.0))
    return np.sqrt(np.where(variance <= ROUNDING * scale, 0.0, variance))


@dataclass(frozen=True, eq=False)
class Largest:
    """The distribution of the largest standardised difference of any two models.

    A pair whose interval touches 0 at the normal deviation z has the adjusted p-value
    P(largest >= z), and `reach` is the z at which that falls to 1 - level. So the interval at
    `reach` leaves 0 out exactly where the adjusted p-value is at most 1 - level. Both lie between
    those of a single pair and Bonferroni's, which alone is used where nothing can be drawn.
    """

    pairs: int
    drawn: Floats | None  # in order

    @staticmethod
    def of(errors: Floats | None, models: int) -> Largest:
        """Draw the largest difference from errors of the models' values."""
        pairs = models * (models - 1) // 2
        if errors is None or pairs == 1:
            return Largest(pairs, None)
        error = standard_errors(errors)
        largest = np.zeros(len(errors))
        for i in range(models):
            for j in np.flatnonzero(error[i, :i]).tolist():
                np.maximum(largest, np.abs(errors[:, j] - errors[:, i]) / error[i, j], out=largest)
        return Largest(pairs, np.sort(largest))

    def p_value(self, z: float) -> float:
        """Return the adjusted p-value of a pair whose interval touches 0 at a deviation z."""
        alone = 2.0 * NormalDist().cdf(-z)
        bound = min(1.0, self.pairs * alone)
        if self.drawn is None:
            return bound
        count = len(self.drawn) - int(np.searchsorted(self.drawn, z))
        return max(alone, min(bound, (count + 1) / (len(self.drawn) + 1)))

    def reach(self, level: float) -> float:
        """Return the normal deviation at which intervals hold for all pairs at once."""
        bonferroni = normal_quantile(1.0 - (1.0 - level) / self.pairs)
        if self.drawn is None:
            return bonferroni
        place = math.ceil((len(self.drawn) + 1) * level) - 1
        if place >= len(self.drawn):
            return bonferroni
        return max(normal_quantile(level), min(bonferroni, float(self.drawn[place])))
