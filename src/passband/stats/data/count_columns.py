"""Columns of counts: which ones hold successes and trials, and which rows are trials themselves.

A column `n` beside `correct` may be the number of trials of which so many were correct, or number
the rows. Names, whole numbers and how often a problem occurs decide; what they leave open is an
error that names the columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from passband.errors import InvalidInput
from passband.files import matching, normalized
from passband.stats.data.cells import CodedColumn, is_absent, number, number_labels
from passband.stats.data.columns import ROLES, SPLIT_BY
from passband.types import Floats, Ints

Columns = Mapping[str, Sequence[Any]]

_SUCCESSES = (
    "successes", "n_correct", "num_correct", "n_passed", "num_passed", "n_success", "num_success",
    "n_successes", "num_successes", "correct_count", "pass_count", "success_count", "passes", "c",
)  # fmt: skip
_TRIALS = (
    "trials", "n_trials", "num_trials", "n_samples", "num_samples", "total", "n", "attempts",
    "n_attempts", "num_attempts", "n_total", "runs", "n_runs", "num_runs", "tries", "samples",
    "rollouts", "n_rollouts", "num_rollouts", "repeats", "n_repeats", "count", "out_of",
    "total_count", "total_trials",
)  # fmt: skip
_FAILURES = (
    "failures", "failed", "fails", "incorrect", "wrong", "n_failed", "num_failed", "n_incorrect",
    "num_incorrect", "n_wrong", "num_wrong", "fail_count", "incorrect_count",
)  # fmt: skip
#: Scores that are yes or no, so that a whole number above 1 counts them.
_VERDICTS = ("correct", "passed", "pass", "success", "resolved", "solved")


class CountColumns(NamedTuple):
    """Name the column of successes, and the one of trials or failures."""

    successes: str
    others: str
    are_failures: bool = False


def may_count(names: Iterable[str], score: str) -> bool:
    """Return whether the score column of such a table may hold counts."""
    listed = list(names)
    return _is_verdict(score) and bool(matching(listed, (*_TRIALS, *_FAILURES)))


def count_columns(columns: Columns, score: str | None, problem: str | None) -> CountColumns | None:
    """Return a table's count columns if the user chose no score column."""
    if score is not None and not _is_verdict(score):
        return None
    for successes in [score] if score else matching(columns, _SUCCESSES):
        for trials in matching(columns, _TRIALS):
            if score is None or _are_counts(columns, score, trials, problem):
                return CountColumns(successes, trials)
        c = _whole(columns[successes])
        for failures in matching(columns, _FAILURES):
            f = _whole(columns[failures])
            if c is not None and f is not None and np.nanmax(c + f, initial=0) > 1:
                return CountColumns(successes, failures, are_failures=True)
    return None


def refuse_bare_counts(columns: Columns, score: str) -> None:
    """Raise `InvalidInput` for counts of successes without a number of trials."""
    counts = _whole(columns[score]) if _is_verdict(score) else None
    if counts is not None and (most := np.nanmax(counts)) > 1:
        raise InvalidInput(
            f"column {score} holds whole numbers up to {most:g}, as if it counted successes, and "
            f"no column says of how many trials; name one trials, or choose {score} with score= "
            "(in the shell, --score) to read it as the score of one trial."
        )


def unused_counts(
    columns: Columns, used: Iterable[str | None], problem_of: Ints, is_unfolded: bool
) -> list[str]:
    """Return the columns that look like counts, and that play no role."""
    if is_unfolded or matching(columns, ROLES["trial"]):
        return []  # which says that a row is one trial
    names = matching(columns, (*_TRIALS, *_SUCCESSES, *_FAILURES))
    wholes = {name: _whole(columns[name]) for name in names if name not in set(used)}
    return [
        name
        for name, counts in wholes.items()
        if counts is not None and np.nanmax(counts) > 1 and not _numbers_rows(counts, problem_of)
    ]


def _is_verdict(name: str) -> bool:
    return normalized(name) in _VERDICTS


def _whole(column: Sequence[Any]) -> Floats | None:
    """Return whole numbers from 0 on, NaN for empty cells; None for a column of anything else."""
    values = column.values if isinstance(column, CodedColumn) else column
    if any(isinstance(value, bool | np.bool_) for value in values):
        return None
    try:
        numbers = np.array([np.nan if is_absent(value) else number(value) for value in values])
    except (TypeError, ValueError, OverflowError):
        return None
    known = numbers[~np.isnan(numbers)]
    if not len(known) or (known < 0).any() or (known != np.floor(known)).any():
        return None
    return numbers[column.codes] if isinstance(column, CodedColumn) else numbers


def _are_counts(columns: Columns, score: str, trials: str, problem: str | None) -> bool:
    """Return whether a verdict column counts the successes of the given trials."""
    c, n = _whole(columns[score]), _whole(columns[trials])
    if c is None or n is None:
        return False
    if np.nanmax(c) > 1:
        return True
    if np.nanmax(n) < 2 or matching(columns, ROLES["trial"]):
        return False
    group_of = _groups(columns, problem)
    rows = np.bincount(group_of)[group_of]
    if _numbers_rows(n, group_of) or (rows == n).all():
        return False
    if (rows > 1).any():
        raise InvalidInput(
            f"column {trials} may be the number of trials of each row, of which {score} succeeded, "
            f"or may say something else of single trials. If they are counts, name column {score} "
            f"successes; if not, choose {score} with score= (in the shell, --score)."
        )
    return True


def _groups(columns: Columns, problem: str | None) -> Ints:
    """Return the number of each row's problem, apart in each part of a table that is split."""
    problems = [problem] if problem else matching(columns, ROLES["problem"])[:1]
    parts = [
        number_labels(columns[name])[0]
        for name in (*problems, *matching(columns, SPLIT_BY))
        if name in columns
    ]
    if not parts:
        return np.arange(len(next(iter(columns.values()))))
    return np.asarray(np.unique(np.stack(parts), axis=1, return_inverse=True)[1]).reshape(-1)


def _numbers_rows(numbers: Floats, group_of: Ints) -> bool:
    """Return whether a column numbers rows from 0 or 1, overall or per problem."""
    if len(numbers) > 1 and np.array_equal(numbers - numbers[0], np.arange(len(numbers))):
        return bool(numbers[0] <= 1)
    rows = np.bincount(group_of)
    if rows.max() < 2 or np.isnan(numbers).any():
        return False
    order = np.lexsort((numbers, group_of))
    within = np.arange(len(order)) - np.repeat(np.cumsum(rows) - rows, rows)
    first = numbers[order][0]
    return bool(first <= 1 and np.array_equal(numbers[order] - first, within))
