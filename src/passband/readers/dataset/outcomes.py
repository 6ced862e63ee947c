"""Counts of a data set as groups of outcomes, the same as those of one table with all its rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from passband.files import matching
from passband.readers.dataset.batches import encoded, numbers
from passband.readers.dataset.cells import problem_of_key
from passband.readers.dataset.counting import DatasetTallies
from passband.readers.dataset.schema import CountPlan
from passband.readers.groups import Group
from passband.readers.tables.table import names_of_labels
from passband.stats.data import ABSENT, MISSING, SPLIT_BY, Outcomes, error_prefix
from passband.types import Ints


def split_of(tallies: DatasetTallies, plan: CountPlan, chosen: tuple[str, ...]) -> tuple[str, ...]:
    """Return the columns to split by: those chosen, and known ones that vary within their groups.

    As `passband.stats.data.columns.split_columns` does for a table.
    """
    groups = tallies.groups.labels
    named = tuple(dict.fromkeys(chosen))
    own = {labels[: len(named)] for labels in groups}
    split = list(named)
    for at, name in enumerate(plan.keys[len(named) :], start=len(named)):
        if len({(*labels[: len(named)], labels[at]) for labels in groups}) > len(own):
            split.append(name)
    return tuple(split)


def groups_of_tallies(
    tallies: DatasetTallies, plan: CountPlan, split: tuple[str, ...]
) -> list[Group]:
    """Return the outcomes of each group, in the order of rows."""
    cells, labels = tallies.cells, tallies.groups.labels
    order = np.argsort(cells.first, kind="stable")
    group_of = cells.keys[order] >> 32
    numbers_of_groups, first = np.unique(group_of, return_index=True)
    by_group = order[np.argsort(group_of, kind="stable")]
    ends = np.cumsum(np.bincount(group_of, minlength=len(labels)))
    members = np.split(by_group, ends[:-1])
    names, unscored = _problem_names(tallies), _ScorelessRows.of(tallies.unscored)
    constants = _constants(tallies, plan, split, names)
    result = []
    for number in numbers_of_groups[np.argsort(first)].tolist():
        own = dict(zip(plan.keys, labels[number], strict=True))
        key = tuple(own[name] for name in split)
        rows = members[number]
        keys = cells.keys[rows]
        with error_prefix(key):
            outcomes = Outcomes(
                names[problem_of_key(keys)].tolist(),
                cells.trials[rows],
                cells.successes[rows],
                None,
                None,
                unscored.counts_of(number, keys),
            )
            if plan.threshold is not None and number not in tallies.graded:
                outcomes = outcomes.binarize(plan.threshold)  # refuses one that makes no sense
        task, model = names_of_labels(dict(zip(split, key, strict=True)) | constants)
        result.append(Group(key, outcomes, task, model, plan.roles.score))
    return result


def _problem_names(tallies: DatasetTallies) -> Any:
    """Return the label of each problem by its code, of those that occur."""
    occurs = np.zeros(len(tallies.problems), dtype=bool)
    occurs[problem_of_key(tallies.cells.keys)] = True
    names = np.empty(len(occurs), dtype=object)
    names[occurs] = tallies.problems.labels(np.flatnonzero(occurs).tolist())
    return names


def _constants(
    tallies: DatasetTallies, plan: CountPlan, split: tuple[str, ...], names: Any
) -> dict[str, str]:
    """Return the labels of known columns that are the same in every row."""
    columns = dict(zip(plan.keys, zip(*tallies.groups.labels, strict=True), strict=True))
    columns[plan.roles.problem] = tuple(name for name in names if name is not None)
    known = [name for name in matching(columns, SPLIT_BY) if name not in split]
    return {name: columns[name][0] for name in known if len(set(columns[name])) == 1}


@dataclass(frozen=True)
class _ScorelessRows:
    """Rows without a score by cell and status, in the order of cells."""

    keys: Ints
    statuses: Ints
    counts: Ints
    first: Ints
    names: list[str]

    @classmethod
    def of(cls, table: Any) -> _ScorelessRows:
        """Return the rows of the table of a `DatasetTallies`."""
        if table is None:
            none = np.zeros(0, dtype=np.int64)
            return cls(none, none, none, none, [])
        words, statuses = encoded(table["status"].combine_chunks())
        columns = [numbers(table[name].combine_chunks()) for name in ("key", "count", "first")]
        order = np.argsort(columns[0], kind="stable")
        keys, counts, first = (column[order] for column in columns)
        return cls(keys, statuses[order], counts, first, words.to_pylist())

    def counts_of(self, group: int, keys: Ints) -> dict[str, Any]:
        """Return the counts of a group per problem, by status, in the order of first rows."""
        start, end = np.searchsorted(self.keys, [group << 32, (group + 1) << 32])
        statuses, first = self.statuses[start:end], self.first[start:end]
        places = np.argsort(keys)
        own = places[np.searchsorted(keys[places], self.keys[start:end])]
        least = {status: first[statuses == status].min() for status in np.unique(statuses)}
        counts: dict[str, Any] = {}
        for status in sorted(least, key=lambda status: least[status]):
            word, rows = self.names[status], statuses == status
            name = MISSING if word.strip().lower() in ABSENT | {"ok"} else word
            column = counts.setdefault(name, np.zeros(len(keys), dtype=np.int64))
            np.add.at(column, own[rows], self.counts[start:end][rows])
        return counts
