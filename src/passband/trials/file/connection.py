"""Connections to the SQLite file of a run directory, to write and to read."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from passband.errors import PassbandError
from passband.trials.file.schema import (
    APPLICATION,
    CREATE,
    VERSION,
    CorruptStore,
    EmptyStore,
    check,
    corrupt_store,
    no_run,
    sqlite_errors,
    text_of,
)
from passband.trials.file.wal import is_log_damaged

BUSY = 5_000  # milliseconds to wait for another process
_LOG = "its log is not what was written, and commits after that are lost"


def connect(path: Path) -> sqlite3.Connection:
    """Open the file for writing; make its tables if there are none."""
    _require_sqlite()
    with sqlite_errors(path):
        if path.exists():  # looked at before it is opened for writing, which could change it
            with closing(_opened(path)) as connection:
                check(connection, path, crashed=_has_log(path))
            _refuse_damaged_log(path)
        connection = sqlite3.connect(
            path.absolute(), isolation_level=None, check_same_thread=False, uri=True
        )  # as a URI, so that others can be attached read only
        try:
            _prepare(connection, path)
        except BaseException:
            connection.close()
            raise
    return connection


def connect_to_read(path: Path, *, trusted: bool = False) -> sqlite3.Connection:
    """Open the file for reading only, also while a run is writing it.

    A trusted file, which this process has checked before, is not looked through for damage.
    """
    if not path.is_file():
        raise no_run(path.parent)
    _require_sqlite()
    with sqlite_errors(path):
        connection = _opened(path)
        try:
            is_made = check(connection, path, through=not trusted)
            if not trusted:
                _refuse_damaged_log(path)
            if not is_made:
                raise EmptyStore(f"{path.parent} holds no trials yet.")
        except BaseException:
            connection.close()
            raise
    return connection


def attach(connection: sqlite3.Connection, path: Path, name: str) -> None:
    """Let statements of a connection read the tables of another file, which nothing can change."""
    where = f"{path.resolve().as_uri()}?mode=ro"
    with sqlite_errors(path):
        try:
            connection.execute(f"ATTACH ? AS {name}", (where,))
        except sqlite3.OperationalError:
            if os.access(path.parent, os.W_OK) or _has_log(path):
                raise
            connection.execute(f"ATTACH ? AS {name}", (f"{where}&immutable=1",))


def connect_to_audit(path: Path, damage: list[str]) -> sqlite3.Connection | None:
    """Open the file for reading as far as it can be.

    Damage that keeps it from being opened is added to the list; then there is no connection.
    """
    if not path.is_file():
        raise no_run(path.parent)
    try:
        with sqlite_errors(path), closing(_opened(path)) as connection:
            check(connection, path, through=False)
            if is_log_damaged(path):
                damage.append(_LOG)
        return connect_to_read(path, trusted=True)
    except CorruptStore as error:
        damage.append(error.why)
        return None


def connect_to_copy(path: Path) -> sqlite3.Connection:
    """Open the file for reading as it is at this moment."""
    _require_sqlite()
    with sqlite_errors(path):
        connection = _opened(path)
        try:
            is_made = check(connection, path, through=False)
            _refuse_damaged_log(path)
            if not is_made:
                raise EmptyStore(f"{path.parent} holds no trials yet.")
            connection.execute("BEGIN")  # else a commit would make the copying begin again
            connection.execute("SELECT 1 FROM run").fetchone()
        except BaseException:
            connection.close()
            raise
    return connection


def _require_sqlite() -> None:
    """Refuse an older SQLite, which would take our tables for damaged ones."""
    if sqlite3.sqlite_version_info < (3, 37):
        raise PassbandError(
            f"the trials table needs SQLite 3.37 or newer; this Python has "
            f"{sqlite3.sqlite_version}."
        )


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    connection.text_factory = text_of
    connection.execute(f"PRAGMA busy_timeout={BUSY}")
    mode = connection.execute("PRAGMA journal_mode=WAL").fetchone()[0]
    if mode != "wal":
        raise PassbandError(
            f"{path} is on a file system without shared memory (a network drive?), where "
            f"trials could be lost. Give a local folder with --out."
        )
    connection.execute("PRAGMA synchronous=FULL")
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version == 0:
        connection.executescript(
            f"BEGIN; {CREATE} PRAGMA application_id={APPLICATION}; "
            f"PRAGMA user_version={VERSION}; COMMIT;"
        )
        # A copy of the file alone should at least be a store.
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()


def _opened(path: Path) -> sqlite3.Connection:
    """Open the file so that nothing can change it."""
    where = f"{path.resolve().as_uri()}?mode=ro"
    connection = sqlite3.connect(where, uri=True)
    try:
        connection.execute("SELECT 1 FROM sqlite_master").fetchone()
    except sqlite3.OperationalError:
        connection.close()
        if os.access(path.parent, os.W_OK):
            raise
        # No shared memory in a folder that cannot be written; without a log none is needed.
        if _has_log(path):
            raise PassbandError(
                f"{path.parent} cannot be written to, and its last trials are still in "
                f"{path.name}-wal. Copy the folder to where you may write and read the copy."
            ) from None
        connection = sqlite3.connect(f"{where}&immutable=1", uri=True)
    except BaseException:
        connection.close()
        raise
    connection.text_factory = text_of
    return connection


def _refuse_damaged_log(path: Path) -> None:
    if is_log_damaged(path):
        raise corrupt_store(path, _LOG)


def _has_log(path: Path) -> bool:
    """Return whether the last writer left without closing the file."""
    log = path.with_name(path.name + "-wal")
    return log.exists() and log.stat().st_size > 0
