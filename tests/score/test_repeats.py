"""Repeat aggregation: hand cases, votes, and trials without a score."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.errors import InvalidInput, UnknownName
from passband.score.pipeline import make_scorer
from passband.score.repeats import aggregations, reduce_repeats, register_repeat_aggregation


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("first", 0.0),
        ("mean", 0.5),
        ("max", 1.0),
        ("min", 0.0),
        ("any_correct", 1.0),
        ("all_correct", 0.0),
    ],
)
def test_by_hand(name: str, value: float) -> None:
    assert reduce_repeats(name, [0.0, 1.0, 0.5, 0.5]) == value
    assert reduce_repeats(name, [None, 0.0, 1.0, None]) == (0.5 if name == "mean" else value)


@pytest.mark.parametrize("name", list(aggregations))
def test_without_scores_there_is_no_result(name: str) -> None:
    assert reduce_repeats(name, []) is None
    assert reduce_repeats(name, [None, None], ["a", "b"]) is None


def test_correct_means_at_least_one() -> None:
    assert reduce_repeats("any_correct", [0.99, 0.5]) == 0.0
    assert reduce_repeats("all_correct", [1.0, 1.5]) == 1.0


@pytest.mark.parametrize(
    ("scores", "predictions", "value"),
    [
        ([0.0, 1.0, 1.0], ["5", "4", "4"], 1.0),
        ([1.0, 0.0, 0.0], ["4", "5", "5"], 0.0),
        ([1.0, 0.0, 0.0], ["4", "5", "6"], 1.0),  # a tie: who came first wins
        ([0.0, 1.0, 1.0, 0.0], ["5", "4", "4", "5"], 0.0),
        ([0.0, 0.0, 1.0], [None, None, "4"], 1.0),  # no answer has no vote
        ([0.0, 0.0], [None, None], 0.0),
        ([None, 1.0, None, 0.0, 0.0], ["5", "4", "5", "6", "6"], 0.0),
        ([0.0, 1.0, 1.0], None, 1.0),  # without predictions, scores are voted on
        ([0.0, 1.0], None, 0.0),
    ],
)
def test_majority(
    scores: list[float | None], predictions: list[str | None] | None, value: float
) -> None:
    assert reduce_repeats("majority", scores, predictions) == value


def test_votes_for_the_same_answer_are_counted_together() -> None:
    scores = [0.0, 0.0, 1.0, 1.0, 1.0]
    answers = ["3", "3", "1/2", "0.5", "50%"]
    assert reduce_repeats("majority", scores, answers) == 0.0
    assert reduce_repeats("majority", scores, answers, make_scorer("numeric").same) == 1.0


def test_each_text_is_compared_once() -> None:
    calls: list[tuple[str, str]] = []

    def same(one: str, other: str) -> bool:
        calls.append((one, other))
        return False

    reduce_repeats("majority", [1.0] * 300, ["a", "b", "c"] * 100, same)
    assert len(calls) == 3


@given(st.lists(st.tuples(st.sampled_from("abc"), st.floats(0, 1)), min_size=1))
def test_majority_gives_the_score_of_a_most_common_answer(trials: list[tuple[str, float]]) -> None:
    answers, scores = [a for a, _ in trials], [s for _, s in trials]
    most = max(answers.count(answer) for answer in answers)
    winner = next(answer for answer in answers if answers.count(answer) == most)
    assert reduce_repeats("majority", scores, answers) == scores[answers.index(winner)]


def test_a_registered_function_gets_what_it_asks_for() -> None:
    @register_repeat_aggregation("weighted")
    def weighted(scores, predictions=None, *, power=1, **kwargs):
        assert predictions == ["a", "c"]
        assert kwargs["same"] is None
        weights = [(i + 1) ** power for i in range(len(scores))]
        return sum(s * w for s, w in zip(scores, weights, strict=True)) / sum(weights)

    try:
        scores, answers = [1.0, None, 0.0], ["a", "b", "c"]
        assert reduce_repeats("weighted", scores, answers) == pytest.approx(1 / 3)
        found = reduce_repeats("weighted", scores, answers, options={"power": 2})
        assert found == pytest.approx(1 / 5)
    finally:
        aggregations.remove("weighted")


def test_a_function_of_scores_alone_will_do() -> None:
    register_repeat_aggregation("median")(lambda scores: sorted(scores)[len(scores) // 2])
    register_repeat_aggregation("none")(lambda scores: float("nan"))
    try:
        assert reduce_repeats("median", [0.0, 1.0, 0.5], ["a", "b", "c"]) == 0.5
        with pytest.raises(InvalidInput, match="finite number; got nan"):
            reduce_repeats("none", [1.0])
    finally:
        aggregations.remove("median")
        aggregations.remove("none")


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'majority'"):
        reduce_repeats("majorty", [1.0])
    with pytest.raises(InvalidInput, match="1 scores, but 2 predictions"):
        reduce_repeats("majority", [1.0], ["a", "b"])
    with pytest.raises(InvalidInput, match="no option 'k'"):
        reduce_repeats("mean", [1.0], options={"k": 1})
