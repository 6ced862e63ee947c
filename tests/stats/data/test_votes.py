"""Votes as data: counted, taken, padded, cut at a threshold, and made from rows of answers."""

import pickle
from typing import Any

import numpy as np
import pytest

from passband import InvalidInput, Outcomes
from passband.errors import WrongType
from passband.stats.data.answers import answer_text
from passband.stats.data.votes import SILENT, number_answers

ANSWERS: list[Any] = [["4", "5", "4", None], ["x", "x", "y", "z"], [None, None, None, None]]
OUTCOMES = Outcomes.from_answers(ANSWERS, targets=["4", "y", "q"])


def groups(outcomes: Outcomes) -> list[tuple[int, int, int]]:
    found = outcomes.required_votes().groups
    return list(zip(found.problem.tolist(), found.size.tolist(), found.right.tolist(), strict=True))


def test_answers_are_counted_by_problem() -> None:
    assert groups(OUTCOMES) == [(0, 2, 2), (0, 1, 0), (1, 2, 0), (1, 1, 1), (1, 1, 0)]
    assert OUTCOMES.required_votes().groups.silent.tolist() == [1, 0, 4]
    assert OUTCOMES.successes is not None
    assert OUTCOMES.successes.tolist() == [2, 1, 0]


def test_outcomes_with_votes_travel_and_compare() -> None:
    again = pickle.loads(pickle.dumps(OUTCOMES))
    assert again == OUTCOMES
    assert hash(again) == hash(OUTCOMES)
    assert again != Outcomes.from_answers(ANSWERS, targets=["4", "x", "q"])


def test_votes_go_along_with_their_problems() -> None:
    assert groups(OUTCOMES.take(np.array([1]))) == [(0, 2, 0), (0, 1, 1), (0, 1, 0)]


def test_unscored_trials_have_no_vote_and_under_fail_are_silent() -> None:
    outcomes = Outcomes.from_answers([["a", "b", "b"]], [[1, 0, None]])
    assert groups(outcomes) == [(0, 1, 1), (0, 1, 0)]
    failed = outcomes.under("fail")
    assert groups(failed) == groups(outcomes)
    assert failed.required_votes().groups.silent.tolist() == [1]


def test_no_answer_that_is_right_votes() -> None:
    outcomes = Outcomes.from_answers([[None, None, "a"]], [[1, 0, 0]])
    assert groups(outcomes) == [(0, 1, 1), (0, 1, 0)]
    assert outcomes.required_votes().groups.silent.tolist() == [1]


def test_votes_must_belong_to_the_scores() -> None:
    with pytest.raises(InvalidInput, match="as many trials"):
        Outcomes(["a"], np.array([2]), np.array([1]), votes=OUTCOMES.take(np.array([0])).votes)


def test_each_text_is_compared_once() -> None:
    calls = []

    def same(one: str, other: str) -> bool:
        calls.append((one, other))
        return float(one) == float(other)

    assert number_answers(["1", "1.0", None, "2", "1.0", "1"], same) == [0, 0, SILENT, 1, 0, 0]
    assert calls == [("1", "1.0"), ("1", "2")]


@pytest.mark.parametrize("empty", [None, float("nan"), "", "  ", "None", "nan", [], "[invalid]"])
def test_what_is_no_answer(empty: object) -> None:
    assert answer_text(empty) is None


def test_targets_are_compared_as_answers_are() -> None:
    outcomes = Outcomes.from_answers([[7, 7.0, " 7", "8"]], targets=[7])
    assert groups(outcomes) == [(0, 3, 3), (0, 1, 0)]
    same = Outcomes.from_answers(
        [["7.0", "8"]], targets=["7"], same=lambda a, b: float(a) == float(b)
    )
    assert groups(same) == [(0, 1, 1), (0, 1, 0)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([["a"]],), "give scores"),
        (([["a"]], [[1, 0]]), "shape of answers"),
        (([["a"]], ["a"]), "give targets="),
        ((["ab"], [[1, 0]]), "row of answers"),
    ],
)
def test_rows_that_do_not_match_are_refused(arguments: tuple, message: str) -> None:
    with pytest.raises((InvalidInput, WrongType), match=message):
        Outcomes.from_answers(*arguments)


@pytest.mark.parametrize("targets", ["a", ["a", "b"], [None]])
def test_targets_that_do_not_match_are_refused(targets: object) -> None:
    with pytest.raises(InvalidInput, match="target"):
        Outcomes.from_answers([["a"]], targets=targets)  # type: ignore[arg-type]


def test_answers_and_scores_that_are_missing_or_no_numbers() -> None:
    found = Outcomes.from_answers([["a", "b", "a"]], [[1, float("nan"), None]])
    assert (found.n_trials, found.n_unscored) == (1, 2)
    arrays = Outcomes.from_answers([[np.array([1, 2]), np.array([1, 2])]], [[1, 0]])
    assert arrays.required_votes().groups.size.tolist() == [2]
    for scores in ([["1"]], [["right"]]):
        with pytest.raises(WrongType, match="scores must be numbers or None; got '"):
            Outcomes.from_answers([["a"]], scores)
    with pytest.raises(WrongType, match="targets must be a list"):
        Outcomes.from_answers([["a"]], targets=iter("a"))  # type: ignore[arg-type]
