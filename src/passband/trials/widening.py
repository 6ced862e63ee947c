"""From versions 2 and 3 of the tables to version 4, without writing a trial again.

Version 2 gets columns and second copies of its runs and scorers, version 3 the table of calls.
Each table stays where it is in the file, which is where salvaging looks for it. A file that is only
read is not changed: it gets views of the same names, with the columns that its tables lack, and
empty tables for those that it lacks.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from passband.trials.checksums import is_intact
from passband.trials.packing import insertions, packed
from passband.trials.roots import note_roots
from passband.trials.schema import VERSION, corrupt, create_table, definitions, selected
from passband.trials.spare import fill_spare

__all__ = ["show_widened", "widen"]

_WIDENED = ("session", "trial")
_KEPT = ("session", "started")  # the columns of sessions that may be NULL now have to be rebuilt


def show_widened(connection: sqlite3.Connection, version: int) -> None:
    """Let queries of a file of an earlier version find its missing columns, NULL, and tables."""
    connection.execute("PRAGMA temp_store=MEMORY")
    connection.execute(create_table("call", temporary=True))
    if version > 2:
        return
    connection.execute(create_table("spare", temporary=True))
    for table in _WIDENED:
        columns = selected(table, 2)
        connection.execute(f"CREATE TEMP VIEW {table} AS SELECT {columns} FROM main.{table}")


def widen(connection: sqlite3.Connection, path: Path, version: int) -> None:
    """Make a file of version 2 or 3 one of version 4; inside a transaction."""
    if version == 2:
        _widen_sessions(connection, path)
        connection.execute("ALTER TABLE trial ADD COLUMN finish_reason TEXT")
        connection.execute(create_table("spare"))
        fill_spare(connection)
    connection.execute(create_table("call"))
    note_roots(connection, ("spare", "call"))
    connection.execute(f"PRAGMA user_version={VERSION}")


def _widen_sessions(connection: sqlite3.Connection, path: Path) -> None:
    rows = connection.execute(f"SELECT {selected('session', 2)} FROM session").fetchall()
    for row in rows:
        if not is_intact("session", row):
            raise corrupt(path, f"row {row[0]!r} of session is not what was written")
    connection.execute("DELETE FROM session")
    names = [row[1] for row in connection.execute("PRAGMA table_info(session)").fetchall()]
    for name in names:
        if name not in _KEPT:
            connection.execute(f"ALTER TABLE session DROP COLUMN {name}")
    for definition in definitions("session"):
        if definition.split()[0] not in _KEPT:
            connection.execute(f"ALTER TABLE session ADD COLUMN {definition}")
    sessions = [packed("session", row[:-1]) for row in rows]
    for statement, values in insertions("session", sessions):
        connection.execute(statement, values)
