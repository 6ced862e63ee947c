"""Auditing a store: every row of every table is read and compared with what was written.

Checksums tell whether a row is as it was written, counters whether one is lost. Beyond that every
completion is decoded, tallies are added up again from their rows, and every row must find the rows
that it refers to.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from math import isclose
from pathlib import Path
from typing import Any

from passband.trials.encoding import readable
from passband.trials.file.checked_rows import CheckedRows
from passband.trials.file.checksums import is_intact
from passband.trials.file.connection import connect_to_audit
from passband.trials.file.judge_calls import TALLY, CallSums, CallTotals, call_of
from passband.trials.file.packing import SPARED, packed, spared
from passband.trials.file.schema import STORE_FILE, TABLES, VERSION, CorruptStore, selected
from passband.trials.file.tallies import ScoreTally, TrialTally

_OF_RUNS = ("problem", "attempt", "trial")  # tables that are counted by run
_TRIALS = (
    f"SELECT {selected('trial', prefix='t.')}, b.* FROM trial AS t "
    "LEFT JOIN body AS b ON b.id=t.body ORDER BY t.run, t.problem, t.trial"
)
_SCORES = (
    f"SELECT {selected('score', prefix='s.')}, t.status FROM score AS s "
    "LEFT JOIN scorer AS c ON c.scorer=s.scorer "
    "LEFT JOIN trial AS t ON t.run=c.run AND t.problem=s.problem AND t.trial=s.trial "
    "ORDER BY s.scorer, s.problem, s.trial"
)
_CALLS = (
    f"SELECT {selected('call', prefix='k.')}, p.problem FROM call AS k "
    "LEFT JOIN scorer AS s ON s.scorer=k.scorer "
    "LEFT JOIN problem AS p ON p.run=s.run AND p.problem=k.problem"
)
_LARGE = ("trial", "body", "score", "call")  # tables of which no row is kept
_LOOSE = "SELECT * FROM body WHERE id NOT IN (SELECT body FROM trial WHERE body NOT NULL)"
_COLUMNS = len(TABLES["trial"])


@dataclass(frozen=True)
class Audit:
    """The rows of each table that were read, and what is not as it was written."""

    directory: str
    version: int  # of the layout; 0 where the file cannot be opened
    rows: dict[str, int]
    damage: list[str]

    @property
    def is_intact(self) -> bool:
        """Whether everything is as it was written."""
        return not self.damage


def audit_store(directory: Path) -> Audit:
    """Read everything in a run directory, also while a run is writing it."""
    damage: list[str] = []
    connection = connect_to_audit(directory / STORE_FILE, damage)
    if connection is None:
        return Audit(str(directory), 0, {}, damage)
    with closing(connection):
        auditor = _Auditor(connection, directory / STORE_FILE, damage)
        auditor.audit()
        return Audit(str(directory), VERSION, auditor.counts, damage)


@dataclass
class _Auditor:
    connection: sqlite3.Connection
    path: Path
    damage: list[str]
    counts: dict[str, int] = field(default_factory=dict)
    _rows: dict[str, list[tuple[Any, ...]]] = field(default_factory=dict)
    _by: dict[tuple[str, int], int] = field(default_factory=dict)  # rows of a run or scorer
    _uncounted: set[tuple[Any, ...]] = field(default_factory=set)  # problems with damaged rows
    _trials: dict[Any, TrialTally] = field(default_factory=dict)
    _scores: dict[Any, ScoreTally] = field(default_factory=dict)
    _calls: dict[int, CallTotals] = field(default_factory=dict)

    def audit(self) -> None:
        """Look at one table after the other; where one cannot be read, go on with the next."""
        self._checked = CheckedRows(self.connection, self.path)
        self.connection.execute("BEGIN")  # all of it as it is at one moment
        for step in (self._structure, self._small_tables, self._bodies, self._score_rows,
                     self._call_rows, self._counters, self._tallies, self._call_tallies,
                     self._references, self._spares):  # fmt: skip
            try:
                step()
            except CorruptStore as error:
                self.damage.append(error.why)

    def _structure(self) -> None:
        for (line,) in self._checked.each("PRAGMA integrity_check(100)"):
            if line != "ok":
                self.damage.append(f"the file: {' '.join(str(line).split())}")

    def _small_tables(self) -> None:
        for table in TABLES:
            if table in _LARGE:
                continue
            rows = self._rows[table] = []
            for row in self._each(table, f"SELECT {selected(table)} FROM {table}"):
                if is_intact(table, row):
                    rows.append(row[:-1])
                else:
                    self.damage.append(self._checked.description(table, row))
                if table in _OF_RUNS:
                    self._count(table, row[0])

    def _bodies(self) -> None:
        """Check every trial with its completion, and the completions that have no trial."""
        bodies = 0
        for row in self._each("trial", _TRIALS):
            trial, body = row[:_COLUMNS], row[_COLUMNS:]
            self._count("trial", trial[0])
            if not is_intact("trial", trial):
                self.damage.append(self._checked.description("trial", trial))
                self._uncounted.add(("trial", *trial[:2]))
                bodies += body[0] is not None
                continue
            key = trial[0], trial[1], trial[3]
            self._trials.setdefault(key, TrialTally()).add(trial)
            if trial[10] is not None:
                bodies += body[0] is not None
                if not _belongs(trial, body):
                    place = self._checked.place(*trial[:3])
                    what = "is lost" if body[0] is None else "is not what was written"
                    self.damage.append(f"a completion {what}: {place}")
        ((self.counts["body"],),) = self._checked.each("SELECT count(*) FROM body")
        if self.counts["body"] != bodies:
            for row in self._checked.each(_LOOSE):
                self.damage.append(f"a completion has no trial: {self._checked.place(*row[1:4])}")

    def _score_rows(self) -> None:
        for row in self._each("score", _SCORES):
            score, status = row[:-1], row[-1]
            self._count("score", score[0])
            if not is_intact("score", score) or not readable(0, score[5]):
                self.damage.append(self._checked.description("score", score))
                self._uncounted.add(("score", *score[:2]))
            elif status is None:
                self.damage.append(self._checked.description("score", score, "has no trial"))
            else:
                key = score[0], score[1], status, score[4]
                self._scores.setdefault(key, ScoreTally()).add(score[3])

    def _call_rows(self) -> None:
        for row in self._each("call", _CALLS):
            self._count("call", row[0])
            try:
                call = call_of(self._checked, row[:-1])
            except CorruptStore as error:
                self.damage.append(error.why)
                self._uncounted.add(("call", row[0]))
                continue
            if row[-1] is None:
                self.damage.append(self._checked.description("call", row, "has no problem"))
            self._calls.setdefault(call.scorer, CallTotals()).add(call)

    def _counters(self) -> None:
        """Compare how many rows there are with how many were written."""
        written = {(row[0], row[1]): row[2] for row in self._rows["counter"]}
        found = {(table, 0): self.counts[table] for table in ("run", "session", "source", "scorer")}
        found |= self._by
        for key in sorted({*written, *found} - {("commit", 0)}, key=repr):  # damaged: no number
            if written.get(key, 0) != found.get(key, 0):
                name, number = key
                of = (
                    f" of {'scorer' if name in ('score', 'call') else 'run'} {number}"
                    if number
                    else ""
                )
                self.damage.append(
                    f"{found.get(key, 0)} rows of {name}{of} where {written.get(key, 0)} were "
                    f"written"
                )

    def _tallies(self) -> None:
        """Compare the tallies with what their rows add up to."""
        trials = {row[:3]: TrialTally.of_row(row) for row in self._rows["trial_tally"]}
        scores = {row[:4]: ScoreTally.of_row(row) for row in self._rows["score_tally"]}
        for run, problem, *status in _different(trials, self._trials):
            if ("trial", run, problem) in self._uncounted:
                continue
            place = self._checked.place(run, problem)
            self.damage.append(f"a tally of trials with status {status[0]} is wrong: {place}")
        for scorer, problem, *_ in _different(scores, self._scores):
            if ("score", scorer, problem) in self._uncounted:
                continue
            self.damage.append(f"a tally of scores by scorer {scorer} is wrong: problem {problem}")

    def _call_tallies(self) -> None:
        """Compare the sums of calls with what the calls add up to."""
        rows = [row for row in self._rows["spare"] if row[0] == TALLY]
        written = _sums({row[1]: CallTotals.of(row[2]) for row in rows})
        for scorer, status in _different(written, _sums(self._calls)):
            if ("call", scorer) not in self._uncounted:
                self.damage.append(f"the sums of {status} calls by scorer {scorer} are wrong")

    def _references(self) -> None:
        runs = {row[0] for row in self._rows["run"]}
        problems = {row[:2] for row in self._rows["problem"]}
        for table in ("problem", "attempt", "scorer"):
            column = 1 if table == "scorer" else 0
            lost = {row[column] for row in self._rows[table]} - runs
            self.damage += [f"rows of {table} have no run {run}" for run in sorted(lost, key=repr)]
        for run, problem in sorted({key[:2] for key in self._trials} - problems):
            self.damage.append(f"trials have no problem: {self._checked.place(run, problem)}")

    def _spares(self) -> None:
        """Compare the second copies of runs and scorers with the first."""
        for table in SPARED:
            copies = sorted(spared(self._rows["spare"], table))
            if copies != sorted(packed(table, row) for row in self._rows[table]):
                self.damage.append(f"the second copies of rows of {table} are not those of {table}")

    # -- inside ----------------------------------------------------------------------------

    def _each(self, table: str, query: str) -> Iterator[tuple[Any, ...]]:
        """Yield rows and count them; where they cannot be read further, say so."""
        self.counts[table] = 0
        try:
            for row in self._checked.each(query):
                self.counts[table] += 1
                yield row
        except CorruptStore as error:
            self.damage.append(f"the table {table} cannot be read to its end: {error.why}")

    def _count(self, table: str, number: int) -> None:
        self._by[table, number] = self._by.get((table, number), 0) + 1


def _belongs(trial: tuple[Any, ...], body: tuple[Any, ...]) -> bool:
    """Return whether a completion is whole and that of this trial."""
    return is_intact("body", body) and body[1:5] == trial[:4] and readable(*body[5:9])


def _sums(totals: dict[int, CallTotals]) -> dict[tuple[int, str], CallSums]:
    return {(number, status): sums for number, one in totals.items()
            for status, sums in one.sums.items()}  # fmt: skip


def _different(written: dict[Any, Any], found: dict[Any, Any]) -> list[Any]:
    """Return the keys of tallies that differ by more than the order of addition explains."""
    keys = (
        key
        for key in {*written, *found}
        if key not in written or key not in found or not _agree(written[key], found[key])
    )
    return sorted(keys, key=repr)  # a status in a damaged row of a trial may be of any type


def _agree(
    one: TrialTally | ScoreTally | CallSums, other: TrialTally | ScoreTally | CallSums
) -> bool:
    pairs = ((getattr(one, name), getattr(other, name)) for name in one.__slots__)
    return all(a == b or (isinstance(a, float) and isclose(a, b, rel_tol=1e-9)) for a, b in pairs)
