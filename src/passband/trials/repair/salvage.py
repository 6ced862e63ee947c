"""Salvage: copy the readable rows of a damaged store to a new run directory.

SQLite stops at the first page that it cannot read. Here every table is read from both ends, and
between two damaged pages by halves, down to single rows. Every row is checked: what is copied is
what was written. A row that has lost what it cannot do without is left out: a trial without its
completion is better asked again. A completion that has lost its trial gets a new one: it knows
its place and its status, while tokens, seed, latency and the number of attempts are unknown. A call
to a judge is kept without its trial: its reply is paid for, and found by what was asked.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput, PassbandError
from passband.trials.encoding import storable
from passband.trials.file.checked_rows import CheckedRows
from passband.trials.file.judge_calls import CallTotals, calls_of, put_totals
from passband.trials.file.lock import Busy, holder
from passband.trials.file.packing import INTO, MARKS, SPARED, fill_spare, packed, spared
from passband.trials.file.schema import STORE_FILE, text_of
from passband.trials.file.tallies import Tallies
from passband.trials.repair.rescue import KEYS, Rescue, make, opened, spare_rows

_BLOCK = 4096  # bytes: a page, and what a bad disk loses at least

# What each row needs of the others, in the order in which they have to be looked at.
_INCOMPLETE = {
    "problem": "run NOT IN (SELECT run FROM run)",
    "scorer": "run NOT IN (SELECT run FROM run)",
    "trial": "(run, problem) NOT IN (SELECT run, problem FROM problem) "
    "OR (body NOT NULL AND body NOT IN (SELECT id FROM body))",
    "body": "id NOT IN (SELECT body FROM trial WHERE body NOT NULL)",
    "score": "NOT EXISTS (SELECT 1 FROM scorer AS s JOIN trial AS t ON t.run=s.run "
    "WHERE s.scorer=score.scorer AND t.problem=score.problem AND t.trial=score.trial)",
    "attempt": "run NOT IN (SELECT run FROM run)",
    "call": "NOT EXISTS (SELECT 1 FROM scorer AS s JOIN problem AS p ON p.run=s.run "
    "WHERE s.scorer=call.scorer AND p.problem=call.problem)",
}
_LOOSE = (
    "SELECT id, run, problem, trial, status FROM body AS b WHERE NOT EXISTS (SELECT 1 FROM trial "
    "AS t WHERE t.run=b.run AND t.problem=b.problem AND t.trial=b.trial)"
)


@dataclass(frozen=True)
class Salvaged:
    """The rows of each table that were copied, and the readable ones that were of no use."""

    rows: dict[str, int]
    incomplete: dict[str, int]
    restored: int = 0  # trials that were lost, made again from their completions


def salvage_store(damaged: Path, new: Path) -> Salvaged:
    """Copy what can be read of a run directory to a new one; the old one is not touched."""
    if not (damaged / STORE_FILE).is_file():
        raise InvalidInput(f"{damaged} is not a run directory: it has no {STORE_FILE}.")
    if new.exists() and (not new.is_dir() or any(new.iterdir())):
        raise InvalidInput(f"{new} exists already; give a new directory.")
    if (owner := holder(damaged)) is not None:
        raise Busy(f"{damaged} is in use by {owner}.")
    new.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=new.parent, prefix=f".{new.name}.") as folder:
        copy, made = Path(folder) / "copy" / STORE_FILE, Path(folder) / "new"
        _copy_blocks(damaged / STORE_FILE, copy)
        log = damaged / f"{STORE_FILE}-wal"
        if log.exists():
            _copy_blocks(log, copy.with_name(log.name))
        made.mkdir()
        salvaged = _copy_rows(copy, made / STORE_FILE, damaged / STORE_FILE)
        made.rename(new)
    return salvaged


def _copy_blocks(source: Path, target: Path) -> None:
    """Copy a file; blocks that cannot be read become zeros."""
    target.parent.mkdir(exist_ok=True)
    with source.open("rb", buffering=0) as old, target.open("wb") as new:
        size = os.fstat(old.fileno()).st_size
        for start in range(0, size, _BLOCK):
            length = min(_BLOCK, size - start)
            try:
                block = os.pread(old.fileno(), length, start)
            except OSError:
                block = b""
            new.write(block.ljust(length, b"\0"))


def _copy_rows(copy: Path, path: Path, damaged: Path) -> Salvaged:
    with closing(opened(copy, damaged)) as source, closing(make(path)) as target:
        target.text_factory = text_of
        rescue = Rescue(source)
        target.execute("BEGIN")
        for table in KEYS:
            _fill(target, table, rescue.rows(table))
        for table in SPARED:
            _fill(target, table, spared(spare_rows(source), table))
        restored = _restore_trials(target)
        incomplete = {
            table: target.execute(f"DELETE FROM {table} WHERE {condition}").rowcount
            for table, condition in _INCOMPLETE.items()
        }
        rebuild(target, path)
        target.execute("COMMIT")
        counts = {
            table: int(target.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
            for table in KEYS
        }
    if not counts["run"]:
        raise PassbandError("nothing can be read of it: the names of its tasks are lost.")
    lost = {table: count for table, count in incomplete.items() if count}
    return Salvaged(counts, lost, restored)


def _fill(target: sqlite3.Connection, table: str, rows: Iterator[tuple[Any, ...]]) -> None:
    """Insert rows, except those that are there and those that the table does not take."""
    into = f"{INTO[table]} {MARKS[table]}"
    for row in rows:
        values = [storable(value) if isinstance(value, str) else value for value in row]
        try:
            target.execute(f"INSERT OR IGNORE {into}", values)
        except sqlite3.Error:
            continue


def _restore_trials(target: sqlite3.Connection) -> int:
    """Make trials for completions that have lost theirs, and return how many."""
    loose = [
        packed("trial", (run, problem, trial, status, *[None] * 3, 0, None, None, number,
                         *[None] * 6))
        for number, run, problem, trial, status in target.execute(_LOOSE).fetchall()
    ]  # fmt: skip
    return sum(
        target.execute(f"INSERT OR IGNORE {INTO['trial']} {MARKS['trial']}", row).rowcount
        for row in loose
    )


def rebuild(connection: sqlite3.Connection, path: Path) -> None:
    """Make tallies and counters from the rows they count, and the second copies of rows."""
    fill_spare(connection)
    for table in ("trial_tally", "score_tally", "counter"):
        connection.execute(f"DELETE FROM {table}")
    tallies = Tallies(connection, path)
    for table in ("run", "session", "source", "scorer"):
        tallies.count(table, 0, connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
    for (run,) in connection.execute("SELECT run FROM run").fetchall():
        for table in ("problem", "attempt"):
            query = f"SELECT count(*) FROM {table} WHERE run=?"
            tallies.count(table, run, connection.execute(query, (run,)).fetchone()[0])
        scorers = _column(connection, "SELECT scorer FROM scorer WHERE run=?", run)
        problems = _column(connection, "SELECT problem FROM problem WHERE run=?", run)
        tallies.recount(run, scorers, problems)
        for scorer in scorers:
            _add_calls_up(connection, path, tallies, scorer)
        tallies.write()
    tallies.count("commit", 0, 1)
    tallies.write()


def _add_calls_up(
    connection: sqlite3.Connection, path: Path, tallies: Tallies, scorer: int
) -> None:
    totals = CallTotals()
    for call in calls_of(CheckedRows(connection, path), "scorer=?", scorer):
        totals.add(call)
    if totals.calls:
        tallies.count("call", scorer, totals.calls)
        put_totals(connection, scorer, totals)


def _column(connection: sqlite3.Connection, query: str, run: int) -> list[int]:
    return [row[0] for row in connection.execute(query, (run,))]
