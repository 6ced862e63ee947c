"""The fitted spread of success probabilities."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from passband.stats.interval.fit.count_grid import CountGrid, points
from passband.stats.interval.fit.mixture import (
    Law,
    Mixture,
    fit_mixture,
    maximised,
    sharpened,
    strata_of,
)
from passband.types import Floats

RAGGED = CountGrid((1, 2, 5))
tallies = arrays(np.float64, len(RAGGED.trials), elements=st.integers(0, 9).map(float)).filter(
    lambda counts: counts.sum() > 0
)


def drawn(p: np.ndarray, n: int, seed: int = 0) -> Mixture:
    successes = np.random.default_rng(seed).binomial(n, p)
    return fit_mixture(CountGrid((n,)), np.bincount(successes, minlength=n + 1).astype(float))


@given(counts=tallies)
def test_everything_is_a_distribution(counts: np.ndarray) -> None:
    found = fit_mixture(RAGGED, counts)
    assert found.shares == pytest.approx(RAGGED.per_n(counts) / counts.sum())
    assert found.predictive.sum() == pytest.approx(1)
    assert RAGGED.per_n(found.predictive) == pytest.approx(found.shares)
    for mixing in (found.near, found.close):
        assert mixing.weights.sum() == pytest.approx(1)
        assert mixing.weights.min() > 0  # no probability is ever ruled out
        assert RAGGED.per_n(mixing.marginal) == pytest.approx(np.ones(3))
        assert mixing.marginal == pytest.approx(mixing.weights @ RAGGED.binomial)


@given(counts=tallies)
def test_failures_mirror_successes(counts: np.ndarray) -> None:
    mirror = np.concatenate(
        [start + np.arange(n, -1, -1) for start, n in zip(RAGGED.starts, RAGGED.ns, strict=True)]
    )
    found, other = fit_mixture(RAGGED, counts), fit_mixture(RAGGED, counts[mirror])
    assert other.predictive == pytest.approx(found.predictive[mirror], abs=1e-9)
    assert other.near.weights == pytest.approx(found.near.weights[::-1], abs=1e-9)
    assert other.close.weights == pytest.approx(found.close.weights[::-1], abs=1e-9)


@given(counts=st.lists(tallies, min_size=2, max_size=4))
def test_many_data_sets_at_once_are_each_alone(counts: list[np.ndarray]) -> None:
    size = counts[0].sum()
    same = [each for each in counts if each.sum() == size]  # all of one size, as in a study
    together = fit_mixture(RAGGED, np.stack(same))
    for at, each in enumerate(same):
        alone = fit_mixture(RAGGED, each)
        assert together.predictive[at] == pytest.approx(alone.predictive)
        assert together.near.weights[at] == pytest.approx(alone.near.weights)
        assert together.close.marginal[at] == pytest.approx(alone.close.marginal)
        assert together.shares[at] == pytest.approx(alone.shares)


@pytest.mark.parametrize("n", [4, 16])
def test_the_fit_finds_the_mean_and_the_spread(n: int) -> None:
    p = np.random.default_rng(3).beta(0.6, 0.9, 2000)
    found = drawn(p, n)
    for mixing in (found.near, found.close):
        mean = mixing.weights @ points()
        noise = mixing.weights @ (points() * (1 - points()))
        assert mean == pytest.approx(p.mean(), abs=0.03)
        assert noise == pytest.approx((p * (1 - p)).mean(), rel=0.1)


def test_a_further_problem_is_like_those_seen() -> None:
    p = np.random.default_rng(4).beta(2, 2, 3000)
    found = drawn(p, 8)
    seen = found.counts / found.counts.sum()
    # the means of the Betas are up to 0.065 apart, so the best of them is off by half of that
    assert np.abs(np.cumsum(found.predictive - seen)).max() < 0.08
    assert found.predictive @ np.arange(9) / 8 == pytest.approx(p.mean(), abs=0.035)


def test_the_fit_for_half_of_n_is_used_up_to_there() -> None:
    found = fit_mixture(CountGrid((4, 9)), np.ones(15))
    assert found.mixing(2) is found.near
    assert found.mixing(3) is found.close


def tally(n: int, p: Floats, seed: int = 0) -> Floats:
    successes = np.random.default_rng(seed).binomial(n, p)
    return np.bincount(successes, minlength=n + 1).astype(float)


def log_likelihood(law: Law, weights: Floats) -> float:
    return float(law.counts @ np.log(weights @ law.grid.binomial))


@pytest.mark.parametrize("n", [4, 16])
def test_the_sharp_fit_is_closest_to_the_data(n: int) -> None:
    p = np.random.default_rng(1).choice([0.2, 0.8], 200)
    law = fit_mixture(CountGrid((n,)), tally(n, p)).pooled
    fits = [law.start, law.near.weights, law.close.weights, law.sharp.weights]
    start, near, close, sharp = (log_likelihood(law, weights) for weights in fits)
    assert start < min(near, close)
    assert max(near, close) < sharp
    for weights in fits:
        assert weights.sum() == pytest.approx(1)


def test_a_step_is_bayes_rule() -> None:
    table, frequencies = np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([0.5, 0.5])
    # of the first kind: half of the data times 0.9/1.1, and half times 0.1/0.9
    first = 0.5 * 0.9 / 1.1 + 0.5 * 0.1 / 0.9
    found = maximised(table, frequencies, np.array([0.5, 0.5]), 1)
    assert found == pytest.approx([first, 1 - first])


@pytest.mark.parametrize(("n", "problems"), [(4, 30), (8, 100), (32, 300)])
def test_the_sharp_fit_goes_as_far_as_four_hundred_steps(n: int, problems: int) -> None:
    p = np.random.default_rng(2).beta(0.5, 0.7, problems)
    law = fit_mixture(CountGrid((n,)), tally(n, p)).pooled
    frequencies = law.counts / problems
    plain = maximised(law.grid.binomial, frequencies, law.close.weights, 400)
    quick = sharpened(law.grid.binomial, frequencies, law.close.weights)
    assert log_likelihood(law, quick) > log_likelihood(law, plain) - 0.1
    noise = points() * (1 - points())
    assert quick @ noise == pytest.approx(plain @ noise, rel=0.02)


def test_pairs_without_problems_may_be_left_out_of_the_steps() -> None:
    counts = np.zeros(201)
    counts[[0, 3, 50, 200]] = [5, 2, 1, 4]
    law = fit_mixture(CountGrid((200,)), counts).pooled
    plain = maximised(law.grid.binomial, counts / 12, law.start, 5)
    assert law.near.weights == pytest.approx((12 * plain + law.start) / 13)


def test_a_stratum_has_a_law_of_its_own_near_that_of_all() -> None:
    rng = np.random.default_rng(3)
    few, many = tally(2, np.full(60, 0.5)), tally(64, rng.choice([0.01, 0.99], 60))
    mixture = fit_mixture(CountGrid((2, 64)), np.concatenate([few, many]))
    noise = points() * (1 - points())
    first, second = (stratum.law for stratum in mixture.strata)
    assert [stratum.cells for stratum in mixture.strata] == [slice(0, 3), slice(3, 68)]
    assert second.near.weights @ noise < 0.03
    assert first.near.weights @ noise > 0.15 > 0.11 > mixture.near.weights @ noise
    assert first.counts.tolist() == few.tolist()


def test_problems_with_equal_trials_are_one_stratum() -> None:
    mixture = fit_mixture(CountGrid((4,)), np.array([3.0, 1, 2, 0, 4]))
    assert [stratum.law for stratum in mixture.strata] == [mixture.pooled]


sizes = st.dictionaries(st.integers(1, 200), st.integers(1, 9), min_size=1)


@pytest.mark.parametrize(
    ("problems", "expected"),
    [
        ({8: 3}, [[8]]),
        ({2: 50, 64: 50}, [[2], [64]]),
        ({2: 50, 64: 4}, [[2, 64]]),  # too few with 64 trials for a law of their own
        ({2: 4, 64: 50}, [[2, 64]]),
        ({1: 5, 2: 3, 3: 2, 4: 1, 7: 4, 8: 2}, [[1], [2, 3], [4, 7, 8]]),
    ],
)
def test_octaves_are_joined_until_they_have_five_problems(
    problems: dict[int, int], expected: list[list[int]]
) -> None:
    ns = list(problems)
    assert [ns[stratum] for stratum in strata_of(ns, list(problems.values()))] == expected


@given(problems=sizes)
def test_every_number_of_trials_is_in_one_stratum(problems: dict[int, int]) -> None:
    ns = sorted(problems)
    found = strata_of(ns, [problems[n] for n in ns])
    assert [n for stratum in found for n in ns[stratum]] == ns
    if len(found) > 1:
        assert all(sum(problems[n] for n in ns[stratum]) >= 5 for stratum in found)
