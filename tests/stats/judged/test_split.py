"""The variance of corrected means in three parts, and what to buy next."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from passband.errors import InvalidInput
from passband.stats.judged import Judged, JudgedSplit, Prices, corrected, split_judged
from passband.stats.judged.next_data import Sizes, Variances, purchases
from support.samples.judged_samples import simulated

SIZES = Sizes(200.0, 800.0, 200.0, 200.0, 1.0, "spread")
PARTS = Variances(1 / 12, 1 / 6, 0.0, 0.09, 0.64, None, 0.25)


def test_parts_by_hand() -> None:
    """Uniform problems, a judge right in 9 of 10, 200 problems of 4 trials, one label each."""
    problems, trials, judge = PARTS.parts(SIZES, "problems")
    assert problems == pytest.approx(1 / 2400)
    assert trials == pytest.approx(1 / 4800)
    assert judge == pytest.approx(0.09 * (1 / 200 - 1 / 800))
    assert PARTS.parts(SIZES, "trials")[0] == 0.0
    # the half-width that goes with it, 0.062, is what such intervals measure: 0.119 / 2
    assert 1.96 * PARTS.variance(SIZES, "problems") ** 0.5 == pytest.approx(0.0609, abs=2e-3)


def test_more_votes_by_hand() -> None:
    """Vote noise 0.1 beside 0.15: one vote is reliable to 0.6, two to 0.75, a quarter better."""
    noisy = replace(PARTS, vote=0.1, expected_vote=0.15, explained=0.4)
    assert noisy.reliability(1.0) == pytest.approx(0.6)
    twice = noisy.with_votes(1.0, 2.0)
    assert twice.explained == pytest.approx(0.5)
    assert twice.residual_within == pytest.approx(0.09 * 0.5 / 0.6)


def test_what_is_cheap_is_bought_first() -> None:
    prices = Prices(label=1.0, vote=0.001, trial=0.01, problem=100.0)
    now = PARTS.variance(SIZES, "problems")
    offers = purchases(PARTS, SIZES, "problems", prices, now)
    assert [offer.kind for offer in offers] == ["trials", "labels", "problems"]
    labels = offers[1]
    assert labels.amount == 20
    assert labels.cost == 20.0
    # 20 labels more reach every problem already labelled again: m = 220
    after = 1 / 2400 + 1 / 4800 + 0.09 * (1 / 220 - 1 / 800)
    assert labels.variance == pytest.approx(after)
    assert labels.gain == pytest.approx((now - after) / 20)
    dear = purchases(PARTS, SIZES, "problems", replace(prices, trial=10.0), now)
    assert dear[0].kind == "labels"


def test_without_prices_the_largest_gain_is_first() -> None:
    offers = purchases(PARTS, SIZES, "problems", Prices(), 1.0)
    assert all(offer.gain is None for offer in offers)
    assert all(offer.cost is None for offer in offers)
    variances = [offer.variance for offer in offers]
    assert variances == sorted(variances)


def test_over_trials_no_problems_are_bought() -> None:
    kinds = {offer.kind for offer in purchases(PARTS, SIZES, "trials", Prices(), 1.0)}
    assert kinds == {"labels", "trials"}


def test_a_split_adds_up() -> None:
    split = split_judged(simulated(120, 4, 60, seed=3))
    assert split.se == corrected(simulated(120, 4, 60, seed=3)).se
    shares = (split.share_between, split.share_within, split.share_judge)
    assert sum(share or 0.0 for share in shares) == pytest.approx(1.0)
    assert 1.0 < split.worth < 20.0
    assert "votes-unmeasured" in {note.code for note in split.notes}


def test_a_better_judge_has_a_smaller_share() -> None:
    good, bad = (split_judged(simulated(150, 4, 60, accuracy=a, seed=3)) for a in (0.97, 0.6))
    assert good.share_judge < bad.share_judge
    assert good.explained > bad.explained


def test_vote_noise_is_measured() -> None:
    """Two votes that differ on a quarter of trials: 2/1 * 1/4 on those, 1/8 on average."""
    judged = simulated(100, 2, 60, seed=3)
    score = judged.score.copy()
    score[::4] = 0.5
    split = split_judged(replace(judged, score=score, votes=np.full(200, 2)))
    assert split.vote_variance == pytest.approx(0.125)
    assert split.reliability is not None
    assert 0.0 < split.reliability < 1.0
    assert "votes" in {offer.kind for offer in split.purchases}


def test_given_vote_variances_are_used() -> None:
    judged = simulated(100, 2, 60, seed=3)
    given = np.where(np.arange(200) < 50, 0.04, np.nan)
    votes = np.where(np.arange(200) < 50, 3, 1)
    split = split_judged(replace(judged, votes=votes, vote_variance=given))
    assert split.vote_variance == pytest.approx(0.04)


def test_one_trial_a_problem_is_not_split() -> None:
    split = split_judged(simulated(100, 1, 40))
    assert split.share_between is None
    assert isinstance(split, JudgedSplit)
    assert "no-split-one-trial" in {note.code for note in split.notes}
    assert "judge" in str(split)


def test_graded_labels_are_split() -> None:
    rng = np.random.default_rng(2)
    score = rng.integers(0, 5, 160) / 1.0
    label = np.where(np.arange(160) % 2 == 0, score + rng.normal(0, 1, 160), np.nan)
    judged = Judged.of(np.repeat(range(40), 4), [0, 1, 2, 3] * 40, score, label, design="trial")
    split = split_judged(judged, metric="avg")
    assert 0.3 < split.explained < 0.9


def test_what_cannot_be_split_is_refused() -> None:
    with pytest.raises(InvalidInput, match="only the variance of a mean"):
        split_judged(simulated(), metric="pass@2")
    with pytest.raises(InvalidInput, match="every trial is labelled"):
        split_judged(simulated(30, 2, 30, each=2))
    with pytest.raises(InvalidInput, match="price of a label"):
        Prices(label=-1.0)
