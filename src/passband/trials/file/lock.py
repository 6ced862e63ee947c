"""One writer for a run directory: a lock that the system lifts when its holder dies."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

from passband.errors import ExitCode, PassbandError
from passband.trials.file.schema import LOCK_FILE, SHARDS_FOLDER, STORE_FILE


class Busy(PassbandError):
    """Another process is writing to this run directory."""

    exit_code = ExitCode.BUSY


class Lock:
    """The right to write to a run directory, held until `release` or the end of the process.

    The file also says whether the store was made, so that one that was cut off to nothing is not
    taken for a new one.
    """

    def __init__(self, directory: Path) -> None:
        import fcntl

        path = directory / LOCK_FILE
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.read(self._descriptor, 1000)
            os.close(self._descriptor)
            raise Busy(f"{directory} is in use by {_described(owner)}.") from None
        made = _was_made(os.read(self._descriptor, 1000)) and (directory / STORE_FILE).exists()
        self._write(made=made)

    def note_made(self) -> None:
        """Note that the directory has a store."""
        self._write(made=True)

    def release(self) -> None:
        os.close(self._descriptor)

    def _write(self, *, made: bool) -> None:
        owner = {"pid": os.getpid(), "host": socket.gethostname(), "made": made}
        text = json.dumps(owner).encode()
        os.pwrite(self._descriptor, text, 0)
        os.ftruncate(self._descriptor, len(text))


def holder(directory: Path) -> str | None:
    """Return which process is writing to a run directory, if any; nothing is changed.

    One that leads the shards of a run writes to it whenever one of them ends.
    """
    return _holder(directory) or _holder(directory / SHARDS_FOLDER)


def _holder(directory: Path) -> str | None:
    import fcntl

    try:
        descriptor = os.open(directory / LOCK_FILE, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _described(os.read(descriptor, 1000))
    finally:
        os.close(descriptor)
    return None


def _was_made(owner: bytes) -> bool:
    """Return whether there was a store before; where that cannot be read, it may have been."""
    if not owner:
        return False
    try:
        return bool(json.loads(owner).get("made", True))
    except (ValueError, AttributeError, RecursionError):
        return True


def _described(owner: bytes) -> str:
    try:
        names = json.loads(owner)
        return f"process {names['pid']} on {names['host']}"
    except (
        ValueError,
        KeyError,
        TypeError,
        RecursionError,
    ):  # it has the lock and has not written its name yet
        return "another process"
