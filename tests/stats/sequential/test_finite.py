"""Part of a benchmark: by hand, its limits, and the variance of all samples listed."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband import Outcomes, estimate
from passband.errors import InvalidInput, NotEnoughData
from passband.stats.interval.default.wilson import student_quantile
from passband.stats.sequential.finite import estimate_benchmark
from passband.stats.sequential.width import guard


def test_by_hand() -> None:
    """Values 1, 0, .5 of 2 trials: squares 1/2, plus one unit; within (0 + 0 + 1/4) / 3."""
    result = estimate_benchmark(Outcomes.from_counts([2, 0, 1], 2), "pass@1", 6)
    within = 0.25 / 3
    between = (0.5 + 1) / 2 - within
    assert (result.within, result.between) == pytest.approx((within, between))
    variance = (between * (1 - 3 / 6) + within) / 3
    assert result.se == pytest.approx(math.sqrt(variance))
    reach = student_quantile(0.95, 2) * math.sqrt(variance)
    assert (result.low, result.high) == pytest.approx((max(0.5 - reach, 0), min(0.5 + reach, 1)))


def test_without_the_unit_it_is_the_variance_of_all_samples() -> None:
    """Cochran: over all samples of 3 of 6 problems the mean has variance S^2 (1 - m/N) / m."""
    values = np.array([0.0, 0.0, 1.0, 1.0, 1.0, 0.0])
    means = [values[list(chosen)].mean() for chosen in itertools.combinations(range(6), 3)]
    assert np.var(means) == pytest.approx(values.var(ddof=1) * (1 - 3 / 6) / 3)


counts = st.lists(st.integers(0, 4), min_size=5, max_size=40)


@given(counts, st.integers(0, 100))
def test_the_interval_grows_with_the_benchmark(successes: list[int], more: int) -> None:
    outcomes = Outcomes.from_counts(successes, 4)
    size = len(successes) + more
    small, large = (estimate_benchmark(outcomes, "pass@1", n) for n in (size, size + 50))
    assert small.low >= large.low - 1e-12
    assert small.high <= large.high + 1e-12
    assert small.low <= small.value <= small.high


def test_all_of_it_is_the_guarded_interval_over_trials() -> None:
    outcomes = Outcomes.from_counts([4, 3, 0, 1, 2] * 20, 4)
    result = estimate_benchmark(outcomes, "pass@1", 100)
    assert (result.high - result.low) / 2 == pytest.approx(guard(outcomes), rel=0.03)
    problems = estimate(outcomes, "pass@1")
    many = estimate_benchmark(outcomes, "pass@1", 10**9)
    assert many.high - many.low == pytest.approx(problems.high - problems.low, rel=0.1)  # type: ignore[operator]


def test_other_metrics_are_measured_from_2k_trials() -> None:
    outcomes = Outcomes.from_counts([4, 3, 0, 1, 2] * 20, 4)
    assert estimate_benchmark(outcomes, "pass@2", 300).value > 0.5


def test_what_is_refused() -> None:
    outcomes = Outcomes.from_counts([1, 0, 2], 2)
    with pytest.raises(InvalidInput, match="whole benchmark; got 2 for 3"):
        estimate_benchmark(outcomes, "pass@1", 2)
    with pytest.raises(NotEnoughData, match="at least 2 problems"):
        estimate_benchmark(Outcomes.from_counts([1], 2), "pass@1", 4)
    with pytest.raises(NotEnoughData, match="at least 2 trials"):
        estimate_benchmark(Outcomes.from_counts([1, 0], 1), "pass@1", 4)
    with pytest.raises(InvalidInput, match="clusters"):
        estimate_benchmark(Outcomes.from_counts([1, 0], 2, clusters=["a", "b"]), "pass@1", 4)
    with pytest.raises(InvalidInput, match="0 or 1"):
        estimate_benchmark(Outcomes.from_array([[0.5, 1], [0, 1]]), "pass@1", 4)
