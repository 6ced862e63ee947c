"""Store the calls to judges: write them, read them, total them, and read votes from them.

The totals of a scorer are a row of `spare`, as JSON, written in the transaction that adds the
calls. A vote of a pairwise judge combines both orders of the pair.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, field
from itertools import groupby
from typing import Any, NamedTuple

from passband.errors import InvalidInput
from passband.trials.encoding import decoded
from passband.trials.file import packing
from passband.trials.file.checked_rows import CheckedRows
from passband.trials.file.checksums import is_intact
from passband.trials.file.packing import CALL_STATUS, INTO, MARKS, packed
from passband.trials.file.schema import selected
from passband.trials.file.writer import StoreWriter
from passband.trials.rows import CALL_STATUSES, CallRow, CallStatus


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


_PLACE = "scorer, problem, trial, call, attempt"
_FAILED = CALL_STATUS["failed"]
_TOGETHER = 500  # keys of one query


def calls_of(rows: CheckedRows, where: str, *arguments: object) -> Iterator[CallRow]:
    """Yield the calls that a condition chooses, by scorer, problem, trial, call and attempt."""
    query = f"SELECT {selected('call')} FROM call WHERE {where} ORDER BY {_PLACE}"
    for row in rows.each(query, *arguments):
        yield call_of(rows, row)


def all_calls(rows: CheckedRows, scorer: int) -> Iterator[CallRow]:
    """Yield every call of a scorer, and require that none is lost."""
    count = 0
    for row in calls_of(rows, "scorer=?", scorer):
        count += 1
        yield row
    rows.require("call", scorer, count)


def replies_of(rows: CheckedRows, keys: Iterable[bytes]) -> dict[bytes, list[CallRow]]:
    """Return the paid replies to each of these requests that has any, by attempt and time."""
    wanted = list(dict.fromkeys(keys))
    found: dict[bytes, list[CallRow]] = {}
    for start in range(0, len(wanted), _TOGETHER):
        chunk = wanted[start : start + _TOGETHER]
        where = f"key IN ({','.join('?' * len(chunk))}) AND NOT cached AND status<>{_FAILED}"
        for row in calls_of(rows, where, *chunk):
            found.setdefault(row.key, []).append(row)
    for replies in found.values():
        replies.sort(key=lambda row: (row.attempt, row.at_ms))
    return found


def call_of(rows: CheckedRows, row: tuple[Any, ...]) -> CallRow:
    """Return the call of a row of its table."""
    if not is_intact("call", row):
        raise rows.damaged("call", row)
    (scorer, problem, trial, number, attempt, key, at, status, cached, value, prompt, completion,
     cost, latency, seed, http, outcome, detail, codec, reply, _) = row  # fmt: skip
    if not 0 <= status < len(CALL_STATUSES):
        raise rows.corrupt(f"no call has the status {status}")
    try:
        text = decoded(codec, reply)
    except (ValueError, zlib.error) as error:
        raise rows.corrupt(f"a judge's reply cannot be read: {error}") from error
    return CallRow(
        scorer, problem, trial, number, attempt, key, at, CALL_STATUSES[status], value, text,
        prompt, completion, cost, latency, seed, bool(cached), outcome, http, detail,
    )  # fmt: skip


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


class CallTable(StoreWriter):
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
