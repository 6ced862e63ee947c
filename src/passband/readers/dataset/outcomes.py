"""Counts of a data set as groups of outcomes, the same as those of one table with all its rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from passband.column_names import matching
from passband.readers.dataset.cells import problem_of_key
from passband.readers.dataset.counting import Tallies
from passband.readers.dataset.plan import Plan
from passband.readers.groups import Group
from passband.readers.table import names_of_labels
from passband.stats.data.cells import ABSENT
from passband.stats.data.columns import SPLIT_BY
from passband.stats.data.layout import error_prefix
from passband.stats.data.outcomes import MISSING, Outcomes
from passband.types import Ints

__all__ = ["groups_of_tallies", "split_of"]


def split_of(tallies: Tallies, plan: Plan, chosen: tuple[str, ...]) -> tuple[str, ...]:
    """Return the columns to split by: those chosen, and known ones that vary within their groups.

    As `passband.stats.data.pooling.split_columns` does for a table.
    """
    named = tuple(dict.fromkeys(chosen))
    own = {labels[: len(named)] for labels in tallies.groups}
    split = list(named)
    for at, name in enumerate(plan.keys[len(named) :], start=len(named)):
        if len({(*labels[: len(named)], labels[at]) for labels in tallies.groups}) > len(own):
            split.append(name)
    return tuple(split)


def groups_of_tallies(tallies: Tallies, plan: Plan, split: tuple[str, ...]) -> list[Group]:
    """Return the outcomes of each group, in the order of rows."""
    cells = tallies.cells
    order = np.argsort(cells.first, kind="stable")
    group_of = cells.keys[order] >> 32
    numbers, first = np.unique(group_of, return_index=True)
    by_group = order[np.argsort(group_of, kind="stable")]
    ends = np.cumsum(np.bincount(group_of, minlength=len(tallies.groups)))
    members = np.split(by_group, ends[:-1])
    constants = _constants(tallies, plan, split)
    problems = np.array(tallies.problems, dtype=object)
    return [
        _group(int(number), members[int(number)], problems, tallies, plan, split, constants)
        for number in numbers[np.argsort(first)]
    ]


def _constants(tallies: Tallies, plan: Plan, split: tuple[str, ...]) -> dict[str, str]:
    """Return the labels of known columns that are the same in every row."""
    columns = dict(zip(plan.keys, zip(*tallies.groups, strict=True), strict=True))
    used = problem_of_key(tallies.cells.keys)
    several = [*used[:1].tolist(), *used[used != used[:1]][:1].tolist()]
    columns[plan.roles.problem] = tuple(tallies.problems[at] for at in several)
    known = [name for name in matching(columns, SPLIT_BY) if name not in split]
    return {name: columns[name][0] for name in known if len(set(columns[name])) == 1}


def _group(
    number: int,
    cells: Ints,
    problems: Any,
    tallies: Tallies,
    plan: Plan,
    split: tuple[str, ...],
    constants: Mapping[str, str],
) -> Group:
    own = dict(zip(plan.keys, tallies.groups[number], strict=True))
    key = tuple(own[name] for name in split)
    counts = tallies.cells
    keys = counts.keys[cells]
    names = problems[problem_of_key(keys)].tolist()
    with error_prefix(key):
        unscored = _unscored(number, keys, tallies)
        outcomes = Outcomes(
            names, counts.trials[cells], counts.successes[cells], None, None, unscored
        )
        if plan.threshold is not None and number not in tallies.graded:
            outcomes = outcomes.binarize(plan.threshold)  # which refuses one that makes no sense
    task, model = names_of_labels(dict(zip(split, key, strict=True)) | dict(constants))
    return Group(key, outcomes, task, model, plan.roles.score)


def _unscored(number: int, keys: Ints, tallies: Tallies) -> dict[str, Any]:
    """Return the rows without a score per problem, by status, in the order of first rows."""
    places = np.argsort(keys)
    mine = {word: each for word, each in tallies.unscored.items() if number in each.first}
    counts: dict[str, Any] = {}
    for word, each in sorted(mine.items(), key=lambda item: item[1].first[number]):
        name = MISSING if word.strip().lower() in ABSENT | {"ok"} else word
        column = counts.setdefault(name, np.zeros(len(keys), dtype=np.int64))
        own = each.keys >> 32 == number
        column[places[np.searchsorted(keys[places], each.keys[own])]] += each.counts[own]
    return counts
