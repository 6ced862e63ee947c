"""Laws by stratum of the number of trials."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from passband import Outcomes
from passband.stats.interval.certify.laws import Copula, between_variance, fitted_laws
from passband.stats.interval.fit.count_grid import points
from passband.stats.interval.request import mixture_of


def test_one_law_for_equal_trials() -> None:
    mixture = mixture_of(Outcomes.from_counts([0, 2, 3, 8] * 5, 8), 1)
    sharp, close = fitted_laws(mixture)
    assert (sharp.name, close.name) == ("sharp", "close")
    assert np.array_equal(close.at(8), mixture.close.weights)
    assert np.allclose(sharp.at(8).sum(), 1.0)
    assert sharp.at(8).max() > 2 * close.at(8).max()


def test_strata_have_their_own() -> None:
    outcomes = Outcomes.from_counts([0, 1] * 10 + [31, 32] * 10, [2] * 20 + [32] * 20)
    for law in fitted_laws(mixture_of(outcomes, 1)):
        few, many = (float(law.at(n) @ points()) for n in (2, 32))
        assert few < 0.5 < 0.9 < many
        assert np.array_equal(law.at(3), law.at(2))  # a number between strata has the lower one's
        assert np.array_equal(law.at(1), law.at(2))


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
    return max(difference / share, Fraction(0))  # type: ignore[return-value]


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
