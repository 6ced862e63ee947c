"""The probability of counts that look stopped by their own outcome."""

from math import prod

import numpy as np
import pytest

from passband.stats.data.counts import Histogram
from passband.stats.evidence.counts import stopping_of


def of(n: list[int], c: list[int]) -> tuple[float, int]:
    found = stopping_of(Histogram.of_counts(np.array(n), np.array(c)))
    return found.p_value, found.problems


def test_the_p_value_is_the_largest_probability_of_single_successes() -> None:
    n = [1, 2, 2, 3, 5, 8, 8]
    largest = prod(max(m * q * (1 - q) ** (m - 1) for q in np.linspace(0, 1, 1001)) for m in n[1:5])
    p_value, problems = of(n, [1, 1, 1, 1, 1, 0, 1])
    assert p_value == pytest.approx(largest, rel=1e-4)
    assert problems == 4


@pytest.mark.parametrize(
    ("n", "c"),
    [
        ([4, 4, 4], [1, 0, 1]),  # all alike
        ([2, 3, 8], [1, 2, 0]),  # two successes
        ([2, 3, 8], [1, 0, 0]),  # none, though there was time
        ([2, 3, 8], [1, 1, 2]),
    ],
)
def test_other_counts_are_no_alarm(n: list[int], c: list[int]) -> None:
    assert of(n, c) == (1.0, 0)
