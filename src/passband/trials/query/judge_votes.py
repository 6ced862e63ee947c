"""The votes of a judge, from its calls: one value per vote, of a pair over both orders."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from passband.trials.rows import CallRow


class TrialVotes(NamedTuple):
    """The votes on one trial that have a value."""

    problem: int  # number in the store
    trial: int
    values: tuple[float, ...]


def votes_of(calls: Iterable[CallRow]) -> Iterator[TrialVotes]:
    """Yield the votes on each trial, from calls by problem and trial; trials without any left out.

    A vote is the last verdict of its call. Of a pair it is the mean over both orders, and a pair
    with a verdict in one of them only has no value.
    """
    for (problem, trial), rows in groupby(calls, key=lambda row: (row.problem, row.trial)):
        values = tuple(_values(list(rows)))
        if values:
            yield TrialVotes(problem, trial, values)


def _values(rows: list[CallRow]) -> Iterator[float]:
    worth = {row.call: row.worth for row in rows if row.worth is not None}
    is_pairwise = any(row.is_swapped for row in rows)
    for vote in sorted({row.vote for row in rows}):
        orders = [worth.get(2 * vote), worth.get(2 * vote + 1)][: 1 + is_pairwise]
        known = [value for value in orders if value is not None]
        if len(known) == len(orders):
            yield sum(known) / len(known)
