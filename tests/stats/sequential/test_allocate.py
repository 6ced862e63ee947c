"""Sizes from another model's results: by hand, within bounds, refused where they do not help."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband import Outcomes
from passband.errors import InvalidInput
from passband.stats.sequential.allocate import sizes_from


def test_by_hand() -> None:
    """0 and 8 of 8 count as 0 and 2 of 2; the common rate is 1/2, so Beta(.5, 2.5), Beta(2.5, .5).

    E p (1 - p)^3 of Beta(a, b) is a b (b + 1) (b + 2) / ((a + b) ... (a + b + 3)).
    """
    other = Outcomes.from_counts([0, 8], 8)
    moments = [a * b * (b + 1) * (b + 2) for a, b in ((0.5, 2.5), (2.5, 0.5))]
    weights = np.sqrt(moments)
    expected = 1000 * weights / weights.sum()
    assert sizes_from(other, "pass@2", 1000) == pytest.approx(expected, abs=3)


@given(st.lists(st.integers(0, 8), min_size=2, max_size=30), st.integers(2, 5), st.integers(0, 300))
def test_sizes_add_up_and_allow_the_metric(successes: list[int], k: int, more: int) -> None:
    total = k * len(successes) + more
    sizes = sizes_from(Outcomes.from_counts(successes, 8), f"pass@{k}", total)
    assert sizes.sum() == total
    assert sizes.min() >= k
    assert sizes.max() <= max(8 * total / len(successes) + 1, k)


@pytest.mark.parametrize(
    ("successes", "n", "k"),
    [([4096, 1, 8000], 8192, 4), ([400] * 4, 400, 100), ([3, 400], 400, 64)],
)
def test_many_trials_of_the_other_model_do_not_underflow(
    successes: list[int], n: int, k: int
) -> None:
    total = 3 * k * len(successes)
    sizes = sizes_from(Outcomes.from_counts(successes, n), f"pass@{k}", total)
    assert sizes.sum() == total
    assert sizes.min() >= k


def test_like_problems_get_like_sizes() -> None:
    sizes = sizes_from(Outcomes.from_counts([4] * 10, 8), "pass@4", 160)
    assert sizes.tolist() == [16] * 10


@pytest.mark.parametrize("metric", ["pass@1", "pass^2", "pass@1,2", "avg"])
def test_other_metrics_are_refused(metric: str) -> None:
    with pytest.raises(InvalidInput, match=r"help pass@k with k > 1"):
        sizes_from(Outcomes.from_counts([4, 2], 8), metric, 100)


def test_too_few_trials_are_refused() -> None:
    with pytest.raises(InvalidInput, match="2 problems need at least 8 trials; got 7"):
        sizes_from(Outcomes.from_counts([4, 2], 8), "pass@4", 7)
