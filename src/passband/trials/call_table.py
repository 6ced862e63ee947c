"""The calls of scorers that ask a judge, written."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from passband.errors import InvalidInput
from passband.trials import packing
from passband.trials.call_totals import TALLY, CallTotals, read_totals
from passband.trials.calls import calls_of, replies_of
from passband.trials.packing import INTO, MARKS, packed
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

    def _add_calls(self, scorer: int, calls: list[CallRow]) -> None:
        if not self._all("SELECT 1 FROM scorer WHERE scorer=?", scorer):
            raise InvalidInput(f"no scorer has the number {scorer}.")
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
        self._put_totals(scorer, totals)

    def _put_totals(self, scorer: int, totals: CallTotals) -> None:
        values = packed("spare", (TALLY, scorer, totals.text()))
        self._connection.execute(f"INSERT OR REPLACE {INTO['spare']} {MARKS['spare']}", values)
