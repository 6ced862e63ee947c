"""Answers given with their scores, or with the right ones, as rows of scores and votes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from passband.errors import InvalidInput, WrongType
from passband.stats.data.cells import is_absent, label, shortened
from passband.stats.data.votes import Same, Votes, votes_of_rows
from passband.types import ArrayLike

__all__ = ["ScoredAnswers", "answer_text", "scored_answers"]


@dataclass(frozen=True)
class ScoredAnswers:
    """The scores of each problem's trials, None where there is none, and the votes of the rest."""

    scores: list[list[float | None]]
    votes: Votes


def answer_text(value: object) -> str | None:
    """Write an answer as text without blanks around it; None where there is none.

    A list of one answer, as filters leave it, is that answer.

    >>> [answer_text(value) for value in (" 42 ", 42.0, ["42"], "", [])]
    ['42', '42', '42', None, None]
    """
    while isinstance(value, (list, tuple)) and len(value) <= 1:
        value = value[0] if value else None
    text = "" if value is None else label(value).strip()  # NaN of any kind has its name as text
    return None if text.lower() in _NO_ANSWER else text


_NO_ANSWER = frozenset({"", "nan", "none", "null", "<na>", "[invalid]"})  # the last is of lm-eval


def scored_answers(
    answers: Sequence[Sequence[object]],
    scores: Sequence[Sequence[float | None]] | ArrayLike | None,
    targets: Sequence[object] | None,
    same: Same | None,
) -> ScoredAnswers:
    """Score answers by their targets, or take their scores, and count the votes."""
    if (scores is None) == (targets is None):
        raise InvalidInput("give scores, a row for each row of answers, or targets=, and not both.")
    texts = [[answer_text(answer) for answer in row] for row in map(_row, answers)]
    if targets is not None:
        rows: list[list[float | None]] = _compared(texts, targets, same)
    else:
        rows = _score_rows(texts, scores)
    kept = [[i for i, score in enumerate(row) if score is not None] for row in rows]
    votes = votes_of_rows(
        [[row[i] for i in places] for row, places in zip(texts, kept, strict=True)],
        [[row[i] or 0.0 for i in places] for row, places in zip(rows, kept, strict=True)],
        same,
    )
    return ScoredAnswers(rows, votes)


def _row(row: Any) -> list[object]:
    if isinstance(row, (str, bytes)) or not hasattr(row, "__iter__"):
        raise WrongType(
            f"answers must be a row of answers for each problem; got {shortened(repr(row))}."
        )
    return list(row)


def _compared(
    texts: list[list[str | None]], targets: Sequence[object], same: Same | None
) -> list[list[float | None]]:
    """Score 1 where an answer is the target of its problem, and 0 elsewhere."""
    if isinstance(targets, (str, bytes)) or not hasattr(targets, "__len__"):
        raise WrongType(f"targets must be a list, one for each problem; got {targets!r}.")
    if len(targets) != len(texts):
        raise InvalidInput(
            f"targets must be one for each problem; got {len(targets)} for {len(texts)} problems."
        )
    wanted = [answer_text(target) for target in targets]
    if None in wanted:
        raise InvalidInput(f"the target of problem {wanted.index(None)} is empty.")
    return [
        [float(text is not None and _equal(text, str(target), same)) for text in row]
        for row, target in zip(texts, wanted, strict=True)
    ]


def _equal(text: str, target: str, same: Same | None) -> bool:
    return text == target or (same is not None and same(target, text))


def _score_rows(texts: list[list[str | None]], scores: Any) -> list[list[float | None]]:
    listed = scores.tolist() if hasattr(scores, "tolist") else scores
    rows = [_row_of_scores(row) for row in listed]
    if [len(row) for row in rows] != [len(row) for row in texts]:
        raise InvalidInput("scores must have the shape of answers: a score for each answer.")
    return rows


def _row_of_scores(row: Any) -> list[float | None]:
    if isinstance(row, (str, bytes)) or not hasattr(row, "__iter__"):
        raise WrongType(
            "scores must be a row of numbers for each problem; for the right answer of each "
            f"problem, give targets=. Got {shortened(repr(row))}."
        )
    return [None if is_absent(score) else _score(score) for score in row]


def _score(score: Any) -> float:
    if isinstance(score, (str, bytes)) or not hasattr(score, "__float__"):
        raise WrongType(f"scores must be numbers or None; got {shortened(repr(score))}.")
    return float(score)
