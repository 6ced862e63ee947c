"""What can still be read of a damaged store, copied to a new run directory.

SQLite stops at the first page that it cannot read. Here every table is read from both ends, and
between two damaged pages by halves, down to single rows. Then whatever has lost something that
it cannot do without is left out: a trial without its completion is better asked again.
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
from passband.trials.codec import readable
from passband.trials.lock import Busy, holder
from passband.trials.schema import FILE, connect

__all__ = ["Salvaged", "salvage"]

# By what each table is read. Tables that others refer to come first: they tell how far to look.
_KEYS = {
    "run": ("rowid",),
    "session": ("rowid",),
    "scorer": ("rowid",),
    "problem": ("rowid",),
    "trial": ("run", "problem", "trial"),
    "body": ("rowid",),
    "score": ("scorer", "problem", "trial"),
    "attempt": ("run", "problem", "trial", "attempt"),
}
_FARTHEST = 2**62
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
}


@dataclass(frozen=True)
class Salvaged:
    """How many rows of each table were copied, and how many readable ones were of no use."""

    rows: dict[str, int]
    incomplete: dict[str, int]


def salvage(damaged: Path, new: Path) -> Salvaged:
    """Copy what can be read of a run directory to a new one; the old one is not touched."""
    if not (damaged / FILE).is_file():
        raise InvalidInput(f"{damaged} is not a run directory: it has no {FILE}.")
    if new.exists() and (not new.is_dir() or any(new.iterdir())):
        raise InvalidInput(f"{new} is there already; give a directory that is not.")
    if (who := holder(damaged)) is not None:
        raise Busy(f"{damaged} is in use by {who}.")
    new.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=new.parent, prefix=f".{new.name}.") as folder:
        copy, made = Path(folder) / "damaged" / FILE, Path(folder) / "new"
        _copy_blocks(damaged / FILE, copy)
        log = damaged / f"{FILE}-wal"
        if log.exists():
            _copy_blocks(log, copy.with_name(log.name))
        made.mkdir()
        with closing(connect(made / FILE)) as target:
            found = _copy_rows(copy, target)
        made.rename(new)
    return found


def _copy_blocks(source: Path, target: Path) -> None:
    """Copy a file; what the disk does not give back is zero."""
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


def _copy_rows(copy: Path, target: sqlite3.Connection) -> Salvaged:
    with closing(_opened(copy)) as source:
        rescue = _Rescue(source)
        target.execute("BEGIN")
        for table in _KEYS:
            _fill(target, table, rescue.rows(table))
        incomplete = {
            table: target.execute(f"DELETE FROM {table} WHERE {condition}").rowcount
            for table, condition in _INCOMPLETE.items()
        }
        target.execute("COMMIT")
    rows = {
        table: int(target.execute(f"SELECT count(*) FROM {table}").fetchone()[0]) for table in _KEYS
    }
    if not rows["run"]:
        raise PassbandError("nothing can be read of it: the names of its tasks are lost.")
    return Salvaged(rows, {table: count for table, count in incomplete.items() if count})


def _fill(target: sqlite3.Connection, table: str, rows: Iterator[tuple[Any, ...]]) -> None:
    """Insert rows, except those that are there and those that no table of ours would take."""
    columns = target.execute(f"PRAGMA table_info({table})").fetchall()
    marks = ",".join("CAST(? AS TEXT)" if kind == "TEXT" else "?" for _, _, kind, *_ in columns)
    for row in rows:
        if table == "body" and not readable(*row[1:]):
            continue
        try:
            target.execute(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", row)
        except sqlite3.Error:
            continue


def _opened(copy: Path) -> sqlite3.Connection:
    """Open a copy, if need be with a new first page: it holds the tables, alike in every store."""
    try:
        return _readable(copy)
    except sqlite3.DatabaseError:
        pass
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder) / FILE
        connect(fresh).close()
        head = bytearray(fresh.read_bytes()[:_BLOCK])
    head[28:32] = (copy.stat().st_size // _BLOCK).to_bytes(4, "big")  # pages of the file
    with copy.open("r+b") as file:
        file.write(head)
    try:
        return _readable(copy)
    except sqlite3.DatabaseError as error:
        raise PassbandError(f"nothing can be read of it: {error}.") from error


def _readable(copy: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(copy, isolation_level=None)
    connection.text_factory = bytes  # as it is, whatever it is
    try:
        connection.execute("SELECT 1 FROM run LIMIT 1")
    except sqlite3.DatabaseError:
        connection.close()
        raise
    return connection


class _Rescue:
    """Reads tables around what is damaged."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._most: dict[str, int] = {}  # the largest number seen, by column

    def rows(self, table: str) -> Iterator[tuple[Any, ...]]:
        """Yield every row that can be read, some of them more than once."""
        for row in self._between(table, (), 0, _FARTHEST):
            if table == "trial" and isinstance(row[-1], int):
                self._most["body.rowid"] = max(self._most.get("body.rowid", 0), row[-1])
            yield row

    def _between(
        self, table: str, prefix: tuple[int, ...], low: int, high: int
    ) -> Iterator[tuple[Any, ...]]:
        """Yield rows whose key begins with `prefix` and goes on with a number in this range."""
        at = len(prefix)
        column = _KEYS[table][at]
        name = f"{table}.{column}" if column == "rowid" else column
        for order in ("ASC", "DESC"):
            last: int | None = None
            try:
                for key, row in self._scan(table, prefix, low, high, order):
                    last = key[at]
                    self._most[name] = max(self._most.get(name, 0), key[at])
                    yield row
                return
            except sqlite3.DatabaseError:
                if last is not None:
                    low, high = (last, high) if order == "ASC" else (low, last)
        high = min(high, self._most.get(name, low))
        if low < high:
            middle = (low + high) // 2
            yield from self._between(table, prefix, low, middle)
            yield from self._between(table, prefix, middle + 1, high)
        elif low == high and at + 1 < len(_KEYS[table]):
            yield from self._between(table, (*prefix, low), 0, _FARTHEST)

    def _scan(
        self, table: str, prefix: tuple[int, ...], low: int, high: int, order: str
    ) -> Iterator[tuple[tuple[int, ...], tuple[Any, ...]]]:
        keys = _KEYS[table]
        fixed = "".join(f"{key}=? AND " for key in keys[: len(prefix)])
        by = ", ".join(f"{key} {order}" for key in keys)
        query = (
            f"SELECT {', '.join(keys)}, * FROM {table} NOT INDEXED "
            f"WHERE {fixed}{keys[len(prefix)]} BETWEEN ? AND ? ORDER BY {by}"
        )
        for found in self._connection.execute(query, (*prefix, low, high)):
            yield found[: len(keys)], found[len(keys) :]
