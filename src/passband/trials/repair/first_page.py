"""Runs and scorers a second time, elsewhere in the file: without them no other row can be used.

They are written whenever a run or a scorer is, and read only to salvage and to check.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from typing import Any

from passband.trials.file.packing import INTO, MARKS, packed
from passband.trials.file.schema import selected

SPARED = ("run", "scorer")


def put_spare(connection: sqlite3.Connection, table: str, row: tuple[object, ...]) -> None:
    """Write a row, given without its checksum, in place of what is there."""
    values = packed("spare", (table, row[0], json.dumps(row)))
    connection.execute(f"INSERT OR REPLACE {INTO['spare']} {MARKS['spare']}", values)


def drop_spare(connection: sqlite3.Connection, table: str) -> None:
    """Delete the rows that the table itself has no longer."""
    gone = f"name=? AND number NOT IN (SELECT {table} FROM {table})"
    connection.execute(f"DELETE FROM spare WHERE {gone}", (table,))


def fill_spare(connection: sqlite3.Connection) -> None:
    """Write every run and every scorer again."""
    connection.execute("DELETE FROM spare")
    for table in SPARED:
        for row in connection.execute(f"SELECT {selected(table)} FROM {table}").fetchall():
            put_spare(connection, table, row[:-1])


def spared(rows: Iterable[tuple[Any, ...]], table: str) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a table, with their checksums, that intact rows of `spare` hold."""
    for row in rows:
        if row[0] == table:
            yield packed(table, tuple(json.loads(row[2])))
