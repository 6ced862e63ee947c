"""The folder in a run directory where the stores of its shards are while they are asked.

Its lock says that a process leads the run. It does not hold the lock of the store meanwhile, which
each merge takes for itself; so whatever else would ask for trials of the run has to look here.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from passband.trials.lock import Busy, Lock, holder
from passband.trials.schema import LOCK_FILE

__all__ = ["SHARDS", "leading", "refuse_led", "wait_for_release"]

SHARDS = "shards"
_RELEASE = 60.0  # seconds that the shards of a killed process may take to end
_LOOK = 0.2


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


def wait_for_release(stores: Sequence[Path]) -> None:
    """Wait until no process writes to these stores; after a minute, the merge refuses them."""
    deadline = time.monotonic() + _RELEASE
    while any(map(holder, stores)) and time.monotonic() < deadline:
        time.sleep(_LOOK)
