"""Columns that set rows apart: those that split a table, and those that are pooled by accident.

A column such as `checkpoint` under whose every value every problem occurs is a condition. Rows
that differ in it are not trials of the same thing, though they look like trials.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from passband.column_names import matching
from passband.stats.data.cells import (
    BOOLEAN,
    distinct_labels,
    listing,
    number,
    number_labels,
    parse_scores,
)
from passband.stats.data.columns import OUTCOME_NAMES, ROLES, SPLIT_BY, Roles, is_trial_name
from passband.types import Ints

__all__ = [
    "Condition",
    "condition_candidates",
    "condition_of",
    "find_conditions",
    "most_values",
    "split_columns",
]

Columns = Mapping[str, Sequence[Any]]

MOST_VALUES = 50  # of a condition
#: Columns that may name the kind of a score.
_KINDS = ("name", "score_name", "key", "dimension", "criterion", "feedback_key")
_MOST_KINDS = 12
_COVERED = 0.9  # of all pairs of a problem and a value
_BALANCED = 0.4  # of the problems: those with the commonest number of rows under a value


@dataclass(frozen=True)
class Condition:
    """A column that takes several values, under each of which (nearly) every problem occurs."""

    column: str
    values: tuple[str, ...]
    is_complete: bool  #: every problem occurs under every value

    def __str__(self) -> str:
        every = "every" if self.is_complete else "nearly every"
        return (
            f"column {self.column} has {len(self.values)} values ({listing(self.values, 4)}), each "
            f"with {every} problem; pooled as trials; --by {self.column} splits"
        )


def split_columns(columns: Columns, roles: Roles, chosen: Sequence[str]) -> tuple[str, ...]:
    """Return the columns to split by: those chosen, and known ones that vary within their groups.

    Without chosen ones, every known column that takes several values.
    """
    taken = {*vars(roles).values(), *chosen}
    known = [name for name in matching(columns, SPLIT_BY) if name not in taken]
    kinds = _kinds(columns, roles, taken)
    taken |= set(kinds)
    known += kinds
    group_of, count = group_numbers(columns, chosen)
    for name in known:
        numbers, labels = number_labels(columns[name])
        if len(labels) > 1 and len(np.unique(group_of * len(labels) + numbers)) > count:
            taken.add(name)
    return (*chosen, *(name for name in known if name in taken))


def _kinds(columns: Columns, roles: Roles, taken: Iterable[str | None]) -> list[str]:
    """Return the columns that tell scores of different kinds apart."""
    skip = set(taken)
    return [
        name
        for name in matching(columns, _KINDS)
        if name not in skip and _are_kinds(columns[name], columns, roles)
    ]


def _are_kinds(column: Sequence[object], columns: Columns, roles: Roles) -> bool:
    """Return whether values go with different ranges of scores, or each with as many unique ids.

    One score of each kind is what an export of scores has for every answer.
    """
    if distinct_labels(column, _MOST_KINDS) is None:
        return False
    numbers, labels = number_labels(column)
    values = np.nan_to_num(parse_scores(roles.score, columns[roles.score]))
    is_beyond = (values < 0) | (values > 1)
    beyond = np.bincount(numbers[is_beyond], minlength=len(labels)) > 0
    if beyond.any() and not beyond.all():
        return True
    counts = np.bincount(numbers)
    is_unique = len(number_labels(columns[roles.problem])[1]) == len(numbers)
    return bool(is_unique and len(labels) > 1 and counts.min() == counts.max() > 1)


def group_numbers(columns: Columns, by: Sequence[str]) -> tuple[Ints, int]:
    """Return the group of each row, numbered in order of rows, and how many groups there are."""
    height = len(next(iter(columns.values())))
    group_of: Ints = np.zeros(height, dtype=np.int64)
    for name in by:
        numbers, labels = number_labels(columns[name])
        group_of = ranked(group_of * len(labels) + numbers)
    return group_of, int(group_of.max(initial=0)) + 1


def ranked(codes: Ints) -> Ints:
    """Renumber codes 0, 1, ... in order of first appearance.

    >>> ranked(np.array([7, 3, 7, 9])).tolist()
    [0, 1, 0, 2]
    """
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    numbers: Ints = rank[inverse]
    return numbers


def find_conditions(
    columns: Columns, skip: Iterable[str | None], unit_of: Ints, units: int
) -> list[Condition]:
    """Return the columns, but for those to skip, that look like conditions.

    `unit_of` is the number of each row's problem, within its group where the table is split.
    """
    most = most_values(len(unit_of), units)
    candidates = [
        _condition(name, columns[name], unit_of, units, most)
        for name in condition_candidates(columns, skip)
        if most > 1
    ]
    return [condition for condition in candidates if condition is not None]


def condition_candidates(names: Iterable[str], skip: Iterable[str | None]) -> list[str]:
    """Return the columns whose names do not say that they are anything but conditions."""
    listed = list(names)
    usual = [name for role in ROLES.values() for name in role]
    skipped = {*skip, *matching(listed, (*usual, *OUTCOME_NAMES))}
    return [name for name in listed if name not in skipped and name.strip() and ":" not in name]


def most_values(rows: int, units: int) -> int:
    """Return the most values that a condition can have, under which each unit needs rows."""
    return min(MOST_VALUES, int(rows / (_COVERED * units))) if units > 1 else 0


def _condition(
    name: str, column: Sequence[object], unit_of: Ints, units: int, most: int
) -> Condition | None:
    values = distinct_labels(column, most)
    if values is None or len(values) < 2:
        return None
    value_of, _ = number_labels(column)
    rows = np.bincount(unit_of * len(values) + value_of, minlength=units * len(values))
    return condition_of(name, values, rows.reshape(units, len(values)))


def condition_of(name: str, values: Sequence[str], rows: Ints) -> Condition | None:
    """Return a column as a condition, by its number of rows for each unit and value; else None."""
    if (rows > 0).mean() < _COVERED or _numbers_trials(name, values, int(rows.max())):
        return None
    if all(map(_is_numeric, values)) and not _is_balanced(rows):
        return None  # a score of another kind: 0 or 1 as it happens
    return Condition(name, tuple(values), bool((rows > 0).all()))


def _numbers_trials(name: str, values: Sequence[str], most_rows: int) -> bool:
    """Return whether a column only numbers the rows of each problem: 0, 1, 2, ..."""
    if most_rows > 1:
        return False
    counted = {str(number) for number in range(len(values) + 1)}
    return is_trial_name(name) or set(values) in (counted - {"0"}, counted - {str(len(values))})


def _is_numeric(value: str) -> bool:
    if value.strip().lower() in BOOLEAN:
        return True
    try:
        number(value)
    except ValueError:
        return False
    return True


def _is_balanced(rows: Ints) -> bool:
    """Return whether most problems have equal numbers of rows under each value, as if by design."""
    commonest = [np.bincount(counts).max() for counts in rows.T]
    return bool(min(commonest) >= _BALANCED * len(rows))
