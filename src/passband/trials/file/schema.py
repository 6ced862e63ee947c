"""The SQLite file: its tables, its version, and the checks when it is opened.

A run directory holds one file. Within it a *run* is one task asked of one model with one set of
settings. The trial table is narrow, so that reading trials does not read completions, which are in
`body`. Scores are in `score`, since they can be made again and trials cannot.
Requests to judges are in `call`, with their replies: they cost money as trials do.
`trial_tally` and `score_tally` add trials and scores up by problem; `counter` says how many rows of
each kind there are; `spare` holds the rows a second time without which no other row can be used,
and the sums of calls.
Every row has a checksum.
"""

from __future__ import annotations

import json
import shlex
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import lru_cache
from pathlib import Path

from passband.errors import InvalidInput, PassbandError

STORE_FILE = "trials.sqlite"
LOCK_FILE = "lock"
SHARDS_FOLDER = "shards"  # the folder of the stores of shards while they are asked
APPLICATION = 0x70623031  # "pb01", so that `file` and we know what it is
VERSION = 5  # of the layout: that of passband 0.1.0
_CHECKED_BYTES = 200_000_000  # files up to this size are checked whenever they are opened


def is_run_directory(path: Path) -> bool:
    return (path / STORE_FILE).is_file()


# All of it must fit into the first page: salvaging puts a new one in place of a damaged one.
_COLUMNS = {
    "run": "run INTEGER PRIMARY KEY,name TEXT NOT NULL,task TEXT NOT NULL,model TEXT NOT NULL,"
    "spec TEXT NOT NULL,config TEXT NOT NULL,created TEXT NOT NULL,address TEXT,source INT,"
    "crc INT NOT NULL,UNIQUE(task,model)",
    # a process that asked; one that was killed has no end
    "session": "session INTEGER PRIMARY KEY,started TEXT NOT NULL,ended TEXT,seconds REAL,"
    "trials INT,concurrency INT NOT NULL,version TEXT NOT NULL,address TEXT,pid INT,host TEXT,"
    "crc INT NOT NULL",
    # a file that trials were imported from
    "source": "source INTEGER PRIMARY KEY,reader TEXT NOT NULL,file TEXT NOT NULL,"
    "sha256 TEXT NOT NULL,added TEXT NOT NULL,crc INT NOT NULL",
    # position 0 is the scorer whose score is *the* score; without one it is no longer used
    "scorer": "scorer INTEGER PRIMARY KEY,run INT NOT NULL,name TEXT NOT NULL,"
    "identity TEXT NOT NULL,spec TEXT,position INT,crc INT NOT NULL,UNIQUE(run,name,identity)",
    # `problem` is given here and stays; `position` is the place in the data now
    "problem": "run INT NOT NULL,problem INT NOT NULL,position INT NOT NULL,key TEXT NOT NULL,"
    "cluster TEXT,record TEXT NOT NULL,crc INT NOT NULL,PRIMARY KEY(run,problem),UNIQUE(run,key)",
    "trial": "run INT NOT NULL,problem INT NOT NULL,trial INT NOT NULL CHECK(trial>=0),"
    "status INT NOT NULL,prompt_tokens INT,completion_tokens INT,latency_ms INT,"
    "attempts INT NOT NULL,seed INT,request_id TEXT,body INT,cost REAL,reason TEXT,source INT,"
    "finish_reason TEXT,reasoning_tokens INT,cached_tokens INT,crc INT NOT NULL,"
    "PRIMARY KEY(run,problem,trial)",
    # knows its trial, so that it can be used when the trial's page is lost
    "body": "id INTEGER PRIMARY KEY,run INT NOT NULL,problem INT NOT NULL,trial INT NOT NULL,"
    "status INT NOT NULL,codec INT NOT NULL,text BLOB,reasoning BLOB,transcript BLOB,"
    "crc INT NOT NULL",
    "score": "scorer INT NOT NULL,problem INT NOT NULL,trial INT NOT NULL,value REAL,"
    "status INT NOT NULL,answer BLOB,rule TEXT,detail TEXT,crc INT NOT NULL,"
    "PRIMARY KEY(scorer,problem,trial)",
    "attempt": "run INT NOT NULL,problem INT NOT NULL,trial INT NOT NULL,attempt INT NOT NULL,"
    "at_ms INT NOT NULL,outcome TEXT NOT NULL,http INT,detail TEXT NOT NULL,crc INT NOT NULL,"
    "PRIMARY KEY(run,problem,trial,attempt)",
    # places: trials as bits, the first in the lowest; sums beyond 63 bits are text
    "trial_tally": "run INT NOT NULL,problem INT NOT NULL,status INT NOT NULL,trials INT NOT NULL,"
    "places BLOB NOT NULL,prompt_tokens ANY NOT NULL,completion_tokens ANY NOT NULL,"
    "cost REAL NOT NULL,retried INT NOT NULL,reasoning_tokens ANY NOT NULL,"
    "cached_tokens ANY NOT NULL,crc INT NOT NULL,PRIMARY KEY(run,problem,status)",
    # odd: values that are neither 0 nor 1
    "score_tally": "scorer INT NOT NULL,problem INT NOT NULL,trial_status INT NOT NULL,"
    "status INT NOT NULL,scores INT NOT NULL,valued INT NOT NULL,total REAL NOT NULL,"
    "odd INT NOT NULL,crc INT NOT NULL,PRIMARY KEY(scorer,problem,trial_status,status)",
    # rows of a table in all, of a run or of a scorer; and the commits
    "counter": "name TEXT NOT NULL,number INT NOT NULL,value INT NOT NULL,crc INT NOT NULL,"
    "PRIMARY KEY(name,number)",
    # runs and scorers once more, and the calls of a scorer added up, as JSON
    "spare": "name TEXT NOT NULL,number INT NOT NULL,row TEXT NOT NULL,crc INT NOT NULL,"
    "PRIMARY KEY(name,number)",
    # a request to a judge: found by its trial, and by what was asked (key). For want of room
    # nothing is NOT NULL: no checksum is right without the values that a call must have
    "call": "scorer INT,problem INT,trial INT,call INT,attempt INT,key BLOB,at_ms INT,status INT,"
    "cached INT,value REAL,prompt_tokens INT,completion_tokens INT,cost REAL,latency_ms INT,"
    "seed INT,http INT,outcome TEXT,detail TEXT,codec INT,reply BLOB,crc INT,"
    "PRIMARY KEY(scorer,problem,trial,call,attempt),UNIQUE(key,scorer,problem,trial,call,attempt)",
}
_WITH_ROWID = ("run", "session", "source", "scorer", "problem", "body", "call")
_TYPES = ("INT", "INTEGER", "TEXT", "REAL", "BLOB", "ANY")


