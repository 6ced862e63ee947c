"""Votes against all subsets in fractions, by hand, and where answers are missing or contradict."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband import InvalidInput, Outcomes, bounds, curve, extrapolate, measure, measure_all
from passband.stats.data.votes import Votes
from passband.stats.metric.votes import MOST_VOTES, vote_table, winning_curves
from support.fuzz.properties import one_in


def all_subsets(answers: Sequence[str | None], scores: Sequence[int]) -> list[Fraction]:
    """The vote at every k, from its definition: every subset, ties shared."""
    values = []
    for k in range(1, len(answers) + 1):
        subsets = list(combinations(zip(answers, scores, strict=True), k))
        values.append(sum(map(one_vote, subsets), Fraction(0)) / len(subsets))
    return values


def one_vote(trials: Sequence[tuple[str | None, int]]) -> Fraction:
    voting = [(answer, score) for answer, score in trials if answer is not None or score]
    votes = Counter(answer for answer, _ in voting)
    winners = [answer for answer, count in votes.items() if count == max(votes.values())]
    shares = [
        Fraction(sum(score for one, score in voting if one == answer), votes[answer])
        for answer in winners
    ]
    return sum(shares, Fraction(0)) / len(winners) if winners else Fraction(0)


def table(answers: Sequence[Sequence[str | None]], scores: Sequence[Sequence[int]]) -> np.ndarray:
    outcomes = Outcomes.from_answers(answers, scores)
    return vote_table(outcomes.required_votes(), outcomes.most_trials())


trials = st.lists(st.sampled_from(["1", "2", "3", "4", "5", "6", None]), min_size=1, max_size=10)


@one_in(2)
@given(answers=trials, right=st.sets(st.sampled_from(["1", "2", None]), min_size=1))
def test_every_k_is_the_mean_over_all_subsets(
    answers: list[str | None], right: set[str | None]
) -> None:
    scores = [int(answer in right) for answer in answers]
    expected = all_subsets(answers, scores)
    found = table([answers], [scores])[0]
    for value, exact in zip(found, expected, strict=True):
        assert value == pytest.approx(float(exact), rel=1e-12, abs=0)


@one_in(4)
@given(answers=trials, data=st.data())
def test_answers_with_different_scores_are_right_in_their_share(
    answers: list[str | None], data: st.DataObject
) -> None:
    scores = [data.draw(st.integers(0, 1)) if answer else 0 for answer in answers]
    # the expected share of a group's drawn trials that are right is that of the group
    expected = [float(value) for value in all_subsets(answers, scores)]
    assert table([answers], [scores])[0].tolist() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("sizes", [(5, 3, 2, 1, 1), (4, 4, 4), (2, 5, 5), (1, 2, 3, 4, 2), (6, 6)])
def test_twelve_trials_and_up_to_six_answers(sizes: tuple[int, ...]) -> None:
    answers = [str(number) for number, size in enumerate(sizes) for _ in range(size)]
    scores = [int(answer == "0") for answer in answers]
    found = table([answers], [scores])[0]
    expected = [float(value) for value in all_subsets(answers, scores)]
    assert found.tolist() == pytest.approx(expected, rel=1e-12, abs=0)


def test_a_problem_by_hand() -> None:
    # of the three pairs of 4, 4, 5, one is 4 and 4, and two are ties
    assert table([["4", "4", "5"]], [[1, 1, 0]])[0].tolist() == pytest.approx([2 / 3, 2 / 3, 1.0])


def test_a_vote_of_one_is_pass_at_1() -> None:
    rng = np.random.default_rng(3)
    answers = [rng.choice(["a", "b", "c"], 6).tolist() for _ in range(20)]
    outcomes = Outcomes.from_answers(answers, targets=["a"] * 20)
    assert measure(outcomes, "vote@1").value == measure(outcomes, "pass@1").value


@given(st.integers(2, 40), st.integers(0, 1000))
def test_a_vote_of_two_is_pass_at_1_where_every_trial_answers(n: int, seed: int) -> None:
    # two that differ tie, so the second trial changes nothing
    answers = np.random.default_rng(seed).choice(["a", "b", "c", "d"], (3, n)).tolist()
    outcomes = Outcomes.from_answers(answers, targets=["a"] * 3)
    expected = pytest.approx(measure(outcomes, "pass@1").value, abs=1e-12)
    assert measure(outcomes, "vote@2").value == expected


def test_two_answers_at_odd_k_are_more_than_half() -> None:
    answers = [["a"] * c + ["b"] * (9 - c) for c in range(10)]
    outcomes = Outcomes.from_answers(answers, targets=["a"] * 10)
    for k in (1, 3, 5, 9):
        expected = measure(outcomes, f"maj@{k}").value
        assert measure(outcomes, f"vote@{k}").value == pytest.approx(expected, rel=1e-12)


def test_wrong_answers_that_split_lose() -> None:
    apart = Outcomes.from_answers([["a", "a", "b", "c", "d"]], targets=["a"])
    united = Outcomes.from_answers([["a", "a", "b", "b", "b"]], targets=["a"])
    assert measure(apart, "vote@5").value == 1.0
    assert measure(united, "vote@5").value == 0.0


def test_no_answer_at_all_is_wrong() -> None:
    outcomes = Outcomes.from_answers([[None, None, None]], targets=["a"])
    assert curve(outcomes, "vote@*").value.tolist() == [0.0, 0.0, 0.0]


def test_right_answers_that_differ_have_their_own_votes() -> None:
    answers, scores = [["1/2", "0.5", "3", "3"]], [[1, 1, 0, 0]]
    apart = Outcomes.from_answers(answers, scores)
    assert measure(apart, "vote@4").value == 0.0

    def same(one: str, other: str) -> bool:
        return {one, other} == {"1/2", "0.5"}

    together = Outcomes.from_answers(answers, scores, same=same)
    assert measure(together, "vote@4").value == 0.5


def test_a_curve_is_its_points_and_leaves_short_problems_out() -> None:
    outcomes = Outcomes.from_answers([["a", "b", "a"], ["b", "a"], ["a"]], targets=["a"] * 3)
    found = curve(outcomes, "vote@*")
    points = measure_all(outcomes, ["vote@1-3"])
    assert found.value.tolist() == pytest.approx([point.value for point in points])
    assert [point.left_out for point in points] == [0, 1, 2]


@pytest.mark.parametrize("n", [64, MOST_VOTES])
def test_many_trials_are_counted_without_overflow(n: int) -> None:
    own, others = np.array([n // 2 + 8]), np.array([[n // 2 - 16, 8]])
    values = winning_curves(own, others, np.array([0]))[0]
    assert np.isfinite(values).all()
    assert values[1] == pytest.approx(own[0] / n, rel=1e-12)
    assert values[-1] == 1.0
    assert (np.diff(values[1::2]) > -1e-12).all()


def test_more_trials_are_refused() -> None:
    with pytest.raises(InvalidInput, match="at most 1,024 trials of a problem; got 1,025"):
        winning_curves(np.array([1000]), np.array([[25]]), np.array([0]))


def test_scores_alone_are_not_enough() -> None:
    outcomes = Outcomes.from_counts([1, 2], 4)
    for name in ("vote@2", "cons@2", "majority"):
        with pytest.raises(InvalidInput, match="needs the answer of every trial beside its score"):
            measure(outcomes, name)


def test_graded_scores_need_a_threshold() -> None:
    outcomes = Outcomes.from_answers([["a", "b", "a"]], [[0.9, 0.2, 0.6]])
    with pytest.raises(InvalidInput, match="needs scores of 0 or 1"):
        measure(outcomes, "vote@2")
    assert measure(outcomes.binarize(0.7), "vote@3").value == pytest.approx(0.5)
    assert measure(outcomes.binarize(0.5), "vote@3").value == 1.0


def test_a_vote_cannot_be_extrapolated_or_bounded() -> None:
    outcomes = Outcomes.from_answers([["a", "b", None], ["a", "a", "b"]], [[1, 0, None], [1, 1, 0]])
    assert bounds(outcomes, "vote@2") is None
    with pytest.raises(InvalidInput):
        extrapolate(outcomes, "vote@8")


def test_names_that_people_type() -> None:
    outcomes = Outcomes.from_answers([["a", "b", "a", "c"]] * 2, targets=["a", "b"])
    whole = measure(outcomes, "vote@4")
    assert measure(outcomes, "cons@4").value == whole.value
    assert measure(outcomes, "majority") == whole
    mean = measure(outcomes, "avg").value
    assert [measure(outcomes, name).value for name in ("avg@4", "mean@4", "mean")] == [mean] * 3
    names = [one.metric for one in measure_all(outcomes, ["vote@1-3", "pass@2-3,4"])]
    assert names == ["vote@1", "vote@2", "vote@3", "pass@2", "pass@3", "pass@4"]


@pytest.mark.parametrize("name", ["pass@3-1", "pass@0-2", "pass@1-999999", "majority:1"])
def test_ranges_that_name_nothing_are_refused(name: str) -> None:
    with pytest.raises(InvalidInput):
        measure(Outcomes.from_counts([1], 4), name)


def test_problems_in_parts_give_what_they_give_together() -> None:
    rng = np.random.default_rng(0)
    votes = Votes.of_trials(
        np.repeat(np.arange(30), 7),
        rng.integers(0, 4, 210),
        np.tile([1.0, 0, 0, 0, 0, 0, 0], 30),
        30,
    )
    parts = [vote_table(votes.take(np.array([i])), 7) for i in range(30)]
    assert np.allclose(vote_table(votes, 7), np.concatenate(parts), rtol=1e-13)
