"""Read run directories while they are written: one thread and one connection for each.

A snapshot is released after each read, so that SQLite can truncate the log of a running run.
Results are cached until another process writes.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from passband.summary import Pace, RunNumbers
from passband.trials import STORE_FILE, CorruptStore, Trials, corrupt_store, is_log_damaged
from passband.view.reading.run_index import RunFolder, UnknownRun

T = TypeVar("T")
_IDLE = 60.0  # seconds after which a connection is closed
_MOST = 64  # connections at a time
_LOG = "its log is not what was written, and commits after that are lost"


@dataclass(frozen=True)
class RecentFigures:
    """Figures of a run that may be slightly out of date."""

    numbers: RunNumbers
    until: float  #: when to compute them again


@dataclass
class RunSnapshot:
    """The trials of a run directory at one moment, and results computed from them."""

    trials: Trials
    kept: dict[Hashable, Any] = field(default_factory=dict)  #: until another process writes
    paces: dict[int, Pace] = field(default_factory=dict)  #: by number of the run
    recent: dict[int, RecentFigures] = field(default_factory=dict)  #: by number of the run

    def keep(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the cached result of a key, or compute it."""
        if key not in self.kept:
            self.kept[key] = make()
        value: T = self.kept[key]
        return value


def open_to_read(path: Path) -> Trials:
    """Open a store without looking through all of it: every row is checked when it is read."""
    if is_log_damaged(path / STORE_FILE):
        raise corrupt_store(path / STORE_FILE, _LOG)
    return Trials(path, trusted=True)


class RunReader:
    """One run directory, read by one thread."""

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder
        self.used = time.monotonic()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"view-{folder.name}")
        self._reading: RunSnapshot | None = None
        self._version: int | None = None
        self._file: tuple[int, int] | None = None
        self._written = 0  # when, in nanoseconds

    async def ask(self, question: Callable[[RunSnapshot], T]) -> T:
        """Answer a question in the thread of this directory."""
        self.used = time.monotonic()
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._answer, question)

    def _answer(self, question: Callable[[RunSnapshot], T]) -> T:
        try:
            return question(self._renewed())
        except CorruptStore:
            self._close()  # it may be replaced by what was salvaged
            raise
        finally:
            if self._reading is not None:
                self._reading.trials.release()

    def _renewed(self) -> RunSnapshot:
        """Start a new snapshot; drop cached results if the store has changed."""
        about = self._stat()
        reading = self._opened(about)
        version = reading.trials.renew()
        if version == self._version and about.st_mtime_ns != self._written:
            self._close()  # without a commit: another file may have been copied over it
            reading = self._opened(about)
            version = reading.trials.renew()
        if version != self._version:
            reading.kept.clear()
        self._version, self._written = version, about.st_mtime_ns
        return reading

    def _stat(self) -> os.stat_result:
        try:
            return os.stat(self.folder.path / STORE_FILE)
        except OSError:
            self._close()
            raise UnknownRun(self.folder.name) from None

    def _opened(self, about: os.stat_result) -> RunSnapshot:
        """Return the open store; another one if the file has been replaced."""
        if (about.st_dev, about.st_ino) != self._file:
            self._close()
        if self._reading is None:
            trials = open_to_read(self.folder.path)
            trials.release()
            self._reading, self._version = RunSnapshot(trials), None
            self._file = about.st_dev, about.st_ino
        return self._reading

    def _close(self) -> None:
        if self._reading is not None:
            self._reading.trials.close()
        self._reading = None

    def close(self) -> None:
        """Close the connection, and end the thread."""
        self._thread.submit(self._close)
        self._thread.shutdown(wait=False)


class RunReaders:
    """The open readers; one that is idle for a while is closed.

    The least recently used ones are closed where there are too many.
    """

    def __init__(self, idle: float = _IDLE, most: int = _MOST) -> None:
        self._readers: dict[str, RunReader] = {}  # the one used last at the end
        self._idle, self._most = idle, most

    def of(self, folder: RunFolder) -> RunReader:
        """Return the reader of a run directory."""
        reader = self._readers.pop(folder.name, None) or RunReader(folder)
        now = time.monotonic()
        for name, other in list(self._readers.items()):
            if now - other.used > self._idle or len(self._readers) >= self._most:
                self._readers.pop(name).close()
        self._readers[folder.name] = reader
        return reader

    def close(self) -> None:
        """Close all of them."""
        while self._readers:
            self._readers.popitem()[1].close()
