"""Accuracy of a bank: by hand, at the ends, and under repetition."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtrit

from passband.errors import InvalidInput, NotEnoughData
from passband.stats.irt.accuracy import bank_accuracy, stratum_accuracy
from passband.stats.irt.items import Items
from passband.stats.irt.posterior import AbilityPosterior, Grid
from passband.stats.irt.responses import ItemEvidence
from support.samples.irt_banks import bank, banks, scores, thetas


def test_all_items_count_as_expected() -> None:
    """The mean of expected scores over the prior, and its spread; no noise of scores."""
    items = bank("2pl", 30)
    nodes = np.linspace(-6, 6, 4001)
    prior = np.exp(-nodes * nodes / 2)
    prior /= prior.sum()
    means = items.expected(nodes).mean(axis=0)
    found = bank_accuracy(AbilityPosterior(Grid.of(items)))
    assert found.value == pytest.approx(prior @ means)
    assert found.se == pytest.approx(np.sqrt(prior @ (means - prior @ means) ** 2), rel=1e-6)
    assert found.low == pytest.approx(items.expected(np.array([-1.959964])).mean(), abs=1e-4)
    assert found.high == pytest.approx(items.expected(np.array([1.959964])).mean(), abs=1e-4)


def test_scores_move_the_ability_and_are_not_added_up() -> None:
    """With infinitely many trials of one item the accuracy is known, whatever was asked."""
    items = Items("2pl", a=np.array([1.0, 2.0]), b=np.array([0.0, 1.0]))
    posterior = AbilityPosterior(Grid.of(items))
    posterior.add(ItemEvidence(0, 0.5, 10**6))
    found = bank_accuracy(posterior)
    expected = (0.5 + 1 / (1 + np.exp(2))) / 2
    assert (found.value, found.low, found.high) == pytest.approx((expected,) * 3, abs=0.005)
    assert (found.n_seen, found.n_items) == (1, 2)


@given(banks, thetas, st.integers(0, 2**32 - 1), st.integers(0, 8))
def test_values_lie_within_what_can_be(items: Items, theta: float, seed: int, some: int) -> None:
    got = scores(items, theta, np.random.default_rng(seed)).tolist()
    posterior = AbilityPosterior(Grid.of(items))
    posterior.extend([ItemEvidence(i, score) for i, score in enumerate(got[:some])])
    found = bank_accuracy(posterior)
    assert 0 <= found.low <= found.value <= found.high <= 1
    json.dumps(found.as_json(), allow_nan=False)


def test_scores_against_the_model_are_noted() -> None:
    items = Items("2pl", a=np.array([2.0] * 40), b=np.linspace(-3, 3, 40))
    posterior = AbilityPosterior(Grid.of(items))
    posterior.extend(
        [ItemEvidence(i, float(i >= 20)) for i in range(40)]
    )  # fails only the easy ones
    assert [note.code for note in bank_accuracy(posterior).notes] == ["model-accuracy", "misfit"]


@pytest.mark.parametrize("difficulty", [-3.0, 0.0, 4.0])
def test_scores_from_the_model_are_seldom_noted(difficulty: float) -> None:
    """At most 1 % of models that are as the items say, on easy, fitting and hard banks alike."""
    rng = np.random.default_rng(11)
    items = Items("2pl", a=1.5 * rng.lognormal(0, 0.2, 200), b=rng.normal(difficulty, 1.0, 200))
    grid, noted = Grid.of(items), 0
    for _ in range(400):
        right = rng.random(200) < items.expected(rng.normal())
        posterior = AbilityPosterior(grid)
        posterior.extend(
            [ItemEvidence(i, float(right[i])) for i in rng.choice(200, 20, False).tolist()]
        )
        noted += len(bank_accuracy(posterior).notes) > 1
    assert noted <= 10  # P = 0.003 at a rate of 1 %


@pytest.mark.parametrize("size", [7, 10, 49])
def test_all_right_is_not_taken_for_certainty(size: int) -> None:
    """Wilson with t quantiles, whatever the weights add up to: n / (n + t²)."""
    found = stratum_accuracy([1.0] * size, [size / 200] * size, 200)
    t = stdtrit(size - 1, 0.975)
    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx(size / (size + t * t))


def test_a_random_stratum_by_hand() -> None:
    """Σ y/π / Σ 1/π: (1/0.1 + 0 + 1/0.5) / (1/0.1 + 1/0.2 + 1/0.5) = 12/17."""
    found = stratum_accuracy([1, 0, 1], [0.1, 0.2, 0.5], 100)
    assert found.value == pytest.approx(12 / 17)
    assert found.low < found.value < found.high
    assert [note.code for note in found.notes] == ["few-random"]


def test_a_stratum_of_the_whole_bank_has_the_noise_of_its_trials() -> None:
    """Wilson with t = 3.182: of one trial each, as many trials as items."""
    found = stratum_accuracy([1, 0, 1, 1], [1.0] * 4, 4)
    t = stdtrit(3, 0.975)
    trials = 4
    half = t * np.sqrt(0.75 * 0.25 / trials + t * t / (4 * trials**2)) / (1 + t * t / trials)
    assert found.low == pytest.approx((0.75 + t * t / (2 * trials)) / (1 + t * t / trials) - half)
    many = stratum_accuracy([0.9, 0.1, 0.6, 0.4], [1.0] * 4, 4, trials=100_000)
    assert (many.low, many.high) == pytest.approx((0.5, 0.5), abs=0.01)


@pytest.mark.parametrize("trials", [1, 4])
@pytest.mark.parametrize("drawn", [15, 30, 60])
def test_random_items_cover_the_expected_accuracy(drawn: int, trials: int) -> None:
    """Whatever the respondent knows by heart; 200 sets of a bank of 60."""
    rng = np.random.default_rng(6)
    held = 0
    for _ in range(200):
        rates = np.where(rng.random(60) < 0.2, 1.0, rng.beta(1, 1, 60))
        y = rng.binomial(trials, rates) / trials
        some = rng.choice(60, drawn, replace=False)
        found = stratum_accuracy(y[some], [drawn / 60] * drawn, 60, trials=trials)
        held += found.low <= rates.mean() <= found.high
    assert held >= 181  # P = 0.002 at a coverage of .95


@given(st.lists(st.floats(0, 1), min_size=2, max_size=40), st.integers(0, 500), st.floats(0.01, 1))
def test_a_stratum_stays_within_bounds(got: list[float], more: int, chance: float) -> None:
    found = stratum_accuracy(got, [chance] * len(got), len(got) + more)
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert found.low < found.high


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([1], [0.5], 10), NotEnoughData, "at least two"),
        (([1, 0], [0.5], 10), InvalidInput, "each score needs its probability"),
        (([1, 0], [0.5, 0.0], 10), InvalidInput, "above 0 and at most 1"),
        (([1, 2], [0.5, 0.5], 10), InvalidInput, "between 0 and 1"),
        (([1, 0, 1], [0.5] * 3, 2), InvalidInput, "more than the bank has"),
    ],
)
def test_what_is_refused(arguments: tuple, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        stratum_accuracy(*arguments)
