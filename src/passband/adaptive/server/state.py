"""The state directory of a server: test runs, their answers and uploads, in SQLite.

Group commit: changes that arrive together reach the disk together.
"""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from passband.errors import InvalidInput, PassbandError
from passband.trials import LOW_WATER, DiskNearlyFull, Lock, sqlite_errors

_GATHERING = 0.005  # seconds to wait for more changes, while several come at a time
Change = Callable[[sqlite3.Connection], None]


class Commits:
    """Changes of a database, each of them on disk when its `await` ends, or not made at all.

    Rows are written in the event loop, which takes microseconds. Only the commit, which waits for
    the disk, is made in a thread; what arrives meanwhile becomes the next transaction. A commit
    takes much of the computing of an answer, so that a busy server waits for a few of them.
    """

    def __init__(self, connection: sqlite3.Connection, before: Callable[[], None]) -> None:
        self._connection = connection
        self._before = before  # called ahead of each transaction; raises if it must not be made
        self._waiting: list[tuple[Change, asyncio.Future[None]]] = []
        self._running: asyncio.Task[None] | None = None
        self._is_busy = False  # whether several changes came together last time
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="commit")

    async def make(self, change: Change) -> None:
        """Make a change, and return when it is on disk."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        self._waiting.append((change, done))
        if self._running is None:
            self._running = loop.create_task(self._run())
        await done

    async def close(self) -> None:
        """Wait for pending commits, and end the thread."""
        if self._running is not None:
            await self._running
        self._thread.shutdown()

    async def _run(self) -> None:
        """Commit waiting changes until there are none."""
        try:
            while self._waiting:
                if self._is_busy:
                    await asyncio.sleep(_GATHERING)
                batch, self._waiting = self._waiting, []
                self._is_busy = len(batch) > 1
                if not await self._committed(batch) and len(batch) > 1:
                    for one in batch:  # which of them was the bad one?
                        await self._committed([one])
        finally:
            self._running = None

    async def _committed(self, batch: list[tuple[Change, asyncio.Future[None]]]) -> bool:
        """Commit changes together; one that fails alone gets its error."""
        try:
            self._before()
            self._connection.execute("BEGIN IMMEDIATE")
            for change, _ in batch:
                change(self._connection)
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(self._thread, self._connection.execute, "COMMIT")
        except Exception as error:
            self._undo()
            if len(batch) == 1 and not batch[0][1].done():
                batch[0][1].set_exception(error)
            return False
        for _, done in batch:
            if not done.done():  # whoever asked may have been cancelled
                done.set_result(None)
        return True

    def _undo(self) -> None:
        if self._connection.in_transaction:
            with suppress(sqlite3.Error):  # why it failed matters more; closing undoes it too
                self._connection.execute("ROLLBACK")


FILE = "serve.sqlite"
_APPLICATION = 0x70627331  # "pbs1"
_VERSION = 1
_CREATE = """
CREATE TABLE run(id TEXT PRIMARY KEY, dataset TEXT NOT NULL, split TEXT NOT NULL,
    bank TEXT NOT NULL, design TEXT NOT NULL, seed TEXT NOT NULL, project TEXT NOT NULL,
    experiment TEXT NOT NULL, metadata TEXT NOT NULL, created TEXT NOT NULL, replay_of TEXT)STRICT;
CREATE TABLE answer(run TEXT NOT NULL, position INT NOT NULL, item TEXT NOT NULL,
    value TEXT NOT NULL, score REAL, detail TEXT, token TEXT, at TEXT NOT NULL,
    PRIMARY KEY(run, position))STRICT, WITHOUT ROWID;
CREATE TABLE document(id TEXT PRIMARY KEY, kind TEXT NOT NULL, created TEXT NOT NULL,
    body TEXT NOT NULL)STRICT;
