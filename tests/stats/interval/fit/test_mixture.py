"""The fitted spread of success probabilities."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from passband.stats.interval.fit.count_grid import CountGrid, points
from passband.stats.interval.fit.mixture import Mixture, fit_mixture

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
