"""The file of a run directory, open for writing: its lock, its room, its transactions, its rows."""

from __future__ import annotations

import shutil
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from passband.errors import ExitCode, InvalidInput, PassbandError
from passband.log import event
from passband.trials.file.checked_rows import CheckedRows
from passband.trials.file.connection import BUSY, connect
from passband.trials.file.lock import Lock
from passband.trials.file.open_file import OpenFile, StoreLost
from passband.trials.file.packing import SPARED, drop_spare, insertions, packed, put_spare
from passband.trials.file.schema import STORE_FILE, sqlite_errors
from passband.trials.file.tallies import Tallies

_LONG_LOG = 8_000_000  # bytes; twice what SQLite lets it grow to when nobody reads
_GAP = 100  # milliseconds to wait for a gap between readers
LOW_WATER = 64_000_000  # free bytes below which nothing is written: a full disk can lose more


class DiskNearlyFull(PassbandError):
    """Too little disk space is left to write safely."""

    exit_code = ExitCode.DISK_FULL


class StoreWriter:
    """Rows, all or none of them; tallies and counters are written with what they count."""

    def __init__(self, directory: Path, *, low_water: int = LOW_WATER, first_body: int = 0) -> None:
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise InvalidInput(
                f"{directory} is not a directory; give another with --out."
            ) from None
        self.directory = directory
        self._place = directory.absolute()  # a task's code may change the working directory
        self._low_water = low_water
        self._longest_log = _LONG_LOG
        self._lock = Lock(directory)
        try:
            self._require_room()
            self._connection = connect(directory / STORE_FILE)
        except BaseException:
            self._lock.release()
            raise
        self._file = OpenFile(directory / STORE_FILE)
        try:
            self._lock.note_made()
            with sqlite_errors(directory / STORE_FILE):
                self._connection.execute(f"PRAGMA journal_size_limit={_LONG_LOG}")
            self._checked = CheckedRows(self._connection, directory / STORE_FILE)
            self._tallies = Tallies(self._connection, directory / STORE_FILE)
            self._last_body = self._one("SELECT coalesce(max(id), ?) FROM body", first_body)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        try:
            if self._file.may_be_closed():
                with suppress(sqlite3.Error):
                    self._empty_log()  # closing does so only where nobody reads
                self._connection.close()
            else:
                _abandon(self._connection)
        finally:
            self._lock.release()

    def lost(self) -> StoreLost | None:
        """Return the error to raise if the file was deleted, moved, cut short or replaced."""
        return self._file.lost()

    def saved(self, lost: StoreLost) -> StoreLost:
        """Copy a file that has lost its name to a new directory, and return the error to raise."""
        from passband.trials.repair.backup import copy_to

        if not lost.is_nameless:
            return lost
        new = self._place.with_name(f"{self._place.name}.saved")
        try:
            copy_to(self._connection, new)
        except (PassbandError, OSError):  # why the run stopped matters more
            return lost
        self._file.remove_log()
        return lost.saved_to(new)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit everything inside together: all of it is on disk afterwards, or nothing."""
        if self._connection.in_transaction:  # part of a larger one
            yield
            return
        began, changes = time.monotonic(), self._connection.total_changes
        try:
            with sqlite_errors(self.directory / STORE_FILE):
                self._require_reachable()
                self._connection.execute("BEGIN IMMEDIATE")
                yield
                self._tallies.count("commit", 0, 1)
                self._tallies.write()
                self._connection.execute("COMMIT")
                self._file.note_written()
                self._shorten_log()
                rows, ms = self._connection.total_changes - changes, time.monotonic() - began
                event("write", store=self.directory, rows=rows, ms=round(1000 * ms, 1))
        except BaseException as error:
            self._undo()
            if isinstance(error.__cause__, sqlite3.OperationalError) and "full" in str(error):
                raise DiskNearlyFull(f"{error} What was recorded is safe.") from error
            raise

    def _shorten_log(self) -> None:
        """Empty a log that readers have kept from beginning again, if there is a gap between them.

        SQLite begins it again by itself only where a commit finds no reader at all.
        """
        if self._file.log_size() < self._longest_log:
            return
        self._empty_log()
        self._connection.execute(f"PRAGMA busy_timeout={BUSY}")
        self._file.note_written()
        # After a reader that stays, try again when the log has grown as much once more.
        self._longest_log = self._file.log_size() + _LONG_LOG

    def _empty_log(self) -> None:
        with suppress(sqlite3.OperationalError):  # what was committed is safe all the same
            self._connection.execute(f"PRAGMA busy_timeout={_GAP}")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()

    def checkpoint(self) -> None:
        """Bring the log into the file, as far as no reader needs it.

        From here on the runs are in the file, which is how it is known from others; see `OpenFile`.
        """
        with sqlite_errors(self.directory / STORE_FILE):
            self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        self._file.note_written()

    def _undo(self) -> None:
        self._tallies.forget()
        if self._connection.in_transaction:  # a full disk has undone it already
            with suppress(sqlite3.Error):  # why it failed matters more; closing undoes it too
                self._connection.execute("ROLLBACK")

    def _require_reachable(self) -> None:
        """Refuse to write to a file that another program has written to."""
        lost = self._file.lost() or self._file.overwritten()
        if lost is not None and not lost.is_writable:
            raise lost

    def _require_room(self, more: int = 0) -> None:
        """Refuse to write where little room is left, or less than `more` bytes beyond that."""
        try:
            free = shutil.disk_usage(self._place).free
        except FileNotFoundError:  # moved
            free = self._file.free_bytes()
        if free < self._low_water + more:
            raise DiskNearlyFull(
                f"{free / 1e6:.0f} MB are free where {self.directory} is, and at least "
                f"{(self._low_water + more) / 1e6:.0f} are needed to write safely. What was "
                f"recorded is safe; make room and run the same command again."
            )

    # -- rows ------------------------------------------------------------------------------

    def put(self, table: str, rows: Iterable[tuple[object, ...]]) -> None:
        """Write rows of a table whose first column is its key, in place of those that are there."""
        with self.transaction():
            for row in rows:
                values = packed(table, row)
                if table in SPARED:
                    put_spare(self._connection, table, row)
                if not self._all(f"SELECT 1 FROM {table} WHERE {table}=?", row[0]):
                    self._insert(table, [values])
                    self._tallies.count(table, 0, 1)
                    continue
                self._connection.execute(f"DELETE FROM {table} WHERE {table}=?", (row[0],))
                self._insert(table, [values])

    def add(self, table: str, values: tuple[object, ...]) -> int:
        """Add a row of such a table under the next number, and return that."""
        with self.transaction():
            number = 1 + max((row[0] for row in self.rows(table)), default=0)
            self.put(table, [(number, *values)])
        return number

    def rows(self, table: str, where: str = "1", *arguments: object) -> list[tuple[Any, ...]]:
        """Return rows in the order of their keys, without their checksums, which are checked."""
        rows = list(self._checked.rows(table, where, *arguments, order="1, 2"))
        if where == "1" and len(rows) != self._tallies.value(table, 0):
            raise self._checked.corrupt(f"rows of {table} are lost")
        return rows

    def _insert(self, table: str, rows: Sequence[Sequence[object]], conflict: str = "") -> int:
        """Insert packed rows and return how many were new."""
        return sum(
            self._connection.execute(text, values).rowcount
            for text, values in insertions(table, rows, conflict)
        )

    def _delete(self, table: str, run: int) -> None:
        """Delete the rows of a run that has no trials."""
        gone = self._connection.execute(f"DELETE FROM {table} WHERE run=?", (run,)).rowcount
        self._tallies.count(table, 0 if table in SPARED else run, -gone)
        if table in SPARED:
            drop_spare(self._connection, table)

    def _one(self, query: str, *arguments: object) -> int:
        return int(self._all(query, *arguments)[0][0])

    def _all(self, query: str, *arguments: object) -> list[tuple[Any, ...]]:
        with sqlite_errors(self.directory / STORE_FILE):
            return self._connection.execute(query, arguments).fetchall()


def _abandon(connection: sqlite3.Connection) -> None:
    """Keep a connection from ever being closed: that would bring its log into another's file."""
    import ctypes

    ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))
