"""A process that merges and is killed at one of its statements."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

DYING = """
import os, sqlite3, sys
from pathlib import Path
from passband.trials.store import Store

at, seen, connect = int(sys.argv[2]), 0, sqlite3.connect

class Dying(sqlite3.Connection):
    def _count(self):
        global seen
        seen += 1
        if seen == at:
            os.kill(os.getpid(), 9)

    def execute(self, statement, *arguments):
        self._count()
        if statement == "COMMIT":  # also in the middle of it
            self.set_progress_handler(self._count, 1)
        return super().execute(statement, *arguments)

    def executemany(self, *arguments):
        self._count()
        return super().executemany(*arguments)

def connecting(*arguments, **options):
    if "mode=ro" in str(arguments[0]) or arguments[0] == ":memory:":
        return connect(*arguments, **options)
    return connect(*arguments, **options, factory=Dying)

sqlite3.connect = connecting
"""
MERGING = """
from passband.trials.merging.merge import merge_directories

merge_directories([Path(name) for name in sys.argv[3:]], Path(sys.argv[1]), low_water=0)
print(seen)
"""


def merging(sources: Sequence[Path], out: Path, at: int) -> subprocess.CompletedProcess[str]:
    """Merge in another process, which dies at that statement; 0 is never."""
    return _dying(MERGING, out, at, *sources)


def _dying(what: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", DYING + what, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)
