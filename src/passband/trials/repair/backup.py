"""Copying a store that may be in use: a second run directory, whole and checked, or none.

The file alone is not a copy: the latest trials are in its log, `trials.sqlite-wal`, until SQLite
moves them over.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from passband.errors import InvalidInput
from passband.trials.file.connection import connect_to_copy
from passband.trials.file.lock import Lock
from passband.trials.file.schema import STORE_FILE, corrupt_store, no_run, sqlite_errors
from passband.trials.file.writer import DiskNearlyFull
from passband.trials.repair.audit import Audit, audit_store


def backup_store(directory: Path, to: Path) -> Audit:
    """Copy a run directory as it is at one moment, also while a run is writing it.

    The copy is complete and checked before it gets its name, and a run can go on with it.
    """
    if not (directory / STORE_FILE).is_file():
        raise no_run(directory)
    _require_room(directory, to)
    with closing(connect_to_copy(directory / STORE_FILE)) as connection:
        return copy_to(connection, to)


def copy_to(connection: sqlite3.Connection, to: Path) -> Audit:
    """Copy what a connection reads to a new run directory, which appears whole or not at all."""
    if to.exists() and (not to.is_dir() or any(to.iterdir())):
        raise InvalidInput(f"{to} exists already; give a new directory.")
    to.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=to.parent, prefix=f".{to.name}.") as folder:
        made = Path(folder) / to.name
        made.mkdir()
        with (
            sqlite_errors(made / STORE_FILE),
            closing(sqlite3.connect(made / STORE_FILE)) as target,
        ):
            connection.backup(target)
        report = audit_store(made)
        if not report.is_intact:
            raise corrupt_store(to / STORE_FILE, f"the copy is not whole: {report.damage[0]}")
        _finish(made)
        made.replace(to)
    _synchronize(to.parent)
    return Audit(str(to), report.version, report.rows, report.damage)


def _finish(made: Path) -> None:
    """Note that the directory has a store, and bring everything to the disk."""
    lock = Lock(made)
    lock.note_made()
    lock.release()
    for name in os.listdir(made):
        if name not in (STORE_FILE, "lock"):
            (made / name).unlink()  # an empty log, left by reading
    for path in (*made.iterdir(), made):
        _synchronize(path)


def _synchronize(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _require_room(directory: Path, to: Path) -> None:
    needed = sum(path.stat().st_size for path in directory.glob(f"{STORE_FILE}*"))
    parent = next(path for path in to.absolute().parents if path.exists())
    free = shutil.disk_usage(parent).free
    if free < needed:
        raise DiskNearlyFull(
            f"{free / 1e6:.0f} MB are free in {parent}, and a copy of {directory} may need "
            f"{needed / 1e6:.0f}. Nothing was written."
        )
