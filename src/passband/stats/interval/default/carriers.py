"""How many problems the spread of values rests on, and whether those are too few to trust it.

A spread that a few problems far from the rest make up is known about as well as that of so few
problems, however many there are. Their number is M m_2^2 / m_4, with the central moments of the
values: M over the kurtosis. It is M where all are equally far from the mean, and 1 where a single
one is. What is too few was chosen by measured coverage (docs/measured.md).
"""

from __future__ import annotations

import numpy as np

from passband.stats.checks import Over
from passband.types import Floats

__all__ = ["are_few", "carriers"]

_ENOUGH: dict[Over, tuple[float, float]] = {  # carriers, and their share of all problems
    "problems": (4.0, 1.0 / 12.0),
    "trials": (7.0, 1.0 / 20.0),
}


def carriers(values: Floats, weights: Floats, problems: float) -> float:
    """Return how many of the problems carry the spread; `weights` are shares of the values.

    >>> round(carriers(np.array([0.0, 1.0]), np.array([0.5, 0.5]), 30))
    30
    >>> round(carriers(np.array([0.0, 1.0]), np.array([0.99, 0.01]), 100), 2)
    1.02
    """
    away = np.where(weights > 0.0, values - weights @ values, 0.0)
    largest = float(np.abs(away).max())
    if largest == 0.0:
        return 0.0
    square = (away / largest) ** 2  # whose square may be too small for a number
    return problems * float(weights @ square) ** 2 / float(weights @ square**2)


def are_few(carrying: float, problems: float, over: Over) -> bool:
    """Return whether an interval that rests on as many carriers may well be too short.

    Of few problems the intervals are wide enough all the same, unless next to none carries
    anything.
    """
    enough, share = _ENOUGH[over]
    return carrying < min(enough, share * problems)
