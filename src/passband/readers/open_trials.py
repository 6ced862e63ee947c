"""`opened_trials`: the trials of a run directory, or of a log that is imported for the moment."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from passband.readers.import_logs import import_logs
from passband.readers.logs import read_logs
from passband.readers.options import Options
from passband.trials.reader import Trials, is_run_directory

__all__ = ["opened_trials"]


@contextmanager
def opened_trials(source: str | Path, options: Options | None = None) -> Iterator[Trials]:
    """Open a run directory, or a log of another tool, to read its trials row by row.

    A log is imported into a temporary directory, which is gone when the block ends.
    """
    path = Path(source)
    if is_run_directory(path):
        with Trials(path, scales=None if options is None else options.scales) as trials:
            yield trials
        return
    logs = read_logs(path, replace(options or Options(), texts=True))
    with tempfile.TemporaryDirectory(prefix="passband-") as folder:
        directory = Path(folder) / (path.stem or "log")
        import_logs(logs, directory)
        with Trials(directory, trusted=True) as trials:
            trials.directory = path  # as messages name it
            yield trials
