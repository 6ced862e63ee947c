"""Curves, next to the same in 60 digits."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.errors import InvalidInput
from passband.stats.irt.items import (
    Items,
    expected_scores,
    information,
    kl_information,
    log_likelihood,
    score_slope,
    slopes,
)
from passband.stats.irt.posterior import Grid
from support.samples.irt_banks import bank, banks, exact_chance, scores, thetas


@pytest.mark.parametrize("model", ["1pl", "2pl", "3pl", "graded"])
@pytest.mark.parametrize("theta", [-25.0, -1.3, 0.4, 25.0])
@mpmath.workdps(60)
def test_likelihood_and_slopes_have_an_exact_twin(model: str, theta: float) -> None:
    items = bank(model, 4)
    at = np.array([theta])
    found = slopes(items, at)
    for item in range(4):
        grades = int(items.grades[item])
        info = warm = mpmath.mpf(0)
        for grade in range(grades + 1):
            f = lambda t, i=item, g=grade: exact_chance(items, i, t, g)  # noqa: E731
            chance, first, second = (mpmath.diff(f, theta, n) for n in range(3))
            info, warm = info + first**2 / chance, warm + first * second / chance
            one, score = items.take([item]), np.array([grade / grades])
            log = log_likelihood(one, at, score)[0, 0]
            assert log == pytest.approx(float(mpmath.log(chance)), rel=1e-12, abs=1e-13)
            slope = score_slope(one, at, score)[0, 0]
            assert slope == pytest.approx(float(first / chance), rel=1e-9, abs=1e-12)
        assert found.information[item, 0] == pytest.approx(float(info), rel=1e-9)
        assert found.warm[item, 0] == pytest.approx(float(warm), rel=1e-7, abs=1e-14)


@given(banks, thetas, st.integers(0, 2**32 - 1))
def test_slopes_are_those_of_the_likelihood(items: Items, theta: float, seed: int) -> None:
    got = scores(items, theta, np.random.default_rng(seed))
    step = 1e-5
    logs = log_likelihood(items, np.array([theta - step, theta + step]), got)
    slope = score_slope(items, np.array([theta]), got)[:, 0]
    assert slope == pytest.approx((logs[:, 1] - logs[:, 0]) / (2 * step), rel=1e-5, abs=1e-6)


@given(banks, thetas)
def test_information_is_the_expected_curvature(items: Items, theta: float) -> None:
    """I = -E l'', with the expectation over the scores that can be."""
    step, at = 1e-4, np.array([theta])
    around = np.array([theta - step, theta + step])
    mean = expected_scores(items, at)[:, 0]
    expected = np.zeros(len(items))
    most = int(items.grades.max())
    for grade in range(most + 1):
        there = grade <= items.grades
        got = np.where(there, grade / items.grades, 0.0)
        if items.steps is not None:
            chance = np.exp(log_likelihood(items, at, got)[:, 0])
        else:
            chance = mean if grade else 1.0 - mean
        slope = score_slope(items, around, got)
        expected -= np.where(there, chance * (slope[:, 1] - slope[:, 0]) / (2 * step), 0.0)
    assert slopes(items, at).information[:, 0] == pytest.approx(expected, rel=1e-5, abs=1e-7)


def test_graded_items_of_one_step_are_2pl_items() -> None:
    plain = bank("2pl", 5)
    graded = Items("graded", plain.a, steps=plain.b[:, None])
    theta, got = np.linspace(-3, 3, 7), np.array([0.0, 1.0, 1.0, 0.0, 1.0])
    for function in (log_likelihood, score_slope):
        assert function(graded, theta, got) == pytest.approx(function(plain, theta, got))
    assert slopes(graded, theta).warm == pytest.approx(slopes(plain, theta).warm)


def test_information_by_hand() -> None:
    items = Items("3pl", a=np.array([2.0]), b=np.array([0.0]), c=np.array([0.25]))
    right = 0.25 + 0.75 / 2  # at theta = b
    by_hand = 4 * ((right - 0.25) / 0.75) ** 2 * (1 - right) / right
    assert information(items, 0.0) == pytest.approx([by_hand])


@pytest.mark.parametrize("model", ["2pl", "3pl", "graded"])
def test_kl_information_is_an_integral(model: str) -> None:
    items = bank(model, 3)

    def divergence(item: int, other: mpmath.mpf) -> mpmath.mpf:
        chances = [
            (exact_chance(items, item, 0.3, grade), exact_chance(items, item, other, grade))
            for grade in range(int(items.grades[item]) + 1)
        ]
        return mpmath.fsum(p * mpmath.log(p / q) for p, q in chances)

    exact = [float(mpmath.quad(lambda t, i=i: divergence(i, t), [-0.7, 1.3])) for i in range(3)]
    assert kl_information(items, 0.3, 1.0) == pytest.approx(exact, rel=1e-8)


def test_kl_information_tends_to_fisher_s() -> None:
    """KL is I t²/2 nearby, so its integral is I δ³/3."""
    for model in ("2pl", "3pl", "graded", "continuous"):
        items = bank(model, 5)
        near = kl_information(items, 0.4, 1e-3) / (1e-9 / 3)
        assert near == pytest.approx(information(items, 0.4), rel=1e-3)


@pytest.mark.parametrize("model", ["1pl", "2pl", "3pl", "graded", "continuous"])
@pytest.mark.parametrize("theta", [-40.0, -3.0, 0.1, 0.555, 2.04, 60.0])
def test_kept_information_is_close(model: str, theta: float) -> None:
    items = bank(model, 50)
    grid, exact = Grid.of(items), information(items, theta)
    largest = np.maximum(exact.max(), items.a**2 / 4 / items.phi)
    for _ in range(2):  # computed, and kept
        assert (np.abs(grid.information(theta) - exact) < 0.01 * largest).all()
    at_node = Grid.of(items).information(-2.5)
    assert at_node == pytest.approx(information(items, -2.5), rel=1e-5, abs=1e-12)


def test_what_is_refused() -> None:
    with pytest.raises(InvalidInput, match="delta must be a number above 0"):
        kl_information(bank("2pl", 2), 0.0, math.inf)
    assert np.isfinite(information(bank("graded", 4), 500.0)).all()
