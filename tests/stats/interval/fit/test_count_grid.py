"""The tables behind the fit: every (n, c), and its probabilities."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import betabinom, binom

from passband import Outcomes, estimate
from passband.stats.data.counts import Histogram
from passband.stats.interval.fit import count_grid
from passband.stats.interval.fit.count_grid import (
    GRID_POINTS,
    CountGrid,
    beta_grid,
    beta_masses,
    binned_counts,
    grid_of,
    is_too_large,
    needs_bins,
    points,
)

RAGGED = CountGrid((1, 3))


def test_every_pair_in_order() -> None:
    assert RAGGED.trials.tolist() == [1, 1, 3, 3, 3, 3]
    assert RAGGED.successes.tolist() == [0, 1, 0, 1, 2, 3]
    assert RAGGED.starts.tolist() == [0, 2]


def test_counts_are_laid_out() -> None:
    pairs = Histogram.of_counts(np.array([3, 1, 3, 3]), np.array([2, 0, 2, 0]))
    assert grid_of(pairs).ns == (1, 3)
    assert grid_of(pairs) is grid_of(pairs)  # the tables are kept
    assert grid_of(pairs).counts(pairs).tolist() == [1, 0, 1, 0, 2, 0]


def test_sums_per_n_and_back() -> None:
    values = np.arange(6.0)
    assert RAGGED.per_n(values).tolist() == [1.0, 14.0]
    assert RAGGED.per_n(np.stack([values, 2 * values])).tolist() == [[1.0, 14.0], [2.0, 28.0]]
    assert CountGrid((2,)).per_n(np.arange(3.0)).tolist() == [3.0]
    assert RAGGED.spread(np.array([5.0, 7.0])).tolist() == [5, 5, 7, 7, 7, 7]


@pytest.mark.parametrize("ns", [(1,), (2, 5), (64,)])
def test_the_probabilities_of_each_n_add_up_to_one(ns: tuple[int, ...]) -> None:
    lattice = CountGrid(ns)
    for table in (lattice.binomial, lattice.beta_binomial):
        assert table.min() >= 0
        assert lattice.per_n(table) == pytest.approx(np.ones((len(table), len(ns))))
    assert lattice.log_beta_binomial == pytest.approx(np.log(lattice.beta_binomial), abs=1e-9)


def test_the_probabilities_are_those_of_scipy() -> None:
    lattice = CountGrid((2, 5))
    n, c = lattice.trials, lattice.successes
    assert lattice.binomial == pytest.approx(binom.pmf(c, n, points()[:, None]), abs=1e-12)
    alpha, beta = beta_grid()
    expected = betabinom.pmf(c, n, alpha[:, None], beta[:, None])
    assert lattice.beta_binomial == pytest.approx(expected, rel=1e-6)


def test_the_grid_holds_both_ends_and_is_denser_there() -> None:
    p = points()
    assert len(p) == GRID_POINTS + 1
    assert (p[0], p[-1]) == (0.0, 1.0)
    assert p == pytest.approx(1 - p[::-1])
    steps = np.diff(p)
    assert steps.min() == steps[0]
    assert steps.argmax() in (len(steps) // 2 - 1, len(steps) // 2)
    # at the ends a problem always fails, or always succeeds
    assert CountGrid((4,)).binomial[[0, -1]].tolist() == [[1, 0, 0, 0, 0], [0, 0, 0, 0, 1]]


def test_the_masses_of_each_beta_add_up_to_one() -> None:
    assert beta_masses().shape == (len(beta_grid()[0]), GRID_POINTS + 1)
    assert beta_masses().sum(axis=1) == pytest.approx(np.ones(len(beta_masses())))
    alpha, beta = beta_grid()
    mean = beta_masses() @ points()
    assert mean == pytest.approx(alpha / (alpha + beta), abs=0.02)


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
        found = estimate(Outcomes.from_counts(successes, n), "pass@1", over=over)
        assert found.low < found.value < found.high
