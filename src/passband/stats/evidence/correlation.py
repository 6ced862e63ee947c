"""A correlation over problems that one of them cannot make."""

from __future__ import annotations

import math
from dataclasses import dataclass

from passband.types import Floats, Ints

__all__ = ["Correlation", "correlation_of"]

_LARGE = 0.1
_FAR_BEYOND_CHANCE = 3.3  # standard errors
_HALF = 0.5


@dataclass(frozen=True)
class Correlation:
    """The correlation of two numbers over problems."""

    value: float
    largest_part: float  #: the share of it that one problem makes
    problems: int

    @property
    def z(self) -> float:
        """Its size in standard errors."""
        return abs(self.value) * math.sqrt(max(self.problems - 1, 1))

    @property
    def is_clear(self) -> bool:
        """Whether it is large, beyond chance, and not made by one problem.

        |r| > max(.1, 3.3 / sqrt(M - 1)), and at most half of r is one problem's: one with a
        thousand trials among some with two would correlate with anything.
        """
        is_far = abs(self.value) > _LARGE and self.z > _FAR_BEYOND_CHANCE
        return is_far and self.largest_part <= _HALF


def correlation_of(x: Floats, y: Floats, weights: Ints) -> Correlation:
    """Correlate two numbers; each pair belongs to `weights` problems.

    >>> import numpy as np
    >>> one = correlation_of(np.array([0.0, 0, 9]), np.array([0.5, 0.4, 1]), np.array([9, 9, 1]))
    >>> round(one.value, 2), round(one.largest_part, 2), one.is_clear
    (0.93, 0.95, False)
    """
    problems = int(weights.sum())
    x, y = x - float(weights @ x) / problems, y - float(weights @ y) / problems
    products, scale = x * y, math.sqrt(float(weights @ x**2) * float(weights @ y**2))
    total = float(weights @ products)
    if scale <= 0.0 or total == 0.0:
        return Correlation(0.0, 0.0, problems)
    return Correlation(total / scale, float((products / total).max()), problems)
