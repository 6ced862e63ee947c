"""Where tables begin that were added to a file later, for salvaging.

A file that loses its first page gets that of a new one, in which every table begins where it does
in new files. Tables that a migration adds begin elsewhere; counters, which do not, say where.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import suppress

from passband.trials.checksums import is_intact
from passband.trials.packing import INTO, MARKS, packed
from passband.trials.schema import selected

__all__ = ["ROOT", "note_roots", "restore_roots"]

ROOT = "root of "  # a counter's name begins with it, and ends with that of a table


def note_roots(connection: sqlite3.Connection, tables: Sequence[str]) -> None:
    """Write the number of the page at which each table begins."""
    for table in tables:
        query = "SELECT rootpage FROM sqlite_master WHERE name=?"
        (page,) = connection.execute(query, (table,)).fetchone()
        values = packed("counter", (f"{ROOT}{table}", 0, page))
        connection.execute(f"INSERT OR REPLACE {INTO['counter']} {MARKS['counter']}", values)


def restore_roots(connection: sqlite3.Connection) -> None:
    """Let tables begin where the counters say, in a copy that has got a new first page.

    Not where an intact row is found already: tables move when somebody vacuums the file.
    """
    pages = dict(_noted(connection))
    for table in [table for table in pages if _begins_here(connection, table)]:
        del pages[table]
    if not pages:
        return
    connection.execute("PRAGMA writable_schema=ON")
    for table, page in pages.items():
        change = "UPDATE sqlite_master SET rootpage=? WHERE name=?"
        connection.execute(change, (page, table))
    connection.execute("PRAGMA writable_schema=RESET")


def _noted(connection: sqlite3.Connection) -> list[tuple[str, int]]:
    found = []
    with suppress(sqlite3.DatabaseError):
        for name, *values in connection.execute(f"SELECT {selected('counter')} FROM counter"):
            text = name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name)
            if text.startswith(ROOT) and is_intact("counter", (text, *values)):
                found.append((text.removeprefix(ROOT), values[1]))
    return found


def _begins_here(connection: sqlite3.Connection, table: str) -> bool:
    """Return whether the first row of a table can be read and is what was written."""
    factory, connection.text_factory = connection.text_factory, str
    try:
        query = f"SELECT {selected(table)} FROM {table} NOT INDEXED LIMIT 1"
        row = connection.execute(query).fetchone()
    except (sqlite3.DatabaseError, UnicodeDecodeError):
        return False
    finally:
        connection.text_factory = factory
    return row is not None and is_intact(table, row)
