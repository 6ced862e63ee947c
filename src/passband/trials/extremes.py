"""The slowest and the longest trials of a run, found by reading its narrow rows once."""

from __future__ import annotations

from typing import Literal, NamedTuple

from passband.trials.checked import CheckedRows

__all__ = ["Column", "Extreme", "largest"]

Column = Literal["latency_ms", "completion_tokens"]


class Extreme(NamedTuple):
    """A trial, and how large it is."""

    problem: int
    trial: int
    size: int


def largest(rows: CheckedRows, run: int, column: Column, most: int) -> list[Extreme]:
    """Return the trials with the largest value of a column, the largest first.

    SQLite keeps no more than these while it reads: no index is made, and nothing is written.
    """
    query = (
        f"SELECT problem, trial, {column} FROM trial WHERE run=? AND {column} IS NOT NULL "
        f"ORDER BY {column} DESC, problem, trial LIMIT ?"
    )
    return [Extreme(*row) for row in rows.each(query, run, most)]
