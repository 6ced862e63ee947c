"""Convert scores of Inspect to numbers: letters, booleans, numbers, and mappings of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from passband.score.scorer import Score

_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_DETAIL = 500  # characters of an explanation that are kept


def inspect_scores(
    name: str,
    value: object,
    *,
    answer: str | None = None,
    explanation: str | None = None,
    reason: str | None = None,
) -> dict[str, Score]:
    """Return the scores of a sample by one scorer of Inspect, by name: a mapping gives NAME/KEY.

    A value that is no number, NaN among them, is a score without a value and never a 0: Inspect
    itself leaves NaN out, and counts a word that it does not know as 0, with a warning.

    >>> inspect_scores("match", "C", answer="4")["match"].value
    1.0
    >>> {name: score.value for name, score in inspect_scores("judge", {"a": 2, "b": None}).items()}
    {'judge/a': 2.0, 'judge/b': None}
    """
    if isinstance(value, Mapping) and value:
        values = {f"{name}/{key}": part for key, part in value.items()}
    elif isinstance(value, Sequence) and not isinstance(value, str) and value:
        values = {f"{name}/{index}": part for index, part in enumerate(value)}
    else:
        values = {name: value}
    return {key: _score(part, answer, explanation, reason) for key, part in values.items()}


def inspect_number(value: object) -> float | None:
    """Return a single value as a number; None if it is not one.

    >>> [inspect_number(value) for value in ("C", "P", "N", True, "yes", "0.25", "B", float("nan"))]
    [1.0, 0.5, 0.0, 1.0, 1.0, 0.25, None, None]
    """
    if isinstance(value, str):
        text = value.strip()
        if text in _LETTERS:
            return _LETTERS[text]
        if text.lower() in _WORDS:
            return _WORDS[text.lower()]
        value = text
    if not isinstance(value, (str, int, float)):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _score(value: object, answer: object, explanation: str | None, reason: str | None) -> Score:
    number = inspect_number(value)
    kept = answer if answer is None or isinstance(answer, str) else str(answer)
    detail = None if explanation is None else str(explanation)[:_DETAIL]
    if number is not None:
        return Score(number, "no_answer" if value == "N" else "ok", kept, None, detail)
    why = str(reason) if reason else _why(value)
    return Score(None, "error", kept, None, f"{why}: {detail}"[:_DETAIL] if detail else why)


def _why(value: object) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "the scorer gave no value"
    return f"the scorer gave {str(value)[:80]!r}, which is no number"
