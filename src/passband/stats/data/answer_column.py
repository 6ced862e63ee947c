"""The column of answers in a table of trials: which one it is, and its answers by number."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from passband.column_names import matching
from passband.errors import InvalidInput
from passband.stats.data.answers import answer_text
from passband.stats.data.cells import number_labels
from passband.stats.data.coded import CodedColumn
from passband.stats.data.columns import ROLES, Roles
from passband.stats.data.votes import SILENT
from passband.types import Ints

__all__ = ["guess_answer", "number_texts"]

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
