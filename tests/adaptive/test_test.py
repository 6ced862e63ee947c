"""Adaptive tests: the path, the stops, and what is known at the end."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.adaptive.design import Design
from passband.adaptive.test import AdaptiveTest, grid_of, replayed
from passband.errors import InvalidInput, UnknownName
from passband.stats.irt.items import Items
from support.fuzz.properties import one_in
from support.samples.banks import bank, complete, of_parameters, respondent

BANK = bank()


def path(test: AdaptiveTest) -> list[str]:
    return [step.key for step in test.history]


def test_three_items_worked_by_hand() -> None:
    """With equal slopes the item nearest to theta tells most.

    After a right answer on b=0 theta is positive, so b=1 is nearer than b=-1.5; after a wrong one
    it is the other way round.
    """
    items = of_parameters(Items("2pl", np.array([1.0, 1.0, 1.0]), np.array([1.0, 0.0, -1.5])))
    for score, second in ((1.0, "i0"), (0.0, "i2")):
        test = AdaptiveTest(items)
        (choice,) = test.next()
        assert choice == ("i1", "most information at theta +0.00", False, None)
        assert test.next() == []
        test.answer("i1", score)
        # posterior mean of N(0, 1) times one logistic curve: the integral of 2 t phi(t) s(t)
        t = np.linspace(-9, 9, 20001)
        weight = np.exp(-t * t / 2) / (1 + np.exp(-t if score else t))
        assert test.theta == pytest.approx((t * weight).sum() / weight.sum(), abs=1e-6)
        assert [choice.key for choice in test.next()] == [second]
        assert test.history[0].information == pytest.approx(0.25)


@pytest.mark.parametrize("selection", ["information", "kl", "randomesque", "random"])
def test_the_same_seed_and_answers_give_the_same_path(selection: str) -> None:
    design = Design(selection=selection, max_items=20, se=0.1)  # type: ignore[arg-type]
    answer = respondent(BANK, 0.5)
    one, other, third = (complete(AdaptiveTest(BANK, design, s), answer) for s in "aab")
    assert one.history == other.history
    assert len(set(path(one))) == 20
    assert (path(one) == path(third)) == (selection in ("information", "kl"))


def test_the_order_of_answers_within_a_batch_does_not_matter() -> None:
    design = Design(batch=3, max_items=9, se=0.01, selection="randomesque")
    answer = respondent(BANK, 0.0)
    histories = []
    for order in itertools.permutations(range(3)):
        test = AdaptiveTest(BANK, design, "seed")
        while choices := test.next():
            assert len(choices) == 3
            for place in order:
                assert test.next() == []
                test.answer(choices[place].key, answer(choices[place].key))
        histories.append(test.history)
    assert all(history == histories[0] for history in histories)


@one_in(4)
@given(st.integers(0, 14), st.integers(1, 4), st.sampled_from(["information", "randomesque"]))
def test_replaying_any_part_leads_to_the_same_end(stop: int, batch: int, selection: str) -> None:
    design = Design(batch=batch, max_items=15, se=0.05, selection=selection, random_share=0.3)  # type: ignore[arg-type]
    answer = respondent(BANK, 1.0)
    whole = complete(AdaptiveTest(BANK, design, "s"), answer)
    known = {key: (answer(key), 1) for key in path(whole)[:stop]}
    again = replayed(BANK, design, "s", known)
    for choice in again.outstanding:
        again.answer(choice.key, answer(choice.key))
    assert complete(again, answer).history == whole.history


# -- stops -------------------------------------------------------------------------------------


def test_stops() -> None:
    answer = respondent(BANK, 0.2)
    runs = {
        "se": Design(se=0.4),
        "max_items": Design(se=0.01, max_items=5),
        "budget": Design(se=0.01, max_trials=7, trials=2),
        "bank is exhausted": Design(se=0.01),
        "stability": Design(se=None, stability=(3, 0.2)),  # type: ignore[arg-type]
    }
    for reason, design in runs.items():
        test = AdaptiveTest(BANK, design)
        while choices := test.next():
            test.answer(choices[0].key, [answer(choices[0].key)] * design.trials)
        assert test.stop == reason
        assert test.next() == []
    assert AdaptiveTest(BANK, Design(se=0.4)).stop is None


def test_stops_hold_when_they_say_so() -> None:
    answer = respondent(BANK, 0.2)
    exact = complete(AdaptiveTest(BANK, Design(se=0.4)), answer)
    assert exact.se <= 0.4 < exact.history[-2].se
    longer = complete(AdaptiveTest(BANK, Design(se=0.4, min_items=25)), answer)
    assert longer.n_items == 25
    stable = complete(AdaptiveTest(BANK, Design(se=None, stability=(3, 0.2))), answer)  # type: ignore[arg-type]
    thetas = [step.theta for step in stable.history[-4:]]
    assert max(thetas) - min(thetas) <= 0.2
    spent = AdaptiveTest(BANK, Design(se=0.01, max_trials=7, trials=2))
    assert complete(spent, answer).n_items == 3


def test_a_budget_below_one_item_is_refused() -> None:
    with pytest.raises(InvalidInput, match="does not pay for one item of 4"):
        AdaptiveTest(BANK, Design(max_trials=3, trials=4))


# -- ability -----------------------------------------------------------------------------------


@pytest.mark.parametrize("score", [0.0, 1.0])
def test_all_right_and_all_wrong_have_a_finite_ability(score: float) -> None:
    test = complete(AdaptiveTest(BANK, Design(se=0.01)), lambda key: score)
    assert test.n_items == 60
    ability = test.ability()
    assert math.isfinite(ability.theta)
    assert (ability.theta > 1.5) if score else (ability.theta < -1.5)
    assert ability.low < ability.theta < ability.high


def test_one_item_is_a_test() -> None:
    one = of_parameters(Items("1pl", np.array([1.0]), np.array([0.0])))
    test = complete(AdaptiveTest(one), lambda key: 1.0)
    assert (test.n_items, test.stop) == (1, "bank is exhausted")
    assert 0 < test.theta < 1


def test_an_item_without_a_score_is_asked_and_says_nothing() -> None:
    test = complete(AdaptiveTest(BANK, Design(max_items=4)), lambda key: None)
    assert (test.n_items, test.stop) == (4, "max_items")
    assert (test.theta, test.se) == (0.0, 1.0)
    assert [step.score for step in test.history] == [None] * 4


def test_repeats_are_evidence_and_correlated_ones_are_less() -> None:
    items = Items("2pl", np.array([1.0]), np.array([0.0]))
    spread = []
    for rho in (0.0, 0.5, 1.0):
        test = AdaptiveTest(of_parameters(items, rho=rho, hash=""), Design(trials=4))
        test.next()
        test.answer("i0", [1, 1, 0, 1])
        assert test.history[0][2:4] == (0.75, 4)
        spread.append(test.se)
    assert spread == sorted(spread)
    assert spread[0] < spread[2]


def test_grades_are_evidence_one_by_one() -> None:
    graded = of_parameters(Items("graded", np.array([1.5]), steps=np.array([[-1.0, 1.0]])))
    test = AdaptiveTest(graded, Design(trials=2))
    test.next()
    with pytest.raises(InvalidInput, match=r"must be one of 0, 0.5, 1; got 0.3"):
        test.answer("i0", [0.5, 0.3])
    test.answer("i0", [0.5, 1.0])
    assert test.theta > 0


@pytest.mark.parametrize("score", [1.5, -0.1, float("nan")])
def test_impossible_scores_are_refused(score: float) -> None:
    test = AdaptiveTest(BANK)
    (choice,) = test.next()
    with pytest.raises(InvalidInput, match="between 0 and 1"):
        test.answer(choice.key, score)
    assert test.outstanding == [choice]


def test_answers_to_other_items_are_refused() -> None:
    test = AdaptiveTest(BANK)
    (choice,) = test.next()
    with pytest.raises(UnknownName, match="no item 'i0300'"):
        test.answer("i0300", 1.0)
    other = next(item.key for item in BANK.items if item.key != choice.key)
    with pytest.raises(InvalidInput, match=f"not waiting for an answer; waiting: '{choice.key}'"):
        test.answer(other, 1.0)
    test.answer(choice.key, 1.0)
    with pytest.raises(InvalidInput, match="waiting: none"):
        test.answer(choice.key, 1.0)


def test_a_test_is_of_one_split() -> None:
    with pytest.raises(InvalidInput, match="a test is of one split"):
        AdaptiveTest(bank(6, splits=("a", "b")))


# -- the random stratum ------------------------------------------------------------------------


def test_a_bank_that_was_asked_whole_is_a_random_sample() -> None:
    """Its accuracy needs no model, and has the noise of its answers."""
    test = complete(AdaptiveTest(BANK, Design(se=0.01)), lambda key: float(hash_of(key) % 3 > 0))
    found = test.random_accuracy()
    assert found is not None
    scores = [step.score or 0.0 for step in test.history]
    assert len(scores) == len(BANK.items) == found.n_seen
    assert found.value == pytest.approx(sum(scores) / len(scores))
    assert found.low < found.value - 0.05
    assert found.high > found.value + 0.05
    assert (
        complete(AdaptiveTest(BANK, Design(max_items=9)), lambda key: 1.0).random_accuracy() is None
    )


def hash_of(key: str) -> int:
    return sum(map(ord, key))


def test_the_random_stratum_is_always_complete() -> None:
    design = Design(se=0.6, max_items=20, random_share=0.25, batch=2)
    for seed in map(str, range(20)):
        test = complete(AdaptiveTest(BANK, design, seed), respondent(BANK, 0.0))
        random = [step for step in test.history if step.is_random]
        assert test.stop == "se"
        assert len(random) == 5
        assert {step.probability for step in random} == {5 / 60}
        assert all(step.probability is None for step in test.history if not step.is_random)


def test_every_item_is_in_the_random_stratum_equally_often() -> None:
    """1,000 tests of 60 items, 6 in the stratum: counts are 100 ± 9.5, and 4.5 of them is 43."""
    counts = dict.fromkeys((item.key for item in BANK.items), 0)
    design = Design(max_items=12, random_share=0.5)
    grid = grid_of(BANK, design)
    for seed in range(1000):
        test = AdaptiveTest(BANK, design, f"seed {seed}", grid=grid)
        for place in test._selector.stratum:
            counts[BANK.items[place].key] += 1
    assert max(abs(count - 100) for count in counts.values()) < 43


def test_the_random_stratum_does_not_depend_on_answers() -> None:
    design = Design(se=0.5, max_items=20, random_share=0.3)
    strata = [
        {s.key for s in complete(AdaptiveTest(BANK, design, "s"), answer).history if s.is_random}
        for answer in (respondent(BANK, -2.0), respondent(BANK, 2.0))
    ]
    assert strata[0] == strata[1]
    assert len(strata[0]) == 6
