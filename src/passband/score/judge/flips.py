"""Pairs whose verdict changed with their order, counted from the calls of a pairwise judge."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from passband.trials.rows import CallRow

__all__ = ["Flips", "count_flips"]


class Flips(NamedTuple):
    """Pairs that were judged in both orders, and those of them that contradict themselves."""

    pairs: int
    flipped: int


def count_flips(calls: Iterable[CallRow]) -> Flips:
    """Count pairs; a pair has the calls 2v and 2v + 1 of one trial, and the same seat wins both."""
    values: dict[tuple[int, int, int], dict[int, float]] = {}
    for row in calls:
        if row.value is not None:
            place = (row.problem, row.trial, row.call // 2)
            values.setdefault(place, {})[row.call % 2] = row.value
    pairs = [orders for orders in values.values() if len(orders) == 2]
    return Flips(len(pairs), sum(orders[0] == orders[1] != 0.5 for orders in pairs))
