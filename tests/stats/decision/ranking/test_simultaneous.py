"""The largest difference: against the studentised range, and the duality of p-value and reach."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.stats.decision.ranking.simultaneous import (
    Largest,
    benjamini_hochberg,
    best_confidences,
    drawn_errors,
    holm,
)
from passband.stats.interval.default.wilson import normal_quantile

DRAWN = Largest.of(drawn_errors(np.eye(5), 3), 5)


def test_independent_models_have_the_studentised_range() -> None:
    # q(0.95; 5, infinity) = 3.858 and q(0.99; 5, infinity) = 4.603, over the root of two
    assert DRAWN.reach(0.95) == pytest.approx(3.858 / np.sqrt(2), abs=0.04)
    assert DRAWN.reach(0.99) == pytest.approx(4.603 / np.sqrt(2), abs=0.06)


@given(st.floats(0.5, 0.9999), st.floats(0, 7))
def test_beyond_the_reach_the_p_value_is_small_and_only_there(level: float, z: float) -> None:
    assert (z > DRAWN.reach(level)) == (DRAWN.p_value(z) <= 1 - level)


def test_p_values_fall_and_lie_between_one_pair_and_bonferroni() -> None:
    grid = np.linspace(0, 7, 200)
    found = [DRAWN.p_value(float(z)) for z in grid]
    assert (np.diff(found) <= 0).all()
    one, bound = Largest(1, None), Largest(10, None)
    assert all(one.p_value(z) <= p <= bound.p_value(z) for z, p in zip(grid, found, strict=True))
    assert one.reach(0.9) == pytest.approx(normal_quantile(0.9))
    assert bound.reach(0.9) == pytest.approx(normal_quantile(0.99))


def test_models_without_any_error_between_them_do_not_count() -> None:
    errors = drawn_errors(np.array([[1.0], [1.0], [2.0]]), 1)
    assert Largest.of(errors, 3).reach(0.95) == pytest.approx(normal_quantile(0.95), abs=0.05)


chances = st.lists(st.floats(0, 1), min_size=1, max_size=9)


def test_holm_by_hand() -> None:
    # sorted .005 .01 .03 .04 times 4 3 2 1 is .02 .03 .06 .04, and the last may not fall
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.5]) == [1, 1]
    assert holm([]) == []


def test_benjamini_hochberg_by_hand() -> None:
    # sorted .005 .01 .03 .04 times 4 4/2 4/3 1 is .02 .02 .04 .04
    assert benjamini_hochberg([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.02, 0.04, 0.04, 0.02])
    # .04 * 3/2 = .06 may not exceed what the larger .045 gets
    assert benjamini_hochberg([0.045, 0.001, 0.04]) == pytest.approx([0.045, 0.003, 0.045])
    assert benjamini_hochberg([]) == []


@given(chances)
def test_adjusted_p_values_keep_the_order_and_only_grow(p: list[float]) -> None:
    for adjust in (holm, benjamini_hochberg):
        found = adjust(p)
        assert all(a >= b - 1e-15 for a, b in zip(found, p, strict=True))
        assert max(found) <= 1
        order = np.argsort(p, kind="stable")
        assert (np.diff(np.array(found)[order]) >= -1e-15).all()
    assert all(h >= b - 1e-15 for h, b in zip(holm(p), benjamini_hochberg(p), strict=True))


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
