"""The confidence of being the best: by hand, and against draws of the values themselves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.stats.decision.ranking.simultaneous import best_confidences


def deviations_of(values: list[float], size: float = 1.0) -> np.ndarray:
    away = np.subtract.outer(values, values)
    return away / (size * np.sqrt(2.0))


def errors(models: int, draws: int = 20_000) -> np.ndarray:
    return np.random.default_rng(1).standard_normal((draws, models))


def test_one_location_for_all_is_the_share_of_draws_that_come_first() -> None:
    values, noise = [0.3, 0.0, -0.4, 0.2], errors(4)
    drawn = (np.array(values) + noise).argmax(axis=1)
    expected = np.bincount(drawn, minlength=4) / len(noise)
    assert best_confidences(deviations_of(values), noise) == pytest.approx(expected, abs=0.01)


def test_models_that_are_alike_share_equally() -> None:
    noise = errors(3)
    noise[:, 1] = noise[:, 0]
    found = best_confidences(deviations_of([0.0, 0.0, 0.0]), noise)
    assert found[0] == found[1]
    assert found.sum() == pytest.approx(1)
    everyone = best_confidences(np.zeros((5, 5)), np.zeros((100, 5)))
    assert everyone == pytest.approx([0.2] * 5)


def test_a_difference_without_error_is_kept_as_sure_as_it_is() -> None:
    z = np.array([[0.0, 1.5], [-1.5, 0.0]])
    assert best_confidences(z, np.zeros((100, 2))) == pytest.approx([0.9331928, 0.0668072])


@given(st.integers(2, 6), st.integers(0, 10_000))
def test_no_confidence_exceeds_that_in_a_pair_even_where_pairs_go_in_circles(
    models: int, seed: int
) -> None:
    from scipy.special import ndtr

    rng = np.random.default_rng(seed)
    z = rng.normal(0, 1.5, (models, models))
    z = (z - z.T) / 2
    found = best_confidences(z, rng.standard_normal((200, models)))
    caps = ndtr(np.where(np.eye(models, dtype=bool), np.inf, z)).min(axis=1)
    assert (found >= 0).all()
    assert (found <= caps + 1e-12).all()
    assert found.sum() == pytest.approx(min(1.0, caps.sum()))
