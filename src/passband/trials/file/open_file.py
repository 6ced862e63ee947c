"""Notice when an open store is no longer the file that its path names.

A file that is deleted, moved, cut off or replaced while it is open goes on taking what is written
to it, and nobody will find that there. Nothing is opened to look: closing a file lifts the locks
that this process has on it, and SQLite's are among those.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Literal

from passband.errors import PassbandError

State = Literal["here", "moved", "deleted", "replaced", "truncated", "overwritten", "unlogged"]
_PAGE = 4096
_GETPATH = 50  # F_GETPATH of macOS

_WHAT = {
    "moved": "was moved while it was being written",
    "deleted": "was deleted while it was being written",
    "replaced": "was replaced by another file while it was being written",
    "truncated": "was cut short by another program while it was being written",
    "overwritten": "was overwritten by another program while it was being written",
    "unlogged": "has lost its log, trials.sqlite-wal, while it was being written",
}


class StoreLost(PassbandError):
    """The file is no longer where it was, and the run has stopped."""

    def __init__(
        self, path: Path, state: State, where: Path | None = None, *, is_saved: bool = False
    ) -> None:
        self.path, self.state, self.where, self.is_saved = path, state, where, is_saved
        super().__init__(f"{path} {_WHAT[state]}. The run has stopped. {self._advice()}")

    @property
    def is_writable(self) -> bool:
        """Whether the open file still takes what is written to it, and gives it back."""
        return self.state not in ("truncated", "overwritten")

    @property
    def is_nameless(self) -> bool:
        """Whether the file ceases to exist when it is closed."""
        return self.state in ("deleted", "replaced")

    def saved_to(self, directory: Path) -> StoreLost:
        """Return the error with the place where everything was copied to."""
        return StoreLost(self.path, self.state, directory / self.path.name, is_saved=True)

    def _advice(self) -> str:
        if self.state == "unlogged":
            return "Every answer that came is recorded; run the same command to go on."
        if self.state == "moved" or self.is_saved:
            there = str(self.where.parent) if self.where else "the new place"
            return (
                f"Every answer that came is recorded in {there}; run the same command with "
                f"--out {there} to go on."
            )
        if self.is_nameless:
            return "What was recorded in it is lost, unless there is a copy."
        return (
            f"What it held is lost unless there is a copy, except for what is in "
            f"{self.path.name}-wal: passband salvage {self.path.parent} NEW copies what it can."
        )


class OpenFile:
    """A file that SQLite has open, and the path that it was opened by."""

    def __init__(self, path: Path) -> None:
        self._path = path.absolute()
        self._log = f"{self._path}-wal"
        self._log_identity: tuple[int, int] | None = None  # once SQLite has made it
        there = os.stat(self._path)
        self._identity = there.st_dev, there.st_ino
        self._descriptor = _descriptor(*self._identity)
        self._size = there.st_size
        self._written: int | None = None
        self._head = b""
        self.note_written()

    def state(self) -> State:
        """Return what has become of the file; cheap enough for every commit."""
        try:
            there = os.stat(self._path)
        except (FileNotFoundError, NotADirectoryError):
            return "moved" if self._has_name() else "deleted"
        if (there.st_dev, there.st_ino) != self._identity:
            return "moved" if self._has_name() else "replaced"
        if there.st_size < self._size:
            return "truncated"
        self._size = there.st_size
        return "here" if self._has_log() else "unlogged"

    def lost(self) -> StoreLost | None:
        """Return the error to raise if the file is not where it was."""
        state = self.state()
        return None if state == "here" else StoreLost(self._path, state, self._where())

    def note_written(self) -> None:
        """Remember what the file is like after a commit of our own."""
        if self._descriptor is not None:
            written = os.fstat(self._descriptor).st_mtime_ns
            if written != self._written:
                self._written, self._head = written, self._first_table()
        if self._log_identity is None:
            self._log_identity = self._log_there()

    def overwritten(self) -> StoreLost | None:
        """Return the error to raise if another program has written to it since our last commit."""
        if self._descriptor is None or os.fstat(self._descriptor).st_mtime_ns == self._written:
            return None
        if self._first_table() == self._head:
            return None
        return StoreLost(self._path, "overwritten")

    def may_be_closed(self) -> bool:
        """Return whether SQLite may close the file, which brings the log into it.

        A file that is not the one that its path names is left as it is by SQLite.
        """
        return self.state() != "truncated" and self.overwritten() is None

    def remove_log(self) -> None:
        """Remove our log from beside another file, which would be read together with it."""
        for end in ("-wal", "-shm"):
            path = self._path.with_name(f"{self._path.name}{end}")
            with suppress(FileNotFoundError):
                there = os.stat(path)
                if _descriptor(there.st_dev, there.st_ino) is not None:
                    path.unlink()

    def log_size(self) -> int:
        """Return the size of the log."""
        try:
            return os.stat(self._log).st_size
        except OSError:
            return 0

    def free_bytes(self) -> int:
        """Return the free room where the file is, wherever that is now."""
        room = os.statvfs(self._path.parent if self._descriptor is None else self._descriptor)
        return room.f_bavail * room.f_frsize

    # -- inside ----------------------------------------------------------------------------

    def _first_table(self) -> bytes:
        """Return the page that holds the runs, which is no other store's."""
        assert self._descriptor is not None
        return os.pread(self._descriptor, _PAGE, _PAGE)

    def _has_log(self) -> bool:
        """Return whether the log is where another process will look for it.

        SQLite goes on with a deleted one, and every commit in it ends with this process.
        """
        return self._log_identity is None or self._log_there() == self._log_identity

    def _log_there(self) -> tuple[int, int] | None:
        try:
            there = os.stat(self._log)
        except OSError:
            return None
        return there.st_dev, there.st_ino

    def _has_name(self) -> bool:
        """Return whether the file has a name somewhere."""
        return self._descriptor is not None and os.fstat(self._descriptor).st_nlink > 0

    def _where(self) -> Path | None:
        """Return where the file is now, if the system says so."""
        if self._descriptor is None or not self._has_name():
            return None
        try:
            if sys.platform == "darwin":
                import fcntl

                name = fcntl.fcntl(self._descriptor, _GETPATH, bytes(1024))
                return Path(os.fsdecode(name.rstrip(b"\0")))
            return Path(os.readlink(f"/proc/self/fd/{self._descriptor}"))
        except OSError:
            return None


def _descriptor(device: int, number: int) -> int | None:
    """Return the number under which this process has a file open."""
    try:
        names = os.listdir("/dev/fd")
    except OSError:
        return None
    for name in names:
        try:
            own = os.fstat(int(name))
        except (OSError, ValueError):  # that of the listing itself
            continue
        if (own.st_dev, own.st_ino) == (device, number):
            return int(name)
    return None
