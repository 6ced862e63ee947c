"""The calls of a scorer added up: how many, how many failed, tokens and cost.

The sums are a row of `spare`, as JSON, written in the transaction that adds the calls.
"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import astuple, dataclass, field

from passband.trials.checked import CheckedRows
from passband.trials.packing import CALL_STATUS, INTO, MARKS, packed
from passband.trials.rows import CALL_STATUSES, CallRow, CallStatus

__all__ = ["TALLY", "CallSums", "CallTotals", "put_totals", "read_totals"]

TALLY = "call_tally"  # the name of such a row in `spare`


@dataclass(slots=True)
class CallSums:
    """The calls of one scorer that have one status."""

    calls: int = 0
    cached: int = 0  # of them, how many found their reply in the store
    priced: int = 0  # and how many have a cost
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0

    def add(self, row: CallRow) -> None:
        """Add a call."""
        self.calls += 1
        self.cached += row.is_cached
        self.priced += row.cost is not None
        self.prompt_tokens += row.prompt_tokens or 0
        self.completion_tokens += row.completion_tokens or 0
        self.cost += row.cost or 0.0


@dataclass
class CallTotals:
    """The calls of one scorer added up, by status."""

    sums: dict[CallStatus, CallSums] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str) -> CallTotals:
        """Return the sums that a row of `spare` holds."""
        return cls({CALL_STATUSES[status]: CallSums(*sums) for status, *sums in json.loads(text)})

    def text(self) -> str:
        """Return the sums as a row of `spare` holds them."""
        rows = [[CALL_STATUS[status], *astuple(sums)] for status, sums in self.sums.items()]
        return json.dumps(sorted(rows))

    def add(self, row: CallRow) -> None:
        """Add a call."""
        self.sums.setdefault(row.status, CallSums()).add(row)

    def plus(self, other: CallTotals) -> CallTotals:
        """Return the sums of both."""
        statuses = {**self.sums, **other.sums}
        return CallTotals({s: _added(self.sums.get(s), other.sums.get(s)) for s in statuses})

    @property
    def calls(self) -> int:
        """All of them, failed and cached ones included."""
        return sum(sums.calls for sums in self.sums.values())

    @property
    def failed(self) -> int:
        """Those that came back with no reply."""
        return self.sums["failed"].calls if "failed" in self.sums else 0

    @property
    def cached(self) -> int:
        """Those that found their reply in the store, so that nobody was asked."""
        return sum(sums.cached for sums in self.sums.values())

    @property
    def unpriced(self) -> int:
        """Replies from a judge whose cost is not recorded."""
        replied = [sums for status, sums in self.sums.items() if status != "failed"]
        return sum(sums.calls - sums.cached - sums.priced for sums in replied)

    @property
    def prompt_tokens(self) -> int:
        """Tokens that went in, where they were counted."""
        return sum(sums.prompt_tokens for sums in self.sums.values())

    @property
    def completion_tokens(self) -> int:
        """Tokens that came out, where they were counted."""
        return sum(sums.completion_tokens for sums in self.sums.values())

    @property
    def cost(self) -> float:
        """What the calls cost, where that was recorded with them."""
        return sum(sums.cost for sums in self.sums.values())


def _added(one: CallSums | None, other: CallSums | None) -> CallSums:
    pairs = zip(astuple(one or CallSums()), astuple(other or CallSums()), strict=True)
    return CallSums(*(a + b for a, b in pairs))


def read_totals(rows: CheckedRows, scorer: int, calls: int | None = None) -> CallTotals:
    """Return the calls of a scorer added up; as many as the counter says, or else `calls`."""
    texts = [row[2] for row in rows.rows("spare", "name=? AND number=?", TALLY, scorer)]
    totals = CallTotals.of(texts[0]) if texts else CallTotals()
    expected = rows.counter("call", scorer) if calls is None else calls
    if totals.calls != expected:
        raise rows.corrupt(f"{totals.calls} calls are added up where {expected} were written")
    return totals


def put_totals(connection: sqlite3.Connection, scorer: int, totals: CallTotals) -> None:
    """Write the sums of a scorer in place of what is there; none where there are no calls."""
    if not totals.calls:
        connection.execute("DELETE FROM spare WHERE name=? AND number=?", (TALLY, scorer))
        return
    values = packed("spare", (TALLY, scorer, totals.text()))
    connection.execute(f"INSERT OR REPLACE {INTO['spare']} {MARKS['spare']}", values)
