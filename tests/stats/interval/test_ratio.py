"""Ratios of means."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.errors import NotEnoughData
from passband.stats.interval.ratio import log_normal_ends, ratio_of_means


def test_by_hand() -> None:
    """R = 4, z = (2, -2) of mean 0, sd sqrt(8), se 2, t(1) = 12.706; a 0 has no logarithm."""
    ratio = ratio_of_means(np.array([6.0, 2.0]), np.array([2.0, 0.0]), 0.95)
    assert (ratio.value, ratio.se) == (4.0, 2.0)
    assert ratio.high == pytest.approx(4.0 * math.exp(12.7062047 * 2 / 4), rel=1e-6)
    assert ratio.low == pytest.approx(4.0 / math.exp(12.7062047 * 2 / 4), rel=1e-6)


def test_log_normal_ends_by_hand() -> None:
    """log 6 and log 2 have the mean log(12)/2 and the variance v = log(3)^2/2."""
    v = math.log(3.0) ** 2 / 2.0
    centre, spread = (math.log(12.0) + v) / 2.0, math.sqrt(v / 2.0 + v**2 / 2.0)
    expected = [math.exp(centre + 12.7062047 * side * spread) for side in (-1, 1)]
    ones = np.ones(2)
    assert log_normal_ends(np.array([6.0, 2.0]), ones, 0.95) == pytest.approx(expected, rel=1e-6)
    shared = log_normal_ends(np.array([6.0, 2.0]), ones / 2.0, 0.95, is_share=True)
    assert shared == pytest.approx([2.0 * end for end in expected], rel=1e-6)
    assert log_normal_ends(np.array([6.0, 0.0]), ones, 0.95) is None


@given(st.lists(st.floats(0.1, 100.0), min_size=3, max_size=9), st.floats(0.01, 100.0))
def test_the_units_do_not_matter(values: list[float], unit: float) -> None:
    above, below = np.array(values), np.array(values[::-1])
    one, other = (ratio_of_means(above * by, below, 0.9) for by in (1.0, unit))
    assert other.high == pytest.approx(one.high * unit, rel=1e-6)
    assert other.low == pytest.approx(one.low * unit, rel=1e-6, abs=1e-12)
    assert one.low <= one.value <= one.high


def test_clusters_of_one_problem_are_problems() -> None:
    above, below = np.array([1.0, 3.0, 2.0, 7.0]), np.array([1.0, 2.0, 2.0, 3.0])
    alone = ratio_of_means(above, below, 0.95)
    assert ratio_of_means(above, below, 0.95, np.arange(4)) == alone
    twice = ratio_of_means(above.repeat(2), below.repeat(2), 0.95, np.arange(4).repeat(2))
    assert twice.high == pytest.approx(alone.high)
    with pytest.raises(NotEnoughData):
        ratio_of_means(above, below, 0.95, np.zeros(4, dtype=np.int64))


def test_coverage_of_the_ratio_of_two_log_normal_costs() -> None:
    rng = np.random.default_rng(5)
    hits = 0
    for _ in range(400):
        common = rng.normal(0.0, 1.0, 60)
        a, b = (np.exp(common + rng.normal(0.0, 0.5, 60)) for _ in "ab")
        ratio = ratio_of_means(1.2 * b, a, 0.95)
        hits += ratio.low <= 1.2 <= ratio.high
    assert 0.93 <= hits / 400 <= 0.985
