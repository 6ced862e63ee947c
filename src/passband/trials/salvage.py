"""Salvage: copy the readable rows of a damaged store to a new run directory.

SQLite stops at the first page that it cannot read. Here every table is read from both ends, and
between two damaged pages by halves, down to single rows. Every row is checked: what is copied is
what was written. A row that has lost what it cannot do without is left out: a trial without its
completion is better asked again. A completion that has lost its trial gets a new one: it knows
its place and its status, while tokens, seed, latency and the number of attempts are unknown. A call
to a judge is kept without its trial: its reply is paid for, and found by what was asked.
"""

from __future__ import annotations

import json
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput, PassbandError
from passband.trials.codec import readable, storable
from passband.trials.connection import connect
from passband.trials.lock import Busy, holder
from passband.trials.migrations import rebuild
from passband.trials.packing import INTO, MARKS, packed
from passband.trials.rescue import KEYS, Rescue, make, opened, spare_rows
from passband.trials.rows import SCORE_STATUSES, STATUSES
from passband.trials.schema import FILE, VERSION, text_of
from passband.trials.spare import SPARED, spared

__all__ = ["Salvaged", "salvage"]

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
_SINCE = {"source": 2, "call": 4}  # the version that has added a table
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


def salvage(damaged: Path, new: Path) -> Salvaged:
    """Copy what can be read of a run directory to a new one; the old one is not touched."""
    if not (damaged / FILE).is_file():
        raise InvalidInput(f"{damaged} is not a run directory: it has no {FILE}.")
    if new.exists() and (not new.is_dir() or any(new.iterdir())):
        raise InvalidInput(f"{new} exists already; give a new directory.")
    if (owner := holder(damaged)) is not None:
        raise Busy(f"{damaged} is in use by {owner}.")
    new.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=new.parent, prefix=f".{new.name}.") as folder:
        # A run of version 1 may have to be named after its directory.
        copy, made = Path(folder) / "copy" / FILE, Path(folder) / "new" / damaged.resolve().name
        _copy_blocks(damaged / FILE, copy)
        log = damaged / f"{FILE}-wal"
        if log.exists():
            _copy_blocks(log, copy.with_name(log.name))
        made.mkdir(parents=True)
        salvaged = _copy_rows(copy, made / FILE)
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


def _copy_rows(copy: Path, path: Path) -> Salvaged:
    source, version = opened(copy)
    tables = [table for table in KEYS if version >= _SINCE.get(table, 1)]
    with closing(source), closing(make(path, 1 if version == 1 else VERSION)) as target:
        target.text_factory = text_of
        rescue = Rescue(source, version)
        target.execute("BEGIN")
        for table in tables:
            rows = rescue.rows(table)
            if version == 1:
                rows = (row for row in rows if _is_usable(table, row))
            _fill(target, table, rows, version)
        for table in SPARED:
            _fill(target, table, spared(spare_rows(source, version), table), version)
        restored = _restore_trials(target) if version > 1 else 0
        incomplete = {
            table: target.execute(f"DELETE FROM {table} WHERE {condition}").rowcount
            for table, condition in _INCOMPLETE.items()
            if table in tables
        }
        if version > 1:
            rebuild(target, path)
        target.execute("COMMIT")
        counts = dict.fromkeys(KEYS, 0) | {
            table: int(target.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
            for table in tables
        }
    if not counts["run"]:
        raise PassbandError("nothing can be read of it: the names of its tasks are lost.")
    connect(path).close()  # migrates what is of version 1
    lost = {table: count for table, count in incomplete.items() if count}
    return Salvaged(counts, lost, restored)


def _fill(
    target: sqlite3.Connection, table: str, rows: Iterator[tuple[Any, ...]], version: int
) -> None:
    """Insert rows, except those that are there and those that the table does not take."""
    into = f"{INTO[table]} {MARKS[table]}"
    if version == 1:
        columns = target.execute(f"PRAGMA table_info({table})").fetchall()
        marks = ("CAST(? AS TEXT)" if kind == "TEXT" else "?" for _, _, kind, *_ in columns)
        into = f"INTO {table} VALUES ({','.join(marks)})"
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
                         *[None] * 4))
        for number, run, problem, trial, status in target.execute(_LOOSE).fetchall()
    ]  # fmt: skip
    return sum(
        target.execute(f"INSERT OR IGNORE {INTO['trial']} {MARKS['trial']}", row).rowcount
        for row in loose
    )


def _is_usable(table: str, row: tuple[Any, ...]) -> bool:
    """Return whether a row of version 1, which has no checksum, can be what was written."""
    try:
        if table == "body":
            return readable(*row[1:])
        if table == "run":
            return all(isinstance(json.loads(row[column]), dict) for column in (3, 5))
        if table == "problem":
            return isinstance(json.loads(row[4]), dict)
        if table == "trial":
            return row[3] in range(len(STATUSES))
        return table != "score" or row[4] in range(len(SCORE_STATUSES))
    except (TypeError, ValueError):
        return False
