"""One writer for a run directory: a lock that the system lifts when its holder dies."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

from passband.errors import ExitCode, PassbandError

__all__ = ["Busy", "Lock", "holder"]

_FILE = "lock"


class Busy(PassbandError):
    """Another process is writing to this run directory."""

    exit_code = ExitCode.BUSY


class Lock:
    """The right to write to a run directory, held until `release` or the end of the process."""

    def __init__(self, directory: Path) -> None:
        import fcntl

        path = directory / _FILE
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.read(self._descriptor, 1000)
            os.close(self._descriptor)
            raise Busy(f"{directory} is in use by {_described(owner)}.") from None
        os.ftruncate(self._descriptor, 0)
        os.write(self._descriptor, json.dumps(_me()).encode())

    def release(self) -> None:
        os.close(self._descriptor)


def holder(directory: Path) -> str | None:
    """Return who is writing to a run directory, if anyone is; nothing is changed."""
    import fcntl

    try:
        descriptor = os.open(directory / _FILE, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _described(os.read(descriptor, 1000))
    finally:
        os.close(descriptor)
    return None


def _me() -> dict[str, object]:
    return {"pid": os.getpid(), "host": socket.gethostname()}


def _described(owner: bytes) -> str:
    try:
        found = json.loads(owner)
        return f"process {found['pid']} on {found['host']}"
    except (ValueError, KeyError, TypeError):  # it has the lock and has not said so yet
        return "another process"
