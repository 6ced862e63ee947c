"""Reading the intact rows of damaged tables."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from passband.errors import PassbandError
from passband.trials.file.checksums import is_intact
from passband.trials.file.schema import (
    APPLICATION,
    CREATE,
    STORE_FILE,
    TABLES,
    VERSION,
    expected_tables,
    refuse_other_layout,
    selected,
    tables_of,
)

# By what each table is read. Tables that others refer to come first: they tell how far to look.
KEYS = {
    "run": ("rowid",),
    "session": ("rowid",),
    "source": ("rowid",),
    "scorer": ("rowid",),
    "problem": ("rowid",),
    "trial": ("run", "problem", "trial"),
    "body": ("rowid",),
    "score": ("scorer", "problem", "trial"),
    "attempt": ("run", "problem", "trial", "attempt"),
    "call": ("rowid",),
}
_FARTHEST = 2**62
_PAGE = 4096
_LEAST = 32  # pages; SQLite refuses all tables of a file that ends before the first page of one
_BODY = 10  # where the row of a trial has the number of its body


def opened(copy: Path, original: Path) -> sqlite3.Connection:
    """Open a copy of a file; if need be with a new first page, which holds its tables."""
    try:
        return _readable(copy, original)
    except sqlite3.DatabaseError:
        pass
    with copy.open("r+b") as file:
        size = max(copy.stat().st_size, _LEAST * _PAGE)
        file.truncate(size)
        file.write(_first_page(size // _PAGE))
    try:
        return _readable(copy, original)
    except sqlite3.DatabaseError as error:
        raise PassbandError(f"nothing can be read of it: {error}.") from error


def _first_page(pages: int) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / STORE_FILE
        with closing(make(path)):
            pass
        head = bytearray(path.read_bytes()[:_PAGE])
    head[28:32] = pages.to_bytes(4, "big")
    return bytes(head)


def make(path: Path) -> sqlite3.Connection:
    """Make a file with the tables of a store."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.executescript(
        f"PRAGMA journal_mode=WAL; BEGIN; {CREATE} "
        f"PRAGMA application_id={APPLICATION}; PRAGMA user_version={VERSION}; COMMIT;"
    )
    return connection


def _readable(copy: Path, original: Path) -> sqlite3.Connection:
    """Open a copy whose tables and runs can be read; refuse one of another layout."""
    connection = sqlite3.connect(copy, isolation_level=None)
    try:
        _require_tables(connection, original)
        connection.text_factory = bytes  # as it is, whatever it is
        _require_a_run(connection)
    except UnicodeDecodeError as error:  # in what SQLite says of a table
        connection.close()
        raise sqlite3.DatabaseError("the name of a table is not UTF-8") from error
    except BaseException:
        connection.close()
        raise
    return connection


def _require_tables(connection: sqlite3.Connection, original: Path) -> None:
    found = tables_of(connection)
    if all(found.get(name) == text for name, text in expected_tables().items()):
        return
    if connection.execute("PRAGMA application_id").fetchone()[0] == APPLICATION:
        refuse_other_layout(original, int(connection.execute("PRAGMA user_version").fetchone()[0]))
    raise sqlite3.DatabaseError("its tables are not those of a run directory")


def _require_a_run(connection: sqlite3.Connection) -> None:
    """Require that a run is as it was written, or its second copy is, if there are any."""
    problem = sqlite3.DatabaseError("no run is what was written")
    try:
        runs = connection.execute(f"SELECT {selected('run')} FROM run").fetchall()
        if not runs or any(_intact("run", row) for row in runs):
            return
    except sqlite3.DatabaseError as error:
        problem = error
    if not any(row[0] == "run" for row in spare_rows(connection)):
        raise problem


def spare_rows(connection: sqlite3.Connection) -> Iterator[tuple[Any, ...]]:
    """Yield the intact rows of `spare` that can be read."""
    with suppress(sqlite3.DatabaseError):
        for raw in connection.execute(f"SELECT {selected('spare')} FROM spare"):
            if (row := _intact("spare", raw)) is not None:
                yield row


def _as_text(table: str, row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a row that was read as bytes with its texts decoded, where they can be."""
    values = list(row)
    for place, (_, kind) in enumerate(TABLES[table]):
        if kind == "TEXT" and isinstance(values[place], bytes):
            values[place] = values[place].decode("utf-8", "surrogatepass")
    return tuple(values)


def _intact(table: str, row: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """Return a row as it was written, or None."""
    try:
        values = _as_text(table, row)
    except UnicodeDecodeError:
        return None
    return values if is_intact(table, values) else None


class Rescue:
    """Yields the rows of tables that can be read and are what was written."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._most: dict[str, int] = {}  # the largest number seen, by column

    def rows(self, table: str) -> Iterator[tuple[Any, ...]]:
        """Yield every row that can be read, some of them more than once."""
        for row in self._between(table, (), 0, _FARTHEST):
            if table == "trial" and isinstance(row[_BODY], int):
                self._most["body.rowid"] = max(self._most.get("body.rowid", 0), row[_BODY])
            yield row

    def _between(
        self, table: str, prefix: tuple[int, ...], low: int, high: int
    ) -> Iterator[tuple[Any, ...]]:
        """Yield rows whose key begins with `prefix` and goes on with a number in this range."""
        depth = len(prefix)
        column = KEYS[table][depth]
        name = f"{table}.{column}" if column == "rowid" else column
        for order in ("ASC", "DESC"):
            last: int | None = None
            try:
                for key, raw in self._scan(table, prefix, low, high, order):
                    if (row := _intact(table, raw)) is None:
                        continue
                    last = key[depth]
                    self._most[name] = max(self._most.get(name, 0), last)
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
        elif low == high and depth + 1 < len(KEYS[table]):
            yield from self._between(table, (*prefix, low), 0, _FARTHEST)

    def _scan(
        self, table: str, prefix: tuple[int, ...], low: int, high: int, order: str
    ) -> Iterator[tuple[tuple[int, ...], tuple[Any, ...]]]:
        keys = KEYS[table]
        fixed = "".join(f"{key}=? AND " for key in keys[: len(prefix)])
        by = ", ".join(f"{key} {order}" for key in keys)
        query = (
            f"SELECT {', '.join(keys)}, {selected(table)} FROM {table} NOT INDEXED "
            f"WHERE {fixed}{keys[len(prefix)]} BETWEEN ? AND ? ORDER BY {by}"
        )
        for row in self._connection.execute(query, (*prefix, low, high)):
            yield row[: len(keys)], row[len(keys) :]