"""


class RunRow(NamedTuple):
    """A test run as it was started."""

    id: str
    dataset: str  # the name of the bank
    split: str
    bank: str  # its hash
    design: str  # as JSON
    seed: str
    project: str
    experiment: str
    metadata: str  # as JSON
    created: str
    replay_of: str | None = None


class AnswerRow(NamedTuple):
    """An answer and its score; None where the scorer failed, and why is the detail."""

    item: str
    value: str
    score: float | None
    detail: str | None
    token: str | None  # of the request that brought it
    at: str


class Document(NamedTuple):
    """A project or a classic evaluation, as it was uploaded."""

    id: str
    kind: str
    created: str
    body: str  # as JSON


class ServerState:
    """The state directory, held by this process alone.

    What is written is on disk when the `await` ends. Reading sees what is on disk.
    """

    def __init__(self, directory: Path, *, low_water: int = LOW_WATER) -> None:
        self.directory = directory
        self._place = directory.absolute()
        self._low_water = low_water
        _make(directory)
        self._lock = Lock(directory)
        try:
            with sqlite_errors(directory / FILE):
                self._writing, self._reading = _opened(self._place / FILE)
        except BaseException:
            self._lock.release()
            raise
        self._commits = Commits(self._writing, self._require_room)

    async def close(self) -> None:
        """Finish pending writes, and release the directory."""
        await self._commits.close()
        self._reading.close()
        self._writing.close()
        self._lock.release()

    async def add_run(self, run: RunRow, answers: Sequence[AnswerRow] = ()) -> None:
        """Record a run that has started, or a replay with all its answers."""
        rows = [_answer_values(run.id, place, row) for place, row in enumerate(answers)]

        def change(connection: sqlite3.Connection) -> None:
            connection.execute(f"INSERT INTO run VALUES({_marks(11)})", run)
            connection.executemany(f"INSERT INTO answer VALUES({_marks(8)})", rows)

        await self._commits.make(change)

    async def add_answer(self, run: str, position: int, answer: AnswerRow) -> None:
        """Record an answer at its place in the run; a place that is taken is an error."""
        await self._insert("answer", _answer_values(run, position, answer))

    async def add_document(self, document: Document) -> None:
        """Record a project or a classic evaluation."""
        await self._insert("document", document)

    async def _insert(self, table: str, values: tuple[object, ...]) -> None:
        def change(connection: sqlite3.Connection) -> None:
            connection.execute(f"INSERT INTO {table} VALUES({_marks(len(values))})", values)

        await self._commits.make(change)

    def run(self, id: str) -> RunRow | None:
        """Return a run by its id."""
        rows = self._rows("SELECT * FROM run WHERE id=?", id)
        return RunRow(*rows[0]) if rows else None

    def answers(self, run: str) -> list[AnswerRow]:
        """Return the answers of a run in order."""
        columns = "item,value,score,detail,token,at"
        rows = self._rows(f"SELECT {columns} FROM answer WHERE run=? ORDER BY position", run)
        return [AnswerRow(*row) for row in rows]

    def documents(self, kind: str, id: str | None = None, most: int = 1000) -> list[Document]:
        """Return documents of a kind, the latest first; or the one with an id."""
        where, values = ("", ()) if id is None else (" AND id=?", (id,))
        order = "ORDER BY rowid DESC LIMIT ?"
        rows = self._rows(
            f"SELECT * FROM document WHERE kind=?{where} {order}", kind, *values, most
        )
        return [Document(*row) for row in rows]

    def _rows(self, query: str, *arguments: object) -> list[tuple[Any, ...]]:
        with sqlite_errors(self.directory / FILE):
            return self._reading.execute(query, arguments).fetchall()

    def _require_room(self) -> None:
        free = shutil.disk_usage(self._place).free
        if free < self._low_water:
            raise DiskNearlyFull(
                f"{free / 1e6:.0f} MB are free on the server's disk, and at least "
                f"{self._low_water / 1e6:.0f} are needed to write safely."
            )


def _make(directory: Path) -> None:
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise InvalidInput(f"{directory} is not a directory; give another with --state.") from None


def _opened(path: Path) -> tuple[sqlite3.Connection, sqlite3.Connection]:
    """Return a connection to write and one to read with."""
    writing = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        _prepare(writing, path)
        reading = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
    except BaseException:
        writing.close()
        raise
    return writing, reading


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    found = [_pragma(connection, name) for name in ("application_id", "user_version")]
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if tables and found != [_APPLICATION, _VERSION]:
        raise PassbandError(f"{path} is not the state of a server of this version of passband.")
    if tables and connection.execute("PRAGMA quick_check").fetchone()[0] != "ok":
        raise PassbandError(f"{path} is damaged; restore a copy, or give another --state.")
    if connection.execute("PRAGMA journal_mode=WAL").fetchone()[0] != "wal":
        raise PassbandError(
            f"{path} is on a file system without shared memory (a network drive?), where answers "
            f"could be lost. Give a local folder with --state."
        )
    connection.execute("PRAGMA synchronous=FULL")
    if not tables:
        connection.executescript(
            f"BEGIN;{_CREATE}PRAGMA application_id={_APPLICATION};"
            f"PRAGMA user_version={_VERSION};COMMIT;"
        )


def _pragma(connection: sqlite3.Connection, name: str) -> Any:
    return connection.execute(f"PRAGMA {name}").fetchone()[0]


def _answer_values(run: str, position: int, answer: AnswerRow) -> tuple[object, ...]:
    return (run, position, *answer)


def _marks(count: int) -> str:
    return ",".join("?" * count)
