"""Fits: separation, floors and clusters."""

import numpy as np
import pytest

from passband.stats.decision.ranking.ability_models import BradleyTerry, ConditionalLogit
from passband.stats.decision.ranking.likelihood import fitted


def test_a_model_that_always_wins_gets_half_a_loss() -> None:
    fit = fitted(BradleyTerry(np.array([[1.0, 0.0]] * 30)), np.arange(30))
    assert fit.is_separated
    # its ability d/2 around the mean: 30 (1 - s(d)) = 2 * (s(d/2) - 1/2) / 2 for the two halves
    d = fit.abilities[0] - fit.abilities[1]
    wins = 30 / (1 + np.exp(d))
    assert wins == pytest.approx(1 / (1 + np.exp(-d / 2)) - 0.5, rel=1e-6)
    assert 2 < d < 6
    assert fit.bounded.tolist() == [[True, True], [False, True]]


def test_groups_that_are_separated_keep_their_own_order() -> None:
    # a and b trade wins, both always beat c and d, which trade wins
    rows = [[4, 3, 1, 0], [3, 4, 0, 1], [4, 3, 1, 0]] * 5
    fit = fitted(BradleyTerry(np.array(rows, dtype=float)), np.arange(15))
    assert fit.reference().tolist() == [True, True, False, False]
    assert not fit.bounded[2, 0]
    assert fit.bounded[0, 3]
    assert np.all(np.diff(fit.abilities) < 0)


def test_problems_that_fit_by_chance_leave_the_error_of_their_trials() -> None:
    successes = np.array([[1, 1], [2, 2], [3, 3]])
    fit = fitted(ConditionalLogit(np.full((3, 2), 4), successes), np.arange(3))
    away = np.array([1.0, -1.0])
    assert fit.variance(away, "problems") == pytest.approx(fit.variance(away, "trials") / 2)


def test_clusters_of_copies_count_once() -> None:
    rng = np.random.default_rng(6)
    trials = np.full((30, 3), 6)
    successes = rng.binomial(6, rng.beta(2, 2, (30, 3)))
    once = fitted(ConditionalLogit(trials, successes), np.arange(30))
    twice = fitted(
        ConditionalLogit(np.tile(trials, (2, 1)), np.tile(successes, (2, 1))),
        np.tile(np.arange(30), 2),
    )
    assert twice.abilities == pytest.approx(once.abilities)
    assert twice.units == 30
    assert np.diag(twice.over_problems) == pytest.approx(np.diag(once.over_problems))
    assert np.diag(twice.over_trials) == pytest.approx(np.diag(once.over_trials) / 2)
