"""Turn answers into rows of scores and votes, and find the answer column of a table."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from passband.errors import InvalidInput, WrongType
from passband.files import matching
from passband.stats.data.cells import CodedColumn, is_absent, label, number_labels, shortened
from passband.stats.data.columns import ROLES, Roles
from passband.stats.data.votes import SILENT, Same, Votes, votes_of_rows
from passband.types import ArrayLike, Ints


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


Columns = Mapping[str, Sequence[Any]]


def guess_answer(columns: Columns, roles: Roles) -> str | None:
    """Return the column that is named like answers, if there is one.

    A column with one value for all trials of a problem, however they scored, holds the target.
    """
    taken = set(vars(roles).values())
    for name in matching(columns, ROLES["answer"]):
        if name not in taken and not _is_target(columns, roles, name):
            return name
    return None


def _is_target(columns: Columns, roles: Roles, name: str) -> bool:
    """Return whether a column is the same within every problem though the scores are not."""
    problem_of, _ = number_labels(columns[roles.problem])
    answer_of = number_texts(columns[name])
    score_of, _ = number_labels(columns[roles.score])
    several = _pairs(problem_of, score_of) > len(np.unique(problem_of))
    return several and _pairs(problem_of, answer_of) == len(np.unique(problem_of))


def _pairs(first: Ints, second: Ints) -> int:
    shifted = second - second.min(initial=0)
    return len(np.unique(first * (int(shifted.max(initial=0)) + 1) + shifted))


def number_texts(column: Sequence[Any], name: str = "answer") -> Ints:
    """Return the number of each answer, equal texts having the same; `SILENT` for no answer.

    >>> number_texts(["4", " 4", None, ["5"]]).tolist()
    [0, 0, -1, 1]
    >>> number_texts(["1,234.5", "1.234,5", "1 234,5", "1'234.5", "1234.5"]).tolist()
    [0, 0, 0, 0, 0]
    """
    if isinstance(column, CodedColumn):
        own = number_texts(column.values, name)
        return np.asarray(own[column.codes])
    numbers: dict[str | None, int] = {None: SILENT}
    texts = _plain_numbers(name, [answer_text(value) for value in column])
    for text in texts:
        numbers.setdefault(text, len(numbers) - 1)
    return np.fromiter((numbers[text] for text in texts), np.int64, len(texts))


_GROUPED = re.compile(
    r"[+-]?\d{1,3}(?:(?:[ '\u2019\xa0\u202f]\d{3})+([.,]\d+)?"  # 1 234,5 and 1'234.5
    r"|(?:,\d{3})+(\.\d+)|(?:,\d{3}){2,}|(?:\.\d{3})+(,\d+)|(?:\.\d{3}){2,})"
)
_ONE_COMMA = re.compile(r"[+-]?\d+,\d+")
_THOUSANDS = re.compile(r"[+-]?\d{1,3},\d{3}")


def _plain_numbers(name: str, texts: list[str | None]) -> list[str | None]:
    """Return numbers without marks between their thousands, and other texts as they are.

    1,234 is 1234 unless the column has decimal commas; what may be one number or two is refused.
    """
    plain = {text: _plain_number(text) for text in texts if text is not None}
    commas = [text for text in plain.values() if _ONE_COMMA.fullmatch(text)]
    thousands = [text for text in commas if _THOUSANDS.fullmatch(text)]
    for text in commas:
        others = {text.replace(",", ".")}
        if len(thousands) < len(commas) and text in thousands:
            others.add(text.replace(",", ""))
        if found := others & set(plain.values()):
            raise InvalidInput(
                f"column {name} has answers {text!r} and {min(found)!r}, which may be one number "
                "or two; write all numbers alike."
            )
    if len(thousands) == len(commas):
        plain = {text: one.replace(",", "") if one in thousands else one
                 for text, one in plain.items()}  # fmt: skip
    return [None if text is None else plain[text] for text in texts]


def _plain_number(text: str) -> str:
    match = _GROUPED.fullmatch(text)
    if match is None:
        return text
    decimals = next((part for part in match.groups() if part), "")
    whole = re.sub(r"[^\d+-]", "", text[: len(text) - len(decimals)])
    return whole + decimals.replace(",", ".")
