"""Notes on numbers of trials that have to do with the outcomes."""

import numpy as np
import pytest

from passband import Outcomes, estimate
from passband.stats.interval.trial_counts import trial_count_notes


def codes(outcomes: Outcomes, k: int = 1, over: str = "problems") -> list[str]:
    return [note.code for note in trial_count_notes(outcomes, k, over)]  # type: ignore[arg-type]


def test_equal_trials_have_none() -> None:
    assert codes(Outcomes.from_counts([0, 3, 4] * 20, 4), over="trials") == []
    assert codes(Outcomes.from_counts([0, 3, 0], [4, 4, 0]), over="trials") == []


def test_problems_left_out_that_are_easier_than_the_rest() -> None:
    outcomes = Outcomes.from_counts([2] * 10 + [1, 2, 0, 1] * 10, [2] * 10 + [8] * 40)
    (note,) = trial_count_notes(outcomes, 4, "problems")
    assert note.code == "left-out-differ"
    assert "10 problems with fewer than 4 trials" in note.text
    assert "their pass@1 is 1.000, that of the others 0.125" in note.text
    assert codes(outcomes, 2) == []  # nothing is left out
    assert note in estimate(outcomes, "pass@4").notes


def test_problems_left_out_that_are_like_the_rest() -> None:
    assert codes(Outcomes.from_counts([1] * 10 + [4] * 40, [2] * 10 + [8] * 40), 4) == []


def test_one_problem_left_out_is_hardly_ever_beyond_chance() -> None:
    outcomes = Outcomes.from_counts([2] + [1, 7] * 20, [2] + [8] * 40)
    assert codes(outcomes, 4) == []


@pytest.mark.parametrize("sign", [1, -1])
def test_trials_that_go_along_with_success(sign: int) -> None:
    n = np.repeat([2, 4, 8, 16], 20)
    rate = np.repeat([0.5, 0.5, 0.75, 1.0][::sign], 20)
    outcomes = Outcomes.from_counts((n * rate).astype(int), n)
    (note,) = trial_count_notes(outcomes, 1, "trials")
    assert note.code == "trials-related"
    assert ("succeeded more often" if sign > 0 else "succeeded less often") in note.text
    assert codes(outcomes) == []  # over problems each counts the same


def test_unrelated_trials_are_rarely_noted() -> None:
    rng = np.random.default_rng(5)
    alarms = 0
    for _ in range(200):
        n = rng.integers(1, 20, 60)
        outcomes = Outcomes.from_counts(rng.binomial(n, rng.beta(0.5, 0.7, 60)), n)
        alarms += codes(outcomes, 1, "trials") != []
    assert alarms <= 2


def test_problems_without_trials_are_left_out_and_counted() -> None:
    outcomes = Outcomes.from_counts([0, 3, 2, 1, 4, 0, 2], [0, 4, 4, 2, 4, 0, 4])
    for metric, left_out in (("pass@1", 2), ("pass@4", 3), ("avg", 2)):
        found = estimate(outcomes, metric, over="trials")
        assert found.left_out == left_out
        assert found.low is not None
        assert found.n_problems == 7 - left_out
