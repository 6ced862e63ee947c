"""Votes and the scores that they make."""

from __future__ import annotations

import pytest

from passband.score.judge.votes import JudgeVote, pair_vote, score_votes

YES, NO, NONE = (
    JudgeVote(1.0, "PASS"),
    JudgeVote(0.0, "FAIL"),
    JudgeVote(None, "-", "no line is a verdict"),
)


@pytest.mark.parametrize(
    ("first", "second", "value", "is_flipped"),
    [
        ("A", "B", 1.0, False),
        ("B", "A", 0.0, False),
        ("A", "A", 0.5, True),
        ("B", "B", 0.5, True),
        ("TIE", "TIE", 0.5, False),
        ("A", "TIE", 0.75, False),
        ("TIE", "A", 0.25, False),
    ],
)
def test_pairs(first: str, second: str, value: float, is_flipped: bool) -> None:
    vote = pair_vote(first, second, None)
    assert (vote.value, vote.is_flipped) == (value, is_flipped)


def test_half_a_pair_is_no_vote() -> None:
    assert pair_vote("A", None, "cut off") == JudgeVote(None, "A/-", "cut off")


def test_the_score_is_the_mean_of_the_votes() -> None:
    score = score_votes([YES, YES, NO])
    assert score.value == pytest.approx(2 / 3)
    assert (score.status, score.rule, score.detail) == ("ok", "PASS PASS FAIL", None)


def test_a_majority() -> None:
    assert score_votes([YES, YES, NO], "majority").value == 1.0
    assert score_votes([YES, NO], "majority").value == 0.5


def test_votes_without_a_verdict_are_left_out_and_named() -> None:
    score = score_votes([YES, NONE, NO])
    assert (score.value, score.status) == (0.5, "ok")
    assert score.detail == "1 of 3 votes without a verdict"


@pytest.mark.parametrize("votes", [[NONE], [YES, NONE], [YES, NONE, NONE]])
def test_half_of_the_votes_is_no_score_and_never_zero(votes: list[JudgeVote]) -> None:
    score = score_votes(votes)
    assert (score.value, score.status) == (None, "no_verdict")
    assert score.detail == "no line is a verdict"


def test_flips_are_named() -> None:
    score = score_votes([pair_vote("A", "A", None), pair_vote("A", "B", None)])
    assert (score.value, score.detail) == (0.75, "1 of 2 flipped when swapped")
