"""Detectors of trials stopped by their outcome: exact p-values, and bounded false alarms."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband import Outcomes
from passband.errors import InvalidInput
from passband.stats.sequential.stopped_logs import (
    detect_by_counts,
    detect_by_order,
    poisson_binomial,
)


def test_counts_by_hand() -> None:
    """Problems with 2 and 3 trials below the most, 4: 1/2 * (2/3)^2 = 2/9."""
    outcomes = Outcomes.from_counts([1, 1, 1, 0], [1, 2, 3, 4])
    assert detect_by_counts(outcomes).p_value == pytest.approx(2 / 9)
    assert detect_by_counts(outcomes).problems == 2


@pytest.mark.parametrize(
    ("successes", "trials"),
    [([2, 1, 0], [3, 2, 4]), ([1, 1, 2], [3, 2, 4]), ([0, 1, 1], [3, 2, 4]), ([1, 0], [4, 4])],
)
def test_other_counts_are_no_alarm(successes: list[int], trials: list[int]) -> None:
    assert detect_by_counts(Outcomes.from_counts(successes, trials)).p_value == 1.0


@given(st.lists(st.integers(1, 6), min_size=1, max_size=5), st.floats(0.05, 0.95))
def test_the_p_value_bounds_the_chance_of_the_pattern(trials: list[int], p: float) -> None:
    """Whatever the rate, ragged counts look like it no more often than the p-value says."""
    most = max(trials)
    outcomes = Outcomes.from_counts([1 if n < most else 0 for n in trials], trials)
    claimed = detect_by_counts(outcomes).p_value
    chance = math.prod(n * p * (1 - p) ** (n - 1) for n in trials if n < most)
    assert chance <= claimed + 1e-12


def test_order_by_hand() -> None:
    """c/n = 1/2 and 1/3, both ended with a success: 1/6."""
    assert detect_by_order([[0, 1], [0, 0, 1], [1, 1], [0]]).p_value == pytest.approx(1 / 6)
    assert detect_by_order([[1, 1], [0]]).p_value == 1.0


@pytest.mark.parametrize("counts", [[(1, 3), (2, 3), (1, 2)], [(1, 4), (3, 4)], [(2, 5), (1, 2)]])
def test_order_is_exact(counts: list[tuple[int, int]]) -> None:
    """List all orders: P(p-value <= a) <= a, and is equal at every value that it takes."""
    orders = [
        [row for row in itertools.product((0, 1), repeat=n) if sum(row) == c] for c, n in counts
    ]
    values = [detect_by_order(table).p_value for table in itertools.product(*orders)]
    for value in set(values):
        share = Fraction(sum(other <= value + 1e-12 for other in values), len(values))
        assert float(share) == pytest.approx(value)


def test_poisson_binomial_is_the_binomial_for_equal_rates() -> None:
    expected = [math.comb(5, i) * 0.3**i * 0.7 ** (5 - i) for i in range(6)]
    assert poisson_binomial(np.full(5, 0.3)) == pytest.approx(expected)


def test_trials_until_solved_set_off_both() -> None:
    rng = np.random.default_rng(4)
    scores = (rng.random((80, 8)) < rng.beta(0.5, 0.5, 80)[:, None]).astype(float)
    scores[scores.cumsum(axis=1) - scores >= 1] = np.nan
    assert detect_by_order(scores).is_alarm
    assert detect_by_counts(Outcomes.from_array(scores)).is_alarm


def test_what_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"must be 0 or 1; got 0\.5"):
        detect_by_order([[0.5, 1]])
    with pytest.raises(InvalidInput, match="at least one problem"):
        detect_by_order([])
    graded = Outcomes.from_array([[0.5, 1], [1, 0]])
    assert detect_by_counts(graded).p_value == 1.0
