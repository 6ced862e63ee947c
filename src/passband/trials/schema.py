"""The SQLite file: its tables, its version, and how it is opened.

A run directory holds one file. Within it a *run* is one task asked of one model with one set of
settings. The trial table is narrow, so that counting does not read completions, which are in
`body`; what each scorer said is in `score`, so that scores can be made anew and trials cannot.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from passband.errors import InvalidInput, PassbandError

__all__ = ["APPLICATION", "FILE", "VERSION", "CorruptStore", "connect", "connect_to_read"]

FILE = "trials.sqlite"
APPLICATION = 0x70623031  # "pb01", so that `file` and we know what it is
VERSION = 1
_CHECKED_BYTES = 200_000_000  # files up to this size are checked whenever they are opened

_TABLES = """
CREATE TABLE run(
    run INTEGER PRIMARY KEY, task TEXT NOT NULL UNIQUE, model TEXT NOT NULL,
    spec TEXT NOT NULL, created TEXT NOT NULL, config TEXT NOT NULL
) STRICT;
CREATE TABLE problem(
    run INT NOT NULL, problem INT NOT NULL, key TEXT NOT NULL, cluster TEXT, record TEXT NOT NULL,
    PRIMARY KEY(run, problem), UNIQUE(run, key)
) STRICT;
CREATE TABLE trial(
    run INT NOT NULL, problem INT NOT NULL, trial INT NOT NULL CHECK(trial >= 0),
    status INT NOT NULL, prompt_tokens INT, completion_tokens INT, latency_ms INT,
    attempts INT NOT NULL, seed INT, request_id TEXT, body INT,
    PRIMARY KEY(run, problem, trial)
) STRICT, WITHOUT ROWID;
CREATE TABLE body(id INTEGER PRIMARY KEY, codec INT NOT NULL, text BLOB, reasoning BLOB) STRICT;
CREATE TABLE attempt(
    run INT NOT NULL, problem INT NOT NULL, trial INT NOT NULL, attempt INT NOT NULL,
    at_ms INT NOT NULL, outcome TEXT NOT NULL, http INT, detail TEXT NOT NULL,
    PRIMARY KEY(run, problem, trial, attempt)
) STRICT, WITHOUT ROWID;
CREATE TABLE scorer(
    scorer INTEGER PRIMARY KEY, run INT NOT NULL, name TEXT NOT NULL, identity TEXT NOT NULL,
    position INT, -- 0 is the scorer whose score is *the* score; nothing if no longer used
    UNIQUE(run, name, identity)
) STRICT;
CREATE TABLE score(
    scorer INT NOT NULL, problem INT NOT NULL, trial INT NOT NULL,
    value REAL, status INT NOT NULL, answer BLOB, rule TEXT, detail TEXT,
    PRIMARY KEY(scorer, problem, trial)
) STRICT, WITHOUT ROWID;
"""


class CorruptStore(PassbandError):
    """The file is damaged; nothing was changed."""


def connect(path: Path) -> sqlite3.Connection:
    """Open the file for writing, and make its tables if there are none."""
    crashed = _has_log(path)
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        _check(connection, path, crashed)
        mode = connection.execute("PRAGMA journal_mode=WAL").fetchone()[0]
        if mode != "wal":
            raise PassbandError(
                f"{path} is on a file system without shared memory (a network drive?), where "
                f"trials could be lost. Give a local folder with --out."
            )
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA busy_timeout=5000")
        if connection.execute("PRAGMA user_version").fetchone()[0] == 0:
            connection.executescript(
                f"BEGIN; {_TABLES} PRAGMA application_id={APPLICATION}; "
                f"PRAGMA user_version={VERSION}; COMMIT;"
            )
    except sqlite3.DatabaseError as error:
        connection.close()
        raise _corrupt(path, str(error)) from error
    except BaseException:
        connection.close()
        raise
    return connection


def connect_to_read(path: Path) -> sqlite3.Connection:
    """Open the file for reading only, also while a run is writing it."""
    if not path.is_file():
        raise InvalidInput(f"{path.parent} is not a run directory: it has no {path.name}.")
    connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
    try:
        try:
            connection.execute("SELECT 1 FROM sqlite_master").fetchone()
        except sqlite3.OperationalError:  # a folder that cannot be written, so no shared memory
            connection.close()
            where = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
            connection = sqlite3.connect(where, uri=True)
        _check(connection, path, crashed=False)
    except sqlite3.DatabaseError as error:
        connection.close()
        raise _corrupt(path, str(error)) from error
    except BaseException:
        connection.close()
        raise
    return connection


def _has_log(path: Path) -> bool:
    """Tell whether the last writer left without closing the file."""
    log = path.with_name(path.name + "-wal")
    return log.exists() and log.stat().st_size > 0


def _check(connection: sqlite3.Connection, path: Path, crashed: bool) -> None:
    """Refuse what is not ours, what is newer than we are, and what is damaged."""
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > VERSION and application == APPLICATION:
        raise InvalidInput(
            f"{path} was written by a newer passband (layout {version}; this one knows "
            f"{VERSION}). Update passband to go on with it."
        )
    if application != APPLICATION and connection.execute("SELECT 1 FROM sqlite_master").fetchone():
        raise InvalidInput(f"{path} is an SQLite file, but not one of passband's.")
    if crashed or (path.exists() and path.stat().st_size <= _CHECKED_BYTES):
        found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if found != "ok":
            raise _corrupt(path, str(found))


def _corrupt(path: Path, why: str) -> CorruptStore:
    return CorruptStore(
        f"{path} is damaged ({why}). Nothing was changed. "
        f"passband salvage {path.parent} NEW copies what can still be read."
    )
