"""The largest difference: against the studentised range, and the duality of p-value and reach."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.stats.decision.ranking.simultaneous import Largest, drawn_errors
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
