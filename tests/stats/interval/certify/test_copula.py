"""The copula: the law of one problem whatever the clusters, and their covariance as in the data."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from passband.stats.interval.certify.laws import Copula, between_variance

VALUES = np.array([0.0, 0.2, 0.5, 0.9])
WEIGHTS = np.array([0.1, 0.4, 0.3, 0.2])


def test_margins_and_covariance() -> None:
    variance = float(WEIGHTS @ (VALUES - WEIGHTS @ VALUES) ** 2)
    copula = Copula.of(VALUES, WEIGHTS, 0.5 * variance)
    drawn = VALUES[copula.draw(np.array([0, 0]), 40_000, np.random.default_rng(3))]
    assert abs(drawn.mean() - copula.mean) < 0.004
    assert abs(np.mean(drawn == 0.9) - 0.2) < 0.01
    assert abs(np.cov(drawn.T)[0, 1] - 0.5 * variance) < 0.05 * variance


def test_independent_problems() -> None:
    assert Copula.of(VALUES, WEIGHTS, 0.0).rho == 0.0


def test_no_more_than_all_alike() -> None:
    copula = Copula.of(VALUES, WEIGHTS, 9.0)
    assert copula.rho == 0.99


def slow_between(values: list[int], codes: list[int]) -> Fraction:
    """Return the same from the textbook, in exact arithmetic."""
    groups = [[Fraction(v) for v, c in zip(values, codes, strict=True) if c == g] for g in {*codes}]
    total, count = len(values), len(groups)
    mean = Fraction(sum(values), total)
    means = [sum(group) / len(group) for group in groups]
    between = sum(len(g) * (m - mean) ** 2 for g, m in zip(groups, means, strict=True))
    within = sum((v - m) ** 2 for g, m in zip(groups, means, strict=True) for v in g)
    share = (total - Fraction(sum(len(g) ** 2 for g in groups), total)) / (count - 1)
    difference = between / (count - 1) - within / (total - count)
    return max(difference / share, Fraction(0))


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(0, 3)), min_size=6, max_size=20))
def test_between_variance_exactly(pairs: list[tuple[int, int]]) -> None:
    codes = np.unique([code for _, code in pairs], return_inverse=True)[1]
    values = [value for value, _ in pairs]
    found = between_variance(np.array(values, dtype=float), codes)
    if len(set(codes.tolist())) == 1:
        assert found == 0.0
    else:
        assert abs(found - float(slow_between(values, codes.tolist()))) < 1e-9


def test_one_problem_to_a_cluster_shows_nothing() -> None:
    assert between_variance(np.array([0.0, 1.0]), np.array([0, 1])) == 0.0