def _typed(columns: str) -> tuple[tuple[str, str], ...]:
    words = [part.split()[:2] for part in columns.split(",")]
    return tuple((word[0], word[1]) for word in words if word[-1] in _TYPES)


TABLES = {table: _typed(columns) for table, columns in _COLUMNS.items()}
"""The columns of each table and their types, in the order of rows: the checksum is the last."""


CREATE = "".join(
    f"CREATE TABLE {table}({columns})STRICT{'' if table in _WITH_ROWID else ',WITHOUT ROWID'};"
    for table, columns in _COLUMNS.items()
)


@lru_cache
def selected(table: str, prefix: str = "") -> str:
    """Return the columns of a row as a query lists them."""
    return ",".join(f"{prefix}{name}" for name, _ in TABLES[table])


class CorruptStore(PassbandError):
    """The file is damaged; nothing was changed."""

    why: str = ""  # what is damaged, without the advice


class EmptyStore(InvalidInput):
    """The file exists but has no tables yet."""


@contextmanager
def sqlite_errors(path: Path) -> Iterator[None]:
    """Name the file in what SQLite raises, and call it damaged if it is."""
    try:
        yield
    except sqlite3.OperationalError as error:  # locked, unreadable, full, ...
        raise PassbandError(f"{path}: {error}.") from error
    except sqlite3.DatabaseError as error:
        if type(error) not in (sqlite3.DatabaseError, sqlite3.DataError):
            raise  # our own fault: a row that must not be
        raise corrupt_store(path, str(error)) from error
    except UnicodeDecodeError as error:  # in what SQLite says of a table
        raise corrupt_store(path, "the name of a table is not UTF-8") from error


