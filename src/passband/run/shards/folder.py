"""The folder in a run directory where the stores of its shards are while they are asked.

Its lock says that a process leads the run. It does not hold the lock of the store meanwhile, which
each merge takes for itself; so whatever else would ask for trials of the run has to look here.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from passband.run.progress import Watcher
from passband.trials import (
    LOCK_FILE,
    SHARDS_FOLDER,
    Busy,
    Lock,
    holder,
    is_run_directory,
    merge_directories,
)

_Result = TypeVar("_Result")
_RELEASE = 60.0  # seconds that a directory may be in use
_LOOK = 0.2  # seconds between two looks at it
_pause = time.sleep


@contextmanager
def leading(directory: Path) -> Iterator[Path]:
    """Hold the right to lead a run, and yield the folder of its shards; empty, it is removed."""
    folder, is_new = directory.absolute() / SHARDS_FOLDER, not directory.exists()
    try:
        lock = _locked(folder)
    except Busy:
        refuse_led(directory)
        raise
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


def _locked(folder: Path) -> Lock:
    """Lock the folder; one that a process which led before has just removed is made again."""
    while True:
        folder.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):
            lock = Lock(folder)
            if (folder / LOCK_FILE).exists():
                return lock
            lock.release()


def refuse_led(directory: Path) -> None:
    """Refuse to ask for trials of a run that another process leads in shards."""
    leader = holder(directory / SHARDS_FOLDER)
    if leader is not None:
        raise Busy(f"{directory} is in use by {leader}, which asks for it in shards.") from None


def merge_leftovers(directory: Path, watcher: Watcher, *, moved_server: bool = False) -> None:
    """Merge the stores of shards whose leading process was killed, if there are any."""
    refuse_led(directory)
    if (directory / SHARDS_FOLDER).is_dir():
        with leading(directory) as folder:
            merge_stores(folder, directory, watcher, moved_server=moved_server)


def merge_stores(
    folder: Path, directory: Path, watcher: Watcher, *, moved_server: bool = False
) -> None:
    """Merge the stores of shards in a folder that this process holds, and remove them."""
    left = sorted(folder.glob("*-of-*"))
    stores = [path for path in left if is_run_directory(path)]
    if stores:
        shards = "1 shard" if len(stores) == 1 else f"{len(stores)} shards"
        watcher.note(f"merging {shards} of an earlier run that was cut off")
        once_free(lambda: merge_directories(stores, directory, moved_server=moved_server))
    for path in left:
        shutil.rmtree(path)


def once_free(act: Callable[[], _Result]) -> _Result:
    """Do what needs directories that others may still use: lost processes end when they notice."""
    deadline = time.monotonic() + _RELEASE
    while True:
        try:
            return act()
        except Busy:
            if time.monotonic() > deadline:
                raise
            _pause(_LOOK)
