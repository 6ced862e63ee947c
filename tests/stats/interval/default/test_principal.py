"""The laws with the fewest success probabilities that have the moments of a fit."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from passband.stats.interval.default.trial_noise import principal_laws

POINTS = np.sin(np.pi * np.arange(61) / 120) ** 2


def weights_of(seed: int, kept: float = 1.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.full(61, 0.3)) * (rng.random(61) < kept)
    weights[30] += 1e-3
    return weights / weights.sum()


def test_radau_s_rules_of_two_moments_by_hand() -> None:
    # E[p] = 1/4 and E[p^2] = 1/8: nodes 0 and m2 / m1, and 1 and (m1 - m2) / (1 - m1)
    low, high = principal_laws(np.array([0.0, 0.5]), np.array([0.5, 0.5]), 2)
    assert low.points.tolist() == pytest.approx([0, 0.5], abs=1e-12)
    assert low.weights.tolist() == pytest.approx([0.5, 0.5])
    assert high.points.tolist() == pytest.approx([float(Fraction(1, 8) / Fraction(3, 4)), 1])
    assert high.weights.tolist() == pytest.approx([0.9, 0.1])


@given(seed=st.integers(0, 10**6), n=st.integers(2, 32), kept=st.sampled_from([1.0, 0.2, 0.03]))
def test_moments_are_kept_with_few_levels(seed: int, n: int, kept: float) -> None:
    weights = weights_of(seed, kept)
    laws = principal_laws(POINTS, weights, n)
    assert len(laws) == 2 - n % 2
    for law in laws:
        assert len(law.points) == n // 2 + 1
        assert (law.weights >= 0).all()
        assert ((law.points >= 0) & (law.points <= 1)).all()
        for power in range(n + 1):
            own, wanted = law.weights @ law.points**power, weights @ POINTS**power
            assert own == pytest.approx(wanted, abs=1e-7)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 8])
@pytest.mark.parametrize("kept", [1.0, 0.1])
def test_no_law_with_these_moments_has_a_smaller_mean_of_a_higher_power(
    n: int, kept: float
) -> None:
    weights = weights_of(n, kept)
    laws = principal_laws(POINTS, weights, n)
    p = np.concatenate([POINTS, np.linspace(0, 1, 801)])
    moments = (2 * p - 1) ** np.arange(n + 1)[:, None]
    for k in range(n // 2 + 1, n + 1):
        for flip in (False, True):
            goal = (1 - p if flip else p) ** (2 * k)
            least = linprog(
                goal, A_eq=moments, b_eq=moments[:, :61] @ weights, bounds=(0, None)
            ).fun
            own = [
                law.weights @ (1 - law.points if flip else law.points) ** (2 * k) for law in laws
            ]
            assert min(own) == pytest.approx(least, abs=2e-6)
            assert min(own) <= weights @ goal[:61] + 1e-12


def test_many_laws_at_once_are_one_by_one() -> None:
    weights = np.stack([weights_of(seed, 0.2) for seed in range(6)])
    for n in (4, 5):
        together = principal_laws(POINTS, weights, n)
        for index, each in enumerate(weights):
            for law, own in zip(together, principal_laws(POINTS, each, n), strict=True):
                assert law.points[index] == pytest.approx(own.points, abs=1e-9)
                assert law.weights[index] == pytest.approx(own.weights, abs=1e-9)
