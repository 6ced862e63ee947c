"""The calls of scorers that ask a judge, written."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Sequence

from passband.errors import InvalidInput
from passband.trials import packing
from passband.trials.call_totals import CallTotals, put_totals, read_totals
from passband.trials.calls import calls_of, replies_of
from passband.trials.rows import CallRow
from passband.trials.writer import Writer

__all__ = ["CallTable"]


class CallTable(Writer):
    """Calls to judges, each of which is recorded once, as soon as it has ended."""

    def add_calls(self, calls: Iterable[CallRow]) -> None:
        """Record calls, all of them or, if this raises, none; they are on disk afterwards.

        A call of that trial, number and attempt must not be recorded yet.
        """
        self._require_room()
        by_scorer: dict[int, list[CallRow]] = {}
        for call in calls:
            by_scorer.setdefault(call.scorer, []).append(call)
        with self.transaction():
            for scorer, rows in by_scorer.items():
                self._add_calls(scorer, rows)

    def calls(self, scorer: int, problem: int, trial: int) -> list[CallRow]:
        """Return the calls of a scorer for one trial, by number and attempt."""
        where = "scorer=? AND problem=? AND trial=?"
        return list(calls_of(self._checked, where, scorer, problem, trial))

    def replies(self, keys: Iterable[bytes]) -> dict[bytes, list[CallRow]]:
        """Return what judges have replied to each of these requests, whoever asked; first is best.

        Keys that have no reply are left out. Failed calls and copies of replies are left out too.
        """
        return replies_of(self._checked, keys)

    # -- inside ----------------------------------------------------------------------------

    def _add_calls(self, scorer: int, calls: Sequence[CallRow]) -> None:
        self._require_problems_of(scorer, {call.problem for call in calls})
        totals = read_totals(self._checked, scorer, self._tallies.value("call", scorer))
        rows = []
        for call in calls:
            rows.append(packing.call(call))
            totals.add(call)
        try:
            self._insert("call", rows)
        except sqlite3.IntegrityError:
            raise InvalidInput(
                f"a call of scorer {scorer} for problem {calls[0].problem} is recorded already; "
                "another attempt at it needs a number of its own."
            ) from None
        self._tallies.count("call", scorer, len(rows))
        put_totals(self._connection, scorer, totals)

    def _require_problems_of(self, scorer: int, problems: Collection[int]) -> None:
        runs = [row[1] for row in self.rows("scorer", "scorer=?", scorer)]
        if not runs:
            raise InvalidInput(f"no scorer has the number {scorer}.")
        query = "SELECT 1 FROM problem WHERE run=? AND problem=?"
        for problem in problems:
            if not self._all(query, runs[0], problem):
                raise InvalidInput(f"the run of scorer {scorer} has no problem {problem}.")

    def _forget_calls(self, run: int, kept: Collection[int] = ()) -> None:
        """Delete the calls of a run without trials, except those for some problems."""
        for (scorer,) in self._all("SELECT scorer FROM scorer WHERE run=?", run):
            calls = list(calls_of(self._checked, "scorer=?", scorer))
            if not calls:
                continue
            self._connection.execute("DELETE FROM call WHERE scorer=?", (scorer,))
            self._tallies.count("call", scorer, -len(calls))
            put_totals(self._connection, scorer, CallTotals())
            self._add_calls(scorer, [call for call in calls if call.problem in kept])
