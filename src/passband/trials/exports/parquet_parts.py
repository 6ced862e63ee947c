"""The trials table as a data set: a folder of Parquet files of equal numbers of rows.

The folder appears whole or not at all: files are written beside it and renamed at the end.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from itertools import chain, islice
from pathlib import Path

from passband.errors import InvalidInput
from passband.trials.exports.export import export_columns, rows, write_parquet
from passband.trials.reader import Trials
from passband.trials.records import RunRecord

ROWS_PER_FILE = 1_000_000
LEAST_ROWS = 100_000  # per file; many small files are slow to read, above all over a network
_ROW_GROUP = 50_000


def export_parts(
    trials: Trials,
    runs: Sequence[RunRecord],
    folder: Path,
    *,
    rows_per_file: int = ROWS_PER_FILE,
    timing: bool = False,
    further: Sequence[str] = (),
) -> int:
    """Write every trial of the runs into part-00000.parquet and so on; return how many files.

    The same trials give the same bytes. A folder that holds anything is refused.
    """
    if rows_per_file < LEAST_ROWS:
        raise InvalidInput(f"a file needs at least {LEAST_ROWS:,} rows; got {rows_per_file:,}.")
    if not runs:
        raise InvalidInput(f"{trials.directory} holds no trials yet.")
    target = folder.resolve()
    _require_free(target)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    names = export_columns(trials, runs, timing=timing, further=further)
    table = iter(rows(trials, runs, timing=timing, further=further))
    try:
        part.mkdir()
        count = 0
        while (first := next(table, None)) is not None:
            with (part / f"part-{count:05d}.parquet").open("wb") as file:
                own = chain([first], islice(table, rows_per_file - 1))
                write_parquet(file, names, own, runs, chunk_rows=_ROW_GROUP)
                file.flush()
                os.fsync(file.fileno())
            count += 1
        if not count:
            raise InvalidInput(f"{trials.directory} holds no trials yet.")
        _synchronize(part)
        part.rename(target)  # an empty folder of that name is replaced
        _synchronize(target.parent)
        return count
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _synchronize(folder: Path) -> None:
    """Have the names in a folder written to disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _require_free(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise InvalidInput(f"{folder}: a file; give the name of a folder.")
    if folder.is_dir() and any(folder.iterdir()):
        raise InvalidInput(
            f"{folder}: the folder is not empty, and files in it would be read as part of the "
            "data set; give another folder, or empty this one."
        )
    if not folder.parent.is_dir():
        raise InvalidInput(f"{folder}: there is no folder {folder.parent}; create it first.")
