"""How many problems the spread of values rests on."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.stats.checks import Over
from passband.stats.interval.default.clusters import are_few, carriers


def exact(values: list[int]) -> Fraction:
    """Return M m_2^2 / m_4, with the central moments of the values."""
    mean = Fraction(sum(values), len(values))
    second = sum((value - mean) ** 2 for value in values)
    return second**2 / sum((value - mean) ** 4 for value in values)


def of(values: list[int]) -> float:
    return carriers(
        np.array(values, dtype=float), np.full(len(values), 1 / len(values)), len(values)
    )


@given(st.lists(st.integers(-50, 50), min_size=2, max_size=30).filter(lambda v: len(set(v)) > 1))
def test_it_is_the_number_of_problems_over_the_kurtosis(values: list[int]) -> None:
    assert of(values) == pytest.approx(float(exact(values)))
    assert of([7 - 3 * value for value in values]) == pytest.approx(of(values))
    assert 0.99 <= of(values) <= len(values) + 1e-9


def test_by_hand() -> None:
    assert of([0, 1] * 10) == pytest.approx(20)
    assert of([0, 0, 0, 1]) == pytest.approx((3 / 4) ** 2 / (3 / 256 + 81 / 256))
    assert of([5, 5, 5]) == 0.0


def test_values_that_nothing_weighs_do_not_count() -> None:
    weights = np.array([0.5, 0.5, 0.0])
    assert carriers(np.array([0.0, 1e-200, 1.0]), weights, 30) == pytest.approx(30)


@pytest.mark.parametrize(
    ("over", "problems", "enough"), [("problems", 100, 4), ("problems", 12, 1), ("trials", 100, 5)]
)
def test_what_is_few_depends_on_how_many_problems_there_are(
    over: Over, problems: int, enough: float
) -> None:
    assert are_few(enough - 0.01, problems, over)
    assert not are_few(enough + 0.01, problems, over)
