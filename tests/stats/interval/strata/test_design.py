"""Part of a population: by hand, its limits, and the variance of all samples listed."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband import Outcomes, estimate
from passband.errors import InvalidInput

OUTCOMES = Outcomes.from_counts([4, 3, 0, 1, 2] * 20, 4)


def test_the_distances_are_squared_and_added() -> None:
    problems, trials = (estimate(OUTCOMES, "pass@1", over=over) for over in ("problems", "trials"))
    part = estimate(OUTCOMES, "pass@1", population=400)
    assert problems.se is not None
    assert trials.se is not None
    assert part.se == pytest.approx(math.sqrt(0.75 * problems.se**2 + 0.25 * trials.se**2))
    below = [part.value - (one.low or 0.0) for one in (part, problems, trials)]
    assert below[0] == pytest.approx(math.sqrt(0.75 * below[1] ** 2 + 0.25 * below[2] ** 2))
    assert part.method == "auto, 100 of 400 problems"


def test_the_variance_is_that_of_all_samples() -> None:
    """Cochran: over all samples of 3 of 6 problems the mean has variance S^2 (1 - m/N) / m."""
    values = np.array([0.0, 0.0, 1.0, 1.0, 1.0, 0.0])
    means = [values[list(chosen)].mean() for chosen in itertools.combinations(range(6), 3)]
    assert np.var(means) == pytest.approx(values.var(ddof=1) * (1 - 3 / 6) / 3)


def test_all_of_it_is_the_interval_over_trials_and_a_small_part_that_over_problems() -> None:
    problems, trials = (estimate(OUTCOMES, "pass@2", over=over) for over in ("problems", "trials"))
    whole = estimate(OUTCOMES, "pass@2", population=100)
    assert (whole.low, whole.high, whole.over) == (trials.low, trials.high, "problems")
    small = estimate(OUTCOMES, "pass@2", population=10**9)
    assert (small.low, small.high) == pytest.approx((problems.low, problems.high))


counts = st.lists(st.integers(0, 4), min_size=5, max_size=40)


@given(counts, st.integers(1, 100))
def test_the_interval_lies_between_the_two(successes: list[int], more: int) -> None:
    outcomes = Outcomes.from_counts(successes, 4)
    part = estimate(outcomes, "pass@1", population=len(successes) + more)
    both = [estimate(outcomes, "pass@1", over=over) for over in ("problems", "trials")]
    lows = sorted(one.low or 0.0 for one in both)
    highs = sorted(one.high or 0.0 for one in both)
    assert part.low is not None
    assert part.high is not None
    assert lows[0] - 1e-12 <= part.low <= lows[1] + 1e-12
    assert highs[0] - 1e-12 <= part.high <= highs[1] + 1e-12


def test_refusals() -> None:
    with pytest.raises(InvalidInput, match="got 99 for 100 problems"):
        estimate(OUTCOMES, "pass@1", population=99)
    with pytest.raises(InvalidInput, match="over='trials' is about these alone"):
        estimate(OUTCOMES, "pass@1", population=200, over="trials")
    with pytest.raises(InvalidInput, match="not for strata"):
        estimate(OUTCOMES, "pass@1", population=200, by=["a"] * 100, weights="equal")
    with pytest.raises(InvalidInput, match="must be at least 1"):
        estimate(OUTCOMES, "pass@1", population=0)
    with pytest.raises(InvalidInput, match="method='auto' alone"):
        estimate(OUTCOMES, "pass@1", population=200, method="percentile")


def test_graded_scores_have_it_too() -> None:
    rng = np.random.default_rng(0)
    graded = Outcomes.from_array(rng.random((30, 1)) + 0.1 * rng.random((30, 3)))
    part, whole = (estimate(graded, "avg", population=size) for size in (60, 10**6))
    assert part.se is not None
    assert whole.se is not None
    assert part.se < whole.se
