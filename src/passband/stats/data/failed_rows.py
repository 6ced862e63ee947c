"""Find the rows that record a failure; a score beside it, mostly 0, measures nothing.

A column `error` says so in its text, a column `status` in a word. Both may also hold verdicts (why
an answer is wrong), which are no failures; where that cannot be known, the table is refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from passband.errors import InvalidInput
from passband.files import matching, normalized
from passband.stats.data.cells import ABSENT, label, number, number_labels, shortened
from passband.stats.data.columns import Roles
from passband.types import Bools, Floats

Columns = Mapping[str, Sequence[Any]]

ERROR_NAMES = (
    "error", "exception", "error_message", "error_type", "exception_type", "exception_message",
)  # fmt: skip
_ERRORED = "errored"  #: the status of a row with an error
_NO_ERROR = ABSENT | {"0", "false", "no", "ok", "success", "no error", "none.", "-", "[]", "{}"}
_VERDICT = re.compile(r"(\w+\.)*assert", re.IGNORECASE)  # of a test that the answer did not pass
_OUTSIDE = re.compile(
    r"http|time[d -]*out|rate.?limit|connection|\bapi|server|overloaded|unavailable|quota|network"
    r"|sandbox|\b(4[0-9]{2}|5[0-9]{2})\b",
    re.IGNORECASE,
)  # what fails without the model
_FAILED = frozenset(
    (
        "error", "errored", "exception", "crash", "crashed", "timeout", "timedout", "infraerror",
        "infrastructureerror", "apierror", "servererror", "systemerror", "runtimeerror",
        "cancelled", "canceled", "aborted", "killed", "gaveup", "scorererror", "scorertimeout",
        "noverdict", "unscored", "sandboxerror", "environmenterror", "oom", "notrun",
    )
)  # fmt: skip
_UNCLEAR = frozenset(("fail", "failed", "failure"))  # the run, or the answer


def is_failure(word: object) -> bool:
    """Return whether a status says that nothing was measured.

    >>> is_failure("Timed out"), is_failure(500), is_failure("truncated")
    (True, True, False)
    """
    text = normalized(label(word))
    return text in _FAILED or re.fullmatch("[45][0-9]{2}", text) is not None


def is_unclear_failure(word: object) -> bool:
    """Return whether a status is a failure of the run or of the answer."""
    return normalized(label(word)) in _UNCLEAR


def failed_rows(columns: Columns, roles: Roles, scores: Floats) -> Mapping[int, str]:
    """Return the status of each row that failed, with or without a score."""
    failed: dict[int, str] = {}
    status = roles.status
    if status is not None and normalized(status) not in map(normalized, ERROR_NAMES):
        failed |= _of_words(columns[status], scores)
    for name in matching(columns, ERROR_NAMES):
        has_error = _errors(columns[name])
        if name in vars(roles).values() and name != status:
            continue
        if name != status:
            _refuse_unclear(name, columns[name], has_error, scores)
        failed |= {row: failed.get(row, _ERRORED) for row in np.flatnonzero(has_error).tolist()}
    return failed


def _of_words(column: Sequence[Any], scores: Floats) -> dict[int, str]:
    """Return the rows with a score whose status is a failure."""
    numbers, words = number_labels(column)
    is_failed = np.array([is_failure(word) for word in words])
    is_unclear = np.array([is_unclear_failure(word) for word in words])
    wrong_elsewhere = (scores == 0) & ~(is_failed | is_unclear)[numbers]
    if wrong_elsewhere.any():  # so an answer that is wrong has another status
        is_failed = is_failed | is_unclear
    rows = np.flatnonzero(is_failed[numbers] & ~np.isnan(scores))
    return {row: words[numbers[row]] for row in rows.tolist()}


def _errors(column: Sequence[Any]) -> Bools:
    """Return which cells hold an error; none does in a column of measured numbers."""
    numbers, texts = number_labels(column)
    texts = [text.strip() for text in texts]
    errors = [text for text in texts if text.lower() not in _NO_ERROR]
    values = [value for text in errors if (value := _number(text)) is not None]
    if any(value != 1 and not 400 <= value < 600 for value in values):
        return np.zeros(len(numbers), dtype=bool)
    failures = {text for text in errors if not _VERDICT.match(text)}
    return np.asarray(np.array([text in failures for text in texts])[numbers])


def _number(text: str) -> float | None:
    try:
        return number(text)
    except ValueError:
        return None


def _refuse_unclear(name: str, column: Sequence[Any], has_error: Bools, scores: Floats) -> None:
    """Raise `InvalidInput` where errors may be verdicts, of all answers that are wrong."""
    there = ~np.isnan(scores)
    if not (there & has_error).any():
        return
    ways = (
        f"to leave out what failed, choose {name} with status= (in the shell, --status); to count "
        "every score, rename the column."
    )
    if (has_error | ~there).all():
        raise InvalidInput(
            f"column {name} is filled in every row with a score, so it tells none apart; {ways}"
        )
    zeros = there & (scores == 0)
    is_binary = ((scores == 0) | (scores == 1) | ~there).all()
    if not is_binary or not (zeros & has_error).any() or (zeros & ~has_error).any():
        return
    rows = np.flatnonzero(zeros & has_error).tolist()
    unclear = [row for row in rows if not _OUTSIDE.search(label(column[row]))]
    if unclear:
        raise InvalidInput(
            f"column {name} is filled in every row that scored 0 (row {unclear[0] + 1}: "
            f"{shortened(label(column[unclear[0]]))!r}), so it may say why answers are wrong, or "
            f"what failed; {ways}"
        )
