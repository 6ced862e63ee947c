"""The folder in a run directory where the stores of its shards are while they are asked.

Its lock says that a process leads the run. It does not hold the lock of the store meanwhile, which
each merge takes for itself; so whatever else would ask for trials of the run has to look here.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from passband.trials.lock import Busy, Lock, holder
from passband.trials.schema import LOCK_FILE

__all__ = ["SHARDS", "leading", "refuse_led"]

SHARDS = "shards"


@contextmanager
def leading(directory: Path) -> Iterator[Path]:
    """Hold the right to lead a run, and yield the folder of its shards; empty, it is removed."""
    folder, is_new = directory.absolute() / SHARDS, not directory.exists()
    folder.mkdir(parents=True, exist_ok=True)
    lock = Lock(folder)
    try:
        yield folder
    finally:
        if [path.name for path in folder.iterdir()] == [LOCK_FILE]:
            with suppress(OSError):
                (folder / LOCK_FILE).unlink()
                folder.rmdir()
                if is_new:  # and refused: there is nothing in it
                    folder.parent.rmdir()
        lock.release()


def refuse_led(directory: Path) -> None:
    """Refuse to ask for trials of a run that another process leads in shards."""
    leader = holder(directory / SHARDS)
    if leader is not None:
        raise Busy(f"{directory} is in use by {leader}, which asks for it in shards.")
