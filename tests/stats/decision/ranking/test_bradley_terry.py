"""Bradley-Terry against closed forms and a general optimiser."""

from math import log

import numpy as np
import pytest

from passband.stats.decision.ranking.ability_models import BradleyTerry
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
