"""Combine the votes of a judge on one trial into a score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from passband.score.judge.options import Aggregate
from passband.score.scorer import Score


class JudgeVote(NamedTuple):
    """The value of one vote, or the reason why it has none."""

    value: float | None
    word: str  # for people: "PASS", "A/B"
    reason: str | None = None
    is_flipped: bool = False  # whether a pair was judged differently in the other order


def pair_vote(first: str | None, second: str | None, reason: str | None) -> JudgeVote:
    """Return the vote of a pair, from the verdicts in both orders.

    In the first order the judged answer is A, in the second it is B. A verdict that does not
    survive the swap is worth one half.

    >>> pair_vote("A", "B", None).value, pair_vote("A", "A", None).value
    (1.0, 0.5)
    >>> pair_vote("A", "TIE", None)
    JudgeVote(value=0.75, word='A/TIE', reason=None, is_flipped=False)
    """
    word = f"{first or '-'}/{second or '-'}"
    if first is None or second is None:
        return JudgeVote(None, word, reason)
    values = {"A": 1.0, "B": 0.0, "TIE": 0.5}[first], {"A": 0.0, "B": 1.0, "TIE": 0.5}[second]
    return JudgeVote(sum(values) / 2, word, None, abs(values[0] - values[1]) == 1)


def score_votes(votes: Sequence[JudgeVote], aggregate: Aggregate = "mean") -> Score:
    """Return the score of a trial: the mean of its votes, or the value that most of them have.

    More than half of the votes have to be readable, or the score has the status no_verdict and no
    value. Values that equally many votes have are averaged.
    """
    words = " ".join(vote.word for vote in votes)
    values = [vote.value for vote in votes if vote.value is not None]
    if 2 * len(values) <= len(votes):
        reason = next((vote.reason for vote in votes if vote.value is None), None)
        return Score(None, "no_verdict", rule=words, detail=reason or "no verdict")
    if aggregate == "majority":
        counts = Counter(values)
        most = max(counts.values())
        values = [value for value, count in counts.items() if count == most]
    flips = sum(vote.is_flipped for vote in votes)
    lost = sum(vote.value is None for vote in votes)
    remarks = [f"{lost} of {len(votes)} votes without a verdict"] if lost else []
    remarks += [f"{flips} of {len(votes)} flipped when swapped"] if flips else []
    return Score(sum(values) / len(values), "ok", rule=words, detail="; ".join(remarks) or None)
