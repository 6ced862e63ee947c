"""Tallies by column: read, checked and added up many at a time.

A run of a hundred thousand problems has as many tallies. They are checked by functions that take
whole columns, and none of them becomes an object of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from operator import add
from struct import error
from typing import Any
from zlib import crc32

from passband.trials.file.checked_rows import CheckedRows
from passband.trials.file.checksums import SCORE, TRIAL_SUMS, is_intact

_TOGETHER = 1_000  # rows that are checked in one go


@dataclass(frozen=True)
class TrialTallies:
    """The trial tallies of a run: of every problem and status, how many trials, and which."""

    problems: list[int] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)
    trials: list[int] = field(default_factory=list)
    places: list[bytes] = field(default_factory=list)  # which ones, as bits
    prompt_tokens: list[int] = field(default_factory=list)
    completion_tokens: list[int] = field(default_factory=list)
    costs: list[float] = field(default_factory=list)
    retried: list[int] = field(default_factory=list)
    reasoning_tokens: list[int] = field(default_factory=list)
    cached_tokens: list[int] = field(default_factory=list)

    @classmethod
    def read(cls, rows: CheckedRows, run: int) -> TrialTallies:
        """Read those of a run."""
        tallies = cls()
        for columns in _columns(rows, "trial_tally", "run", run):
            _extend(tallies, columns)
        rows.require("trial", run, sum(tallies.trials))
        return tallies

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Yield the tallies one by one: their columns in this order."""
        return zip(*(getattr(self, column.name) for column in fields(self)), strict=True)

    def by_status(self) -> dict[int, int]:
        """Return how many trials have each status."""
        return added(self.statuses, self.trials)

    def masks(self, without: Sequence[int] = ()) -> dict[int, int]:
        """Return which trials of each problem are there, those of some statuses left out."""
        masks: dict[int, int] = {}
        little = partial(int.from_bytes, byteorder="little")
        numbers = map(little, self.places)
        for problem, status, mask in zip(self.problems, self.statuses, numbers, strict=True):
            if status not in without:
                masks[problem] = masks.get(problem, 0) | mask
        return masks


@dataclass(frozen=True)
class ScoreTallies:
    """The score tallies of a scorer: of every problem, status of the trial and of the score."""

    problems: list[int] = field(default_factory=list)
    trial_statuses: list[int] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)
    scores: list[int] = field(default_factory=list)
    valued: list[int] = field(default_factory=list)  # of them, how many have a value
    totals: list[float] = field(default_factory=list)
    odd: list[int] = field(default_factory=list)  # values that are neither 0 nor 1

    @classmethod
    def read(cls, rows: CheckedRows, scorer: int) -> ScoreTallies:
        """Read those of a scorer."""
        tallies = cls()
        for columns in _columns(rows, "score_tally", "scorer", scorer):
            _extend(tallies, columns)
        rows.require("score", scorer, sum(tallies.scores))
        return tallies

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Yield the tallies one by one: their columns in this order."""
        return zip(*(getattr(self, column.name) for column in fields(self)), strict=True)

    def sums(self) -> list[tuple[int, int, float]]:
        """Return for each problem how many scores have a value, and their sum."""
        sums: dict[int, tuple[int, float]] = {}
        for problem, valued, total in zip(self.problems, self.valued, self.totals, strict=True):
            before = sums.get(problem, (0, 0.0))
            sums[problem] = before[0] + valued, before[1] + total
        return [(problem, *sums[problem]) for problem in sorted(sums)]


def added(kinds: Sequence[int], counts: Sequence[int]) -> dict[int, int]:
    """Return the sum of the counts of each kind.

    >>> added([1, 2, 1], [10, 20, 30])
    {1: 40, 2: 20}
    """
    sums: dict[int, int] = {}
    for kind, count in zip(kinds, counts, strict=True):
        sums[kind] = sums.get(kind, 0) + count
    return sums


def _extend(tallies: TrialTallies | ScoreTallies, columns: Sequence[Sequence[Any]]) -> None:
    """Add the columns of rows, without run or scorer in front and the checksum at the end."""
    for name, column in zip(fields(tallies), columns[1:-1], strict=True):
        values: list[Any] = getattr(tallies, name.name)
        values.extend(map(int, column) if name.name.endswith("_tokens") else column)


def _columns(
    rows: CheckedRows, table: str, name: str, number: int
) -> Iterator[list[tuple[Any, ...]]]:
    """Yield the columns of many rows at a time, once these are known to be intact."""
    query = f"SELECT * FROM {table} WHERE {name}=? ORDER BY 1, 2, 3, 4"
    for chunk in rows.together(query, _TOGETHER, number):
        columns = list(zip(*chunk, strict=True))
        if not _are_intact(table, columns):
            for row in chunk:
                if not is_intact(table, row):
                    raise rows.damaged(table, row)
        yield columns


def _are_intact(table: str, columns: list[tuple[Any, ...]]) -> bool:
    """Return whether all rows are; False too if only looking at each of them tells."""
    try:
        if table == "trial_tally":
            *key, trials, places, taken, given, cost, retried, reasoned, cached, crc = columns
            numbers = map(TRIAL_SUMS, *key, trials, taken, given, retried, reasoned, cached, cost)
            return list(map(crc32, map(add, numbers, places))) == list(crc)
        *counts, total, odd, crc = columns
        return list(map(crc32, map(SCORE, *counts, odd, total))) == list(crc)
    except (error, TypeError):  # sums beyond 63 bits, or damage
        return False
