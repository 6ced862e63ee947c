"""Judged trials: what is taken, and what is refused at the door."""

import copy
import pickle

import numpy as np
import pytest

from passband.errors import InvalidInput, WrongType
from passband.stats.judged import Judged


def test_rows_are_sorted_by_problem_and_trial() -> None:
    judged = Judged.of(["b", "a", "a"], [0, 1, 0], [1, None, 0.4], [1, None, 0], votes=[1, 2, 3])
    assert judged.problems == ("a", "b")
    assert judged.problem.tolist() == [0, 0, 1]
    assert judged.trial.tolist() == [0, 1, 0]
    assert judged.verdict.tolist() == [0, 2, 1]
    assert judged.votes is not None
    assert judged.votes.tolist() == [3, 2, 1]
    assert (judged.n_problems, judged.n_trials, judged.n_labels, judged.n_failed) == (2, 3, 2, 1)


def test_a_score_at_the_threshold_passes() -> None:
    assert Judged.of(["a"] * 3, [0, 1, 2], [0.49, 0.5, 0.51]).verdict.tolist() == [0, 1, 1]
    assert Judged.of(["a"], [0], [3.0], threshold=3.5).verdict.tolist() == [0]


def test_a_trial_that_comes_twice_is_refused() -> None:
    with pytest.raises(InvalidInput, match="trial 1 of 'a' comes twice"):
        Judged.of(["a", "b", "a"], [1, 1, 1], [0, 0, 1])


def test_wrong_lengths_and_values_are_refused() -> None:
    with pytest.raises(InvalidInput, match="score must have 2 entries"):
        Judged.of(["a", "b"], [0, 0], [1.0])
    with pytest.raises(WrongType, match="label must be numbers"):
        Judged.of(["a"], [0], [1.0], ["yes"])
    with pytest.raises(InvalidInput, match="infinity"):
        Judged.of(["a"], [0], [np.inf])
    with pytest.raises(InvalidInput, match="whole numbers"):
        Judged.of(["a"], [0.5], [1.0])
    with pytest.raises(InvalidInput, match="at least one trial"):
        Judged.of([], [], [])
    with pytest.raises(InvalidInput, match="votes must be at least 1"):
        Judged.of(["a"], [0], [1.0], votes=0)


def test_an_unknown_design_is_refused() -> None:
    with pytest.raises(InvalidInput, match="design must be one of 'spread'"):
        Judged.of(["a"], [0], [1.0], design="random")  # type: ignore[arg-type]


def test_it_is_a_value() -> None:
    judged = Judged.of(["a", "b"], [0, 0], [1, 0], [1, None])
    again = pickle.loads(pickle.dumps(judged))
    assert again == judged == copy.copy(judged)
    assert hash(again) == hash(judged)
    assert again != Judged.of(["a", "b"], [0, 0], [1, 0], [1, 0])
    with pytest.raises(ValueError, match="read-only"):
        judged.score[0] = 0.0
