"""Selection rules: what they choose, and what they never choose."""

from collections import Counter

import numpy as np
import pytest

from passband.adaptive.design import Design
from passband.adaptive.selection import item_information, most_items
from passband.adaptive.test import AdaptiveTest
from passband.errors import InvalidInput
from passband.stats.irt.items import Items, information, kl_information
from support.samples.banks import bank, complete, respondent

BANK = bank()


def test_the_first_item_is_the_most_informative_where_the_test_starts() -> None:
    for start in ("prior", -2.0, 1.5):
        (choice,) = AdaptiveTest(BANK, Design(start=start)).next()
        theta = 0.0 if start == "prior" else float(start)
        best = int(np.argmax(information(BANK.parameters, theta)))
        assert choice.key == BANK.items[best].key
        assert choice.reason == f"most information at theta {theta:+.2f}"


def test_each_item_is_the_best_of_those_left() -> None:
    answer = respondent(BANK, 0.7)
    for rule in ("information", "kl"):
        test = AdaptiveTest(BANK, Design(selection=rule, max_items=15, se=0.01))
        taken: list[int] = []
        while choices := test.next():
            worth = information(BANK.parameters, test.theta)
            if rule == "kl":
                worth = kl_information(BANK.parameters, test.theta, 3 / np.sqrt(len(taken) + 1))
            worth[taken] = -1.0
            place = BANK.position[choices[0].key]
            assert worth[place] >= worth.max() * 0.99  # what a grid keeps is that exact
            taken.append(place)
            test.answer(choices[0].key, answer(choices[0].key))


def test_randomesque_draws_from_the_best_few() -> None:
    design = Design(selection="randomesque", randomesque=5)
    firsts = Counter(AdaptiveTest(BANK, design, str(seed)).next()[0].key for seed in range(200))
    best = np.argsort(-information(BANK.parameters, 0.0))[:5]
    assert set(firsts) == {BANK.items[place].key for place in best}
    assert min(firsts.values()) > 15


def test_first_items_can_be_random() -> None:
    design = Design(start="random", start_items=2)
    tests = [AdaptiveTest(BANK, design, str(seed)) for seed in range(100)]
    choices = [test.next()[0] for test in tests]
    assert len({choice.key for choice in choices}) > 30
    assert {choice.reason for choice in choices} == {"first items are drawn at random"}
    tests[0].answer(choices[0].key, 1.0)
    assert tests[0].next()[0].reason == "first items are drawn at random"


def test_content_keeps_to_its_shares() -> None:
    shares = {"easy": 0.5, "middle": 0.25, "hard": 0.25}
    design = Design(content=shares, max_items=20, se=0.01)
    test = complete(AdaptiveTest(BANK, design), respondent(BANK, 0.0))
    seen = [BANK.item(step.key).content for step in test.history]
    for length in range(1, 21):
        counts = Counter(seen[:length])
        assert all(abs(counts[area] - share * length) < 1 for area, share in shares.items())
    assert test.history[3].reason.endswith("so far)")


def test_content_that_is_used_up_ends_the_test() -> None:
    test = complete(AdaptiveTest(BANK, Design(content={"hard": 1.0}, se=0.01)), lambda key: 1.0)
    assert (test.stop, test.n_items) == ("bank is exhausted", 20)
    with pytest.raises(InvalidInput, match="no item has the content 'soft'; the bank has easy"):
        AdaptiveTest(BANK, Design(content={"soft": 1.0}))


def test_no_item_is_in_more_tests_than_the_cap() -> None:
    """400 tests, a cap of 0.2: a count above 80 + 4.5 · 8 = 116 would not be chance."""
    seen: Counter[str] = Counter()
    for seed in range(400):
        test = AdaptiveTest(BANK, Design(exposure=0.2, max_items=3, se=0.01), str(seed))
        seen.update(step.key for step in complete(test, lambda key: 1.0).history)
    assert max(seen.values()) < 116
    assert seen.total() == 1200
    free: Counter[str] = Counter()
    for seed in range(20):
        free.update(c.key for c in AdaptiveTest(BANK, Design(), str(seed)).next())
    assert max(free.values()) == 20


def test_a_cap_that_leaves_nothing_is_refused() -> None:
    with pytest.raises(InvalidInput, match="leaves this test none of 60 items"):
        AdaptiveTest(BANK, Design(exposure=1e-9))


@pytest.mark.parametrize(
    "items",
    [
        Items(
            "3pl", np.array([0.5, 2.0, 3.0]), np.array([-1.0, 0.0, 9.0]), np.array([0.2, 0.0, 0.3])
        ),
        Items("continuous", np.array([1.0, 2.0]), np.array([0.0, 1.0]), phi=np.array([0.3, 1.0])),
        Items("graded", np.array([1.0]), steps=np.array([[-1.0, 0.5]])),
        Items("2pl", np.array([8.0]), np.array([500.0])),
    ],
)
def test_the_information_of_one_item_is_that_of_all(items: Items) -> None:
    for theta in (-3.0, 0.0, 1.3):
        one_by_one = [item_information(items, at, theta) for at in range(len(items))]
        np.testing.assert_allclose(one_by_one, information(items, theta), rtol=1e-9, atol=1e-300)


def test_the_most_items_of_a_test() -> None:
    assert most_items(Design(), 60) == 60
    assert most_items(Design(max_items=70), 60) == 60
    assert most_items(Design(max_items=30, max_trials=29, trials=3), 60) == 9
