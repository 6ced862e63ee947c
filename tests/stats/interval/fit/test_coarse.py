"""Counts with very many numbers of trials, moved to a few of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband import Outcomes, estimate
from passband.stats.data.counts import Histogram
from passband.stats.interval.fit import count_grid
from passband.stats.interval.fit.count_grid import binned_counts, is_too_large, needs_bins


def ragged(problems: int, most: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    n = rng.integers(1, most + 1, problems)
    return rng.binomial(n, rng.beta(0.5, 0.7, problems)), n


@given(seed=st.integers(0, 50), most=st.sampled_from([150, 400, 3000]))
def test_the_mean_and_the_number_of_problems_stay(seed: int, most: int) -> None:
    successes, n = ragged(600, most, seed)
    pairs = Histogram.of_counts(n, successes)
    few = binned_counts(pairs)
    assert needs_bins(pairs)
    assert not needs_bins(few)
    assert few.problems.sum() == pytest.approx(600)
    assert few.problems.min() > 0
    assert (few.successes <= few.trials).all()
    rate = few.successes / few.trials
    assert few.problems @ rate == pytest.approx(float((successes / n).sum()))


def test_few_numbers_of_trials_stay_as_they_are() -> None:
    successes, n = ragged(2000, 64)
    pairs = Histogram.of_counts(n, successes)
    assert binned_counts(pairs) is pairs
    alike = Histogram.of_tally(100_000, np.array([1]))
    assert binned_counts(alike) is alike


def test_what_is_too_large() -> None:
    assert not is_too_large(Histogram.of_tally(100_000, np.array([1])))
    assert is_too_large(Histogram.of_tally(10**6, np.array([1])))
    many = np.arange(1, 2000)
    assert not is_too_large(Histogram.of_counts(many, many * 0))


@pytest.mark.parametrize("over", ["problems", "trials"])
@pytest.mark.parametrize("metric", ["pass@1", "pass@4", "pass^2"])
def test_the_interval_hardly_changes(
    over: str, metric: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    successes, n = ragged(150, 60, 4)
    exact = estimate(Outcomes.from_counts(successes, n), metric, over=over)  # type: ignore[call-overload]
    monkeypatch.setattr(count_grid, "_ENOUGH_PAIRS", 500)
    found = estimate(Outcomes.from_counts(successes, n), metric, over=over)  # type: ignore[call-overload]
    assert found.value == exact.value
    assert found.se == pytest.approx(exact.se, rel=0.03)
    assert found.low == pytest.approx(exact.low, abs=0.1 * exact.se)
    assert found.high == pytest.approx(exact.high, abs=0.1 * exact.se)


def test_any_numbers_of_trials_have_an_interval() -> None:
    successes, n = ragged(2000, 1024)
    for over in ("problems", "trials"):
        found = estimate(Outcomes.from_counts(successes, n), "pass@1", over=over)  # type: ignore[call-overload]
        assert found.low < found.value < found.high
