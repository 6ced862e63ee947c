"""Bradley-Terry against closed forms and a general optimiser."""

import itertools
from math import comb, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.stats.decision.ranking.ability_models import BradleyTerry, ConditionalLogit
from passband.stats.decision.ranking.likelihood import fitted


def test_two_models_have_the_log_odds_of_their_wins_and_ties_are_half() -> None:
    values = np.array([[1, 0]] * 7 + [[0, 1]] * 2 + [[0.5, 0.5]] * 2 + [[1, np.nan]] * 3)
    fit = fitted(BradleyTerry(values), np.arange(len(values)))
    assert fit.abilities[0] - fit.abilities[1] == pytest.approx(log(8 / 3))
    # the share 8/11 of wins has the variance of its values over problems, times (1 / pq)^2
    wins = np.array([1] * 7 + [0] * 2 + [0.5] * 2)
    p = 8 / 11
    expected = wins.var() / 11 * (11 / 10) / (p * (1 - p)) ** 2
    assert fit.over_problems[0, 0] * 4 == pytest.approx(expected)


def test_the_wins_of_each_model_are_as_expected() -> None:
    rng = np.random.default_rng(3)
    values = rng.integers(0, 4, (60, 5)) / 3.0 + np.linspace(0, 0.5, 5).round(1)
    values[rng.random(values.shape) < 0.3] = np.nan
    likelihood = BradleyTerry(values)
    fit = fitted(likelihood, np.arange(60))
    away = np.subtract.outer(fit.abilities, fit.abilities)
    games = likelihood.wins + likelihood.wins.T
    assert (games / (1 + np.exp(-away))).sum(axis=1) == pytest.approx(likelihood.wins.sum(axis=1))
    assert likelihood.scores(fit.abilities).sum(axis=0) == pytest.approx(np.zeros(5), abs=1e-6)


def test_a_general_optimiser_finds_no_better() -> None:
    from scipy.optimize import minimize

    rng = np.random.default_rng(4)
    likelihood = BradleyTerry(rng.integers(0, 3, (30, 4)).astype(float))
    twin = minimize(
        lambda a: -likelihood.terms(a - a.mean()).value, np.zeros(4), method="BFGS", tol=1e-10
    )
    fit = fitted(likelihood, np.arange(30))
    assert fit.abilities == pytest.approx(twin.x - twin.x.mean(), abs=1e-4)


def test_blocks_of_problems_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(5).integers(0, 3, (25, 3)).astype(float)
    whole = BradleyTerry(values)
    monkeypatch.setattr("passband.stats.decision.ranking.ability_models._BLOCK", 36)
    parts = BradleyTerry(values)
    assert np.array_equal(whole.wins, parts.wins)
    assert np.array_equal(whole.scores(np.zeros(3)), parts.scores(np.zeros(3)))


def listed(trials: np.ndarray, successes: np.ndarray, abilities: np.ndarray) -> np.ndarray:
    """Return log-likelihood, mean and covariance by listing all counts with the same total."""
    value, mean, covariance = 0.0, np.zeros(len(abilities)), np.zeros((len(abilities),) * 2)
    for n, c in zip(trials, successes, strict=True):
        ways = [w for w in itertools.product(*(range(k + 1) for k in n)) if sum(w) == c.sum()]
        weights = np.array(
            [np.prod([comb(k, x) for k, x in zip(n, w, strict=True)]) for w in ways], float
        ) * np.exp(np.array(ways) @ abilities)
        share = weights / weights.sum()
        here = share @ np.array(ways)
        value += float(abilities @ c) - log(weights.sum())
        mean += here
        covariance += np.array(ways).T @ (np.array(ways) * share[:, None]) - np.outer(here, here)
    return np.concatenate([[value], mean, covariance.ravel()])


@given(st.integers(0, 10_000), st.integers(2, 4))
def test_moments_are_those_of_all_ways_to_share_out_the_total(seed: int, models: int) -> None:
    rng = np.random.default_rng(seed)
    trials = rng.integers(0, 4, (3, models)) * 1
    successes = rng.binomial(trials, 0.5)
    abilities = rng.normal(0, 1.5, models)
    found = ConditionalLogit(trials, successes).terms(abilities)
    expected = listed(trials, successes, abilities)
    assert found.gradient == pytest.approx(successes.sum(axis=0) - expected[1 : models + 1])
    assert found.information.ravel() == pytest.approx(expected[models + 1 :], abs=1e-9)
    other = rng.normal(0, 1, models)
    change = ConditionalLogit(trials, successes).terms(other).value - found.value
    assert change == pytest.approx(listed(trials, successes, other)[0] - expected[0], abs=1e-9)


def test_many_trials_and_far_abilities_stay_exact() -> None:
    trials, successes = np.array([[300, 300], [64, 2]]), np.array([[290, 3], [5, 2]])
    abilities = np.array([2.0, -2.0])
    found = ConditionalLogit(trials, successes).terms(abilities)
    expected = np.zeros(2)
    for n, c in zip(trials, successes, strict=True):
        t = int(c.sum())
        x = np.arange(max(0, t - n[1]), min(n[0], t) + 1)
        logs = [log(comb(n[0], int(k))) + log(comb(n[1], t - int(k))) for k in x]
        weights = np.exp(np.array(logs) + 4.0 * x - max(np.array(logs) + 4.0 * x))
        mean = float(weights @ x / weights.sum())
        expected += c - np.array([mean, t - mean])
    assert found.gradient == pytest.approx(expected, abs=1e-8)


def test_two_models_of_one_trial_have_the_odds_of_the_discordant_problems() -> None:
    # 9 problems that only a solved and 3 that only b solved: log 3; fixed effects would say 2 log 3
    successes = np.array([[1, 0]] * 9 + [[0, 1]] * 3 + [[1, 1]] * 5 + [[0, 0]] * 7)
    fit = fitted(ConditionalLogit(np.ones_like(successes), successes), np.arange(24))
    assert fit.abilities[0] - fit.abilities[1] == pytest.approx(log(3))
    assert fit.over_trials[0, 0] * 4 == pytest.approx(1 / 9 + 1 / 3)  # of the log odds
    assert fit.units == 12


def test_scores_add_up_to_the_gradient_and_vanish_where_nothing_is_told() -> None:
    rng = np.random.default_rng(1)
    trials = rng.integers(0, 5, (40, 3))
    likelihood = ConditionalLogit(trials, rng.binomial(trials, 0.4))
    abilities = np.array([0.5, 0.0, -0.2])
    scores = likelihood.scores(abilities)
    assert scores.sum(axis=0) == pytest.approx(likelihood.terms(abilities).gradient)
    assert scores.sum(axis=1) == pytest.approx(np.zeros(40), abs=1e-9)
    assert not scores[(trials > 0).sum(axis=1) < 2].any()


def test_a_start_from_fewer_problems_ends_at_the_same_abilities() -> None:
    rng = np.random.default_rng(2)
    trials = rng.integers(1, 12, (2500, 3))
    p = 1 / (1 + np.exp(rng.normal(0, 1, (2500, 1)) - np.array([0.3, 0.0, -0.3])))
    likelihood = ConditionalLogit(trials, rng.binomial(trials, p))
    assert likelihood.thinned() is not None
    fit = fitted(likelihood, np.arange(2500))
    assert likelihood.terms(fit.abilities).gradient == pytest.approx(np.zeros(3), abs=1e-5)
