"""The three fits to counts: near, close and sharp."""

import numpy as np
import pytest

from passband.stats.interval.fit.count_grid import CountGrid, points
from passband.stats.interval.fit.mixture import Law, fit_mixture, maximised, sharpened
from passband.types import Floats


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
