"""The SQLite file: its tables, its version, and how it is opened.

A run directory holds one file. Within it a *run* is one task asked of one model with one set of
settings. The trial table is narrow, so that counting does not read completions, which are in
`body`; what each scorer said is in `score`, so that scores can be made anew and trials cannot.
"""

from __future__ import annotations

import os
import shlex
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from passband.errors import InvalidInput, PassbandError

__all__ = [
    "APPLICATION",
    "FILE",
    "VERSION",
    "CorruptStore",
    "EmptyStore",
    "connect",
    "connect_to_read",
    "corrupt",
    "sqlite_errors",
]

FILE = "trials.sqlite"
APPLICATION = 0x70623031  # "pb01", so that `file` and we know what it is
VERSION = 1
_CHECKED_BYTES = 200_000_000  # files up to this size are checked whenever they are opened

_TABLES = """
CREATE TABLE run(
    run INTEGER PRIMARY KEY, task TEXT NOT NULL UNIQUE, model TEXT NOT NULL,
    spec TEXT NOT NULL, created TEXT NOT NULL, config TEXT NOT NULL
) STRICT;
CREATE TABLE session( -- a process that asked, and came to an end
    session INTEGER PRIMARY KEY, started TEXT NOT NULL, ended TEXT NOT NULL, seconds REAL NOT NULL,
    trials INT NOT NULL, concurrency INT NOT NULL, version TEXT NOT NULL
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


class EmptyStore(InvalidInput):
    """The file has no tables: whoever began to make it did not come that far."""


def connect(path: Path) -> sqlite3.Connection:
    """Open the file for writing, and make its tables if there are none."""
    _require_sqlite()
    with sqlite_errors(path):
        if path.exists():  # looked at before it is opened for writing, which could change it
            with closing(_opened(path)) as connection:
                _check(connection, path, crashed=_has_log(path))
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
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
        raise InvalidInput(f"{path.parent} is not a run directory: it has no {path.name}.")
    _require_sqlite()
    with sqlite_errors(path):
        connection = _opened(path)
        try:
            if _check(connection, path, through=not trusted) == 0:
                raise EmptyStore(f"{path.parent} holds no trials yet.")
        except BaseException:
            connection.close()
            raise
    return connection


@contextmanager
def sqlite_errors(path: Path) -> Iterator[None]:
    """Say of what SQLite complains about which file it is, and whether that is damaged."""
    try:
        yield
    except sqlite3.OperationalError as error:  # locked, unreadable, full, ...
        raise PassbandError(f"{path}: {error}.") from error
    except sqlite3.DatabaseError as error:
        if type(error) is not sqlite3.DatabaseError:  # our own fault: a row that must not be
            raise
        raise corrupt(path, str(error)) from error


def corrupt(path: Path, why: str) -> CorruptStore:
    """Return the error to raise for a file that cannot be read as it should be."""
    return CorruptStore(
        f"{path} is damaged ({why}). Nothing was changed. "
        f"{shlex.join(['passband', 'salvage', str(path.parent)])} NEW copies what can still be "
        f"read."
    )


def _require_sqlite() -> None:
    """An older SQLite would take our tables for damaged ones."""
    if sqlite3.sqlite_version_info < (3, 37):
        raise PassbandError(
            f"the trials table needs SQLite 3.37 or newer; this Python has "
            f"{sqlite3.sqlite_version}."
        )


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    connection.text_factory = _text
    connection.execute("PRAGMA busy_timeout=5000")
    mode = connection.execute("PRAGMA journal_mode=WAL").fetchone()[0]
    if mode != "wal":
        raise PassbandError(
            f"{path} is on a file system without shared memory (a network drive?), where "
            f"trials could be lost. Give a local folder with --out."
        )
    connection.execute("PRAGMA synchronous=FULL")
    if connection.execute("PRAGMA user_version").fetchone()[0] == 0:
        connection.executescript(
            f"BEGIN; {_TABLES} PRAGMA application_id={APPLICATION}; "
            f"PRAGMA user_version={VERSION}; COMMIT;"
        )


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
    connection.text_factory = _text
    return connection


def _text(data: bytes) -> str:
    """Read a text cell; half a character, which no encoding has, may be in it."""
    return data.decode("utf-8", "surrogatepass")


def _has_log(path: Path) -> bool:
    """Tell whether the last writer left without closing the file."""
    log = path.with_name(path.name + "-wal")
    return log.exists() and log.stat().st_size > 0


def _check(
    connection: sqlite3.Connection, path: Path, *, crashed: bool = False, through: bool = True
) -> int:
    """Refuse what is not ours, newer than we are, or damaged; return the version, 0 if empty."""
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > VERSION and application == APPLICATION:
        raise InvalidInput(
            f"{path} was written by a newer passband (layout {version}; this one knows "
            f"{VERSION}). Update passband to go on with it."
        )
    if application != APPLICATION and connection.execute("SELECT 1 FROM sqlite_master").fetchone():
        raise InvalidInput(f"{path} is an SQLite file, but not one of passband's.")
    if crashed or (through and path.stat().st_size <= _CHECKED_BYTES):
        found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if found != "ok":
            raise corrupt(path, " ".join(str(found).split()))
    return int(version)
