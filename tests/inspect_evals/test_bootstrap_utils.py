"""pass@k and the bootstrap over problems: the formulas, by hand and exactly."""

from __future__ import annotations

import math
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.errors import InvalidInput
from passband.inspect_evals.bootstrap_utils import (
    bootstrap_mean,
    bootstrap_stderr,
    mean_metric,
    mean_stderr,
    pass_at_k,
)

PROBLEMS = [0.0, 0.25, 0.5, 0.5, 0.75, 1.0, 1.0, 1.0]


# -- pass@k --------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 1), min_size=1, max_size=64), st.data())
def test_formula(scores: list[int], data: st.DataObject) -> None:
    n, c = len(scores), sum(scores)
    k = data.draw(st.integers(1, n))
    exact = 1 - Fraction(comb(n - c, k), comb(n, k))
    assert pass_at_k(scores, k, n) == pytest.approx(float(exact), abs=1e-12)


@pytest.mark.parametrize(
    ("correct", "n", "k", "wrong"), [(3, 10, 1, 0.125), (0, 10, 1, 1 / 11), (32, 64, 1, 1 / 33)]
)
def test_the_product_has_as_many_factors_as_correct_generations(
    correct: int, n: int, k: int, wrong: float
) -> None:
    scores = [1] * correct + [0] * (n - correct)
    with_k_factors = 1 - math.prod(1 - k / (n - correct + 1 + i) for i in range(k))
    assert with_k_factors == pytest.approx(wrong)
    assert pass_at_k(scores, k) == pytest.approx(correct / n, abs=1e-15)


@pytest.mark.parametrize("k", [1, 3, 8])
def test_all_correct(k: int) -> None:
    assert pass_at_k([1] * 8, k) == 1.0


@pytest.mark.parametrize("k", [1, 3, 8])
def test_all_incorrect(k: int) -> None:
    assert pass_at_k([0] * 8, k) == 0.0


def test_k_is_n() -> None:
    assert pass_at_k([0, 0, 0, 1], k=4) == 1.0
    assert pass_at_k([0, 0, 0, 0], k=4) == 0.0


def test_k_beyond_n_is_refused() -> None:
    with pytest.raises(InvalidInput, match="k must satisfy"):
        pass_at_k([0, 1], k=3)


def test_another_n_than_there_are_scores_is_refused() -> None:
    with pytest.raises(InvalidInput, match="n is 8, but there are 2 scores"):
        pass_at_k([0, 1], k=1, n=8)


# -- bootstrap -----------------------------------------------------------------------------


@pytest.mark.parametrize("metric", [mean_metric, np.mean])
def test_same_seed_same_numbers(metric) -> None:
    assert bootstrap_stderr(metric, PROBLEMS, seed=42) == bootstrap_stderr(
        metric, PROBLEMS, seed=42
    )
    assert bootstrap_mean(metric, PROBLEMS, seed=42) == bootstrap_mean(metric, PROBLEMS, seed=42)
    assert bootstrap_stderr(metric, PROBLEMS, seed=42) != bootstrap_stderr(metric, PROBLEMS, seed=7)


@pytest.mark.parametrize("metric", [mean_metric, np.mean])  # drawn in two ways
def test_the_error_is_that_of_the_ideal_bootstrap(metric) -> None:
    ideal = np.std(PROBLEMS) / math.sqrt(len(PROBLEMS))
    assert bootstrap_stderr(metric, PROBLEMS, 20_000, seed=1) == pytest.approx(ideal, rel=0.02)
    assert bootstrap_mean(metric, PROBLEMS, 20_000, seed=1) == pytest.approx(0.625, abs=0.005)


def test_more_iterations_do_not_shrink_the_error() -> None:
    few, many = (bootstrap_stderr(mean_metric, PROBLEMS, n, seed=1) for n in (1_000, 100_000))
    assert many == pytest.approx(few, rel=0.1)


def test_the_error_of_a_proportion_is_the_binomial_one() -> None:
    values = [1.0] * 17 + [0.0] * 3
    binomial = math.sqrt(0.85 * 0.15 / 20)
    assert bootstrap_stderr(mean_metric, values, 50_000, seed=3) == pytest.approx(
        binomial, rel=0.02
    )


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_problems_that_are_all_alike_have_no_spread(value: float) -> None:
    assert bootstrap_stderr(mean_metric, [value] * 5, seed=0) == 0.0
    assert bootstrap_mean(mean_metric, [value] * 5, seed=0) == value


def test_one_problem_has_no_error() -> None:
    assert math.isnan(bootstrap_stderr(mean_metric, [0.5], seed=0))
    assert math.isnan(mean_stderr([0.5]))


@pytest.mark.parametrize("function", [bootstrap_mean, bootstrap_stderr])
def test_nothing_to_resample_is_refused(function) -> None:
    with pytest.raises(InvalidInput, match="population is empty"):
        function(mean_metric, [])
    with pytest.raises(InvalidInput, match="at least 2"):
        function(mean_metric, [0.5, 1.0], 1)


def test_mean_stderr_is_the_textbook_one() -> None:
    assert mean_stderr([0.0, 1.0, 1.0, 1.0]) == pytest.approx(0.25)
    with pytest.raises(InvalidInput, match="no values"):
        mean_metric([])