def corrupt_store(path: Path, why: str) -> CorruptStore:
    """Return the error to raise for a file that cannot be read as it should be."""
    error = CorruptStore(
        f"{path} is damaged ({why}). Nothing was changed. "
        f"{shlex.join(['passband', 'salvage', str(path.parent)])} NEW copies what can still be "
        f"read."
    )
    error.why = why
    return error


def no_run(path: Path) -> InvalidInput:
    """Return the error to raise for a path that is not a run directory."""
    if not path.exists():
        return InvalidInput(f"{path} is not a run directory: it has no {STORE_FILE}.")
    command = shlex.join(["passband", "import", str(path), "-o", f"runs/{path.stem}"])
    what = "it is a file" if path.is_file() else f"it has no {STORE_FILE}"
    return InvalidInput(
        f"{path} is not a run directory: {what}. A log of another tool has to be imported first: "
        f"{command}"
    )


def text_of(data: bytes) -> str:
    """Decode a text cell; half a character, which no encoding has, may be in it."""
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        raise sqlite3.DatabaseError("a text is not UTF-8") from None


def check(
    connection: sqlite3.Connection, path: Path, *, crashed: bool = False, through: bool = True
) -> bool:
    """Refuse a file that is not ours, of another layout or damaged; return whether it has tables.

    A file without tables is an empty store.
    """
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if application == APPLICATION:
        refuse_other_layout(path, version)
    tables = tables_of(connection)
    if application != APPLICATION and tables:
        raise InvalidInput(f"{path} is an SQLite file, but not one of passband's.")
    is_made = version == VERSION
    if is_made and any(tables.get(name) != text for name, text in expected_tables().items()):
        raise corrupt_store(path, "its tables are not those of a run directory")
    if not is_made:
        if tables:
            raise corrupt_store(path, "its tables are not those of a run directory")
        _refuse_truncated(path)
    if crashed or (through and path.stat().st_size <= _CHECKED_BYTES):
        verdict = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if verdict != "ok":
            raise corrupt_store(path, " ".join(str(verdict).split()))
    return is_made


def refuse_other_layout(path: Path, version: int) -> None:
    """Refuse a file of passband's whose layout is not that of this version."""
    if version > VERSION:
        raise InvalidInput(
            f"{path} was written by a newer passband (layout {version}; this one knows "
            f"{VERSION}). Update passband to go on with it."
        )
    if 0 < version < VERSION:
        raise InvalidInput(
            f"{path} was written by a passband before 0.1.0 (layout {version}; this one knows "
            f"{VERSION}). Read it with the passband that wrote it: its `passband export` writes "
            f"JSONL, which `passband import` reads."
        )


def tables_of(connection: sqlite3.Connection) -> dict[str, str]:
    """Return the text of each table and index."""
    rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql NOT NULL")
    return dict(rows.fetchall())


@lru_cache
def expected_tables() -> dict[str, str]:
    """Return the text of each table as SQLite keeps it."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(CREATE)
        return tables_of(connection)


def _refuse_truncated(path: Path) -> None:
    """Refuse a file without tables in a directory whose lock says that it had some."""
    try:
        owner = json.loads((path.parent / LOCK_FILE).read_bytes() or b'{"made": false}')
        made = owner.get("made", True)
    except FileNotFoundError:
        return
    except (OSError, ValueError, AttributeError, RecursionError):
        made = True
    if made:
        raise corrupt_store(
            path,
            "it is empty, although trials have been recorded here; a copy needs "
            f"{path.name}-wal as well. If there were none, delete the file to begin again",
        )
