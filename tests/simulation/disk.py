"""A disk that fails when it is told to: at a statement, at a look at its room, or with the process.

Connections for writing count their statements; those for reading do not fail.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple
from unittest.mock import patch

from passband.trials.file.schema import STORE_FILE

Way = Literal["before", "after", "from then on", "kill before", "kill after"]
WAYS: tuple[Way, ...] = ("before", "after", "from then on", "kill before", "kill after")
_LOG = f"{STORE_FILE}-wal"
ROOM = 10**12  # bytes that are free


class Usage(NamedTuple):
    """What `shutil.disk_usage` returns."""

    total: int
    used: int
    free: int


@dataclass
class Disk:
    """Which statement fails and how, and which look at the free room finds none."""

    directory: Path
    kill: Callable[[], None]
    at: int = 0  # from 1 on; 0 is never
    way: Way = "before"
    message: str = "disk I/O error"
    full_at: int = 0
    statements: int = 0
    looks: int = 0
    has_failed: bool = False
    synced: int = 0  # bytes of the log that a commit has put on disk

    def __post_init__(self) -> None:
        self.synced = _log_size(self.directory)

    def around(self, statement: str, act: Callable[[], Any]) -> Any:
        """Run a statement, or fail."""
        self.statements += 1
        is_now = self.statements == self.at
        if is_now and self.way == "kill before":
            self.kill()
        if is_now and self.way == "before" and statement != "ROLLBACK":
            raise self._error()
        if self.way == "from then on" and 0 < self.at <= self.statements:
            raise self._error()
        done = act()
        if is_now and self.way in ("after", "kill after"):
            done.fetchall()  # else the statement goes on, and holds its lock
            if self.way == "kill after":
                self.kill()
            if statement != "ROLLBACK":
                raise self._error()
        if statement == "COMMIT":
            self.synced = _log_size(self.directory)
        return done

    def left_by_a_kill(self, to: Path, share: float) -> None:
        """Copy the run directory as a killed process leaves it: not rolled back, not closed.

        Of what was written to the log after the last commit, only a share may have got there.
        """
        if self.directory.exists():
            shutil.copytree(self.directory, to)
            size = _log_size(to)
            if size > self.synced:
                os.truncate(to / _LOG, self.synced + int(share * (size - self.synced)))

    def usage(self, path: object) -> Usage:
        self.looks += 1
        if self.looks == self.full_at:
            self.has_failed = True
            return Usage(ROOM, ROOM - 1_000_000, 1_000_000)
        return Usage(ROOM, 0, ROOM)

    def _error(self) -> sqlite3.OperationalError:
        self.has_failed = True
        return sqlite3.OperationalError(self.message)

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Make the store use this disk."""
        connect, factory = sqlite3.connect, _failing(self)

        def connecting(*arguments: Any, **options: Any) -> sqlite3.Connection:
            if "mode=ro" in str(arguments[0]):
                return connect(*arguments, **options)
            return connect(*arguments, **options, factory=factory)

        with ExitStack() as stack:
            stack.enter_context(patch("sqlite3.connect", connecting))
            stack.enter_context(patch("shutil.disk_usage", self.usage))
            yield


def _failing(disk: Disk) -> type[sqlite3.Connection]:
    class Failing(sqlite3.Connection):
        def execute(self, statement: str, *arguments: Any) -> Any:
            return disk.around(
                statement, lambda: super(Failing, self).execute(statement, *arguments)
            )

        def executemany(self, statement: str, *arguments: Any) -> Any:
            return disk.around(
                statement, lambda: super(Failing, self).executemany(statement, *arguments)
            )

        def executescript(self, script: str) -> Any:
            return disk.around(script, lambda: super(Failing, self).executescript(script))

    return Failing


def _log_size(directory: Path) -> int:
    log = directory / _LOG
    return log.stat().st_size if log.exists() else 0
