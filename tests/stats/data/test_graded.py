"""Graded scores: order statistics against every subset, written out."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband import Outcomes, curve, measure, measure_all
from passband.stats.data.graded import GradedScores, best_weights

scores = st.lists(st.integers(-8, 8).map(lambda n: n / 4), max_size=7)
tables = st.lists(scores, min_size=1, max_size=6).filter(any)


def graded(rows: list[list[float]]) -> GradedScores:
    lengths = [len(row) for row in rows]
    return GradedScores(
        np.array([score for row in rows for score in row]), np.cumsum([0, *lengths])
    )


def best_of_every_subset(row: list[float], k: int) -> Fraction:
    picks = list(combinations(map(Fraction, row), k))
    return sum((max(pick) for pick in picks), Fraction(0)) / len(picks)


def test_best_by_hand() -> None:
    # pairs of (1, 2, 4): best are 2, 4, 4
    assert graded([[2, 4, 1]]).best_of(2).tolist() == pytest.approx([10 / 3])


@pytest.mark.parametrize(("n", "k"), [(1, 1), (4, 1), (4, 2), (4, 4), (30, 7)])
def test_weights_are_a_distribution(n: int, k: int) -> None:
    weights = best_weights(n, k)
    assert weights.sum() == pytest.approx(1)
    assert (weights[: k - 1] == 0).all()
    assert (np.diff(weights) >= 0).all()


@given(tables, st.integers(1, 7))
def test_best_is_the_mean_over_every_subset(rows: list[list[float]], k: int) -> None:
    enough = [row for row in rows if len(row) >= k]
    if not enough:
        return
    found = sorted(graded(rows).best_of(k))
    assert found == pytest.approx(sorted(float(best_of_every_subset(row, k)) for row in enough))


@given(tables)
def test_the_curve_is_best_of_each_k(rows: list[list[float]]) -> None:
    held = graded(rows)
    points = list(held.best_curve())
    assert [k for k, _, _ in points] == list(range(max(map(len, rows)), 0, -1))
    for k, total, problems in points:
        best = held.best_of(k)
        assert problems == len(best)
        assert total == pytest.approx(best.sum(), abs=1e-12)


@given(tables)
def test_means_and_groups(rows: list[list[float]]) -> None:
    held = graded(rows)
    assert sorted(held.means()) == pytest.approx(sorted(np.mean(row) for row in rows if row))
    for group in held.groups:
        for problem, ordered in zip(group.problem, group.ordered, strict=True):
            assert ordered.tolist() == sorted(rows[problem])


def test_the_arrays_are_frozen() -> None:
    held = graded([[1.0, 2.0], [3.0]])
    for array in (held.values, held.offsets):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 9


def test_metrics_of_graded_scores() -> None:
    outcomes = Outcomes.from_array([[0.5, 2, 1], [4], [None]])  # type: ignore[arg-type]
    assert measure(outcomes, "avg").value == pytest.approx((3.5 / 3 + 4) / 2)
    best = measure(outcomes, "max@2")
    assert (best.value, best.n_problems, best.left_out) == (pytest.approx(5 / 3), 1, 2)
    every = measure_all(outcomes, ["max@*"])
    assert [point.value for point in every] == pytest.approx(
        [measure(outcomes, "avg").value, 5 / 3, 2]
    )
    assert curve(outcomes, "max@*").n_problems.tolist() == [2, 1, 1]
