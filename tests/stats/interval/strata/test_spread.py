"""Ends of a mean over strata: the edge by brute force, squares by hand."""

import math

import numpy as np
import pytest

from passband.stats.interval.registry import Interval
from passband.stats.interval.strata.spread import edge_over_problems, square_and_add


def test_edge_by_brute_force() -> None:
    """The largest w1 x1 + w2 x2 with (1 - x1)^3 (1 - x2)^10 >= tail, on a grid."""
    weights, counts, tail = np.array([0.5, 0.5]), np.array([3.0, 10.0]), 0.025
    x = np.linspace(0.0, 1.0, 4001)[:-1]
    other = 1.0 - np.minimum((tail / (1.0 - x) ** 3) ** 0.1, 1.0)
    feasible = (1.0 - x) ** 3 >= tail
    brute = float((0.5 * x + 0.5 * other)[feasible].max())
    assert edge_over_problems(weights, counts, tail) == pytest.approx(brute, abs=1e-4)


@pytest.mark.parametrize("strata", [1, 2, 7])
def test_edge_of_equal_problems_is_that_of_one_sample(strata: int) -> None:
    reach = edge_over_problems(np.full(strata, 1 / strata), np.full(strata, 6.0), 0.025)
    assert reach == pytest.approx(1.0 - 0.025 ** (1.0 / (6 * strata)))


def test_square_and_add_by_hand() -> None:
    intervals = [Interval(0.4, 0.8, 0.1), Interval(0.1, 0.3, 0.05)]
    result = square_and_add(0.35, np.array([0.5, 0.5]), np.array([0.5, 0.2]), intervals)
    assert result.low == pytest.approx(0.35 - math.hypot(0.05, 0.05))
    assert result.high == pytest.approx(0.35 + math.hypot(0.15, 0.05))
    assert result.se == pytest.approx(math.hypot(0.05, 0.025))
