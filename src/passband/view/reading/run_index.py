"""List the run directories under names that are safe in addresses."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from passband.trials import STORE_FILE, is_run_directory

_DEEPEST = 3  # levels of folders below one that is given
_LISTING_INTERVAL = 1.0  # seconds between two looks into the folders


class UnknownRun(Exception):
    """No run directory has this name, or it is gone."""


@dataclass(frozen=True)
class RunFolder:
    """A run directory: its name in addresses, its label on pages, and its path."""

    name: str
    label: str
    path: Path

    def signature(self) -> tuple[int, ...] | None:
        """Return numbers that change when the store is written; None where it is gone.

        An empty log is as good as none: a reader makes one where it is missing.
        """
        store, log = (_state_of(self.path / name) for name in (STORE_FILE, f"{STORE_FILE}-wal"))
        if store is None:
            return None
        return *store, *(log if log is not None and log[-1] else (0, 0, 0))

    @property
    def written(self) -> int:
        """The time of the last write, to sort by."""
        return max((self.signature() or (0, 0, 0, 0, 0, 0))[1::3])


class RunIndex:
    """The table of names. Folders are listed again now and then, and nothing outside of them.

    A name stays that of its directory as long as the viewer runs.
    """

    def __init__(
        self,
        roots: Sequence[Path],
        imported: Mapping[Path, str] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._roots, self._clock = roots, clock
        self._folders: dict[Path, RunFolder] = {}
        self._present: list[RunFolder] = []
        self._listed_at = float("-inf")
        for path, label in (imported or {}).items():
            self._enter(path, label)
        self._imported = list(self._folders.values())

    def folders(self) -> list[RunFolder]:
        """Return the run directories that there are now, the one written last first."""
        if self._clock() - self._listed_at >= _LISTING_INTERVAL:
            self._listed_at = self._clock()
            found = [self._enter(path, label) for path, label in self._listed()]
            present = dict.fromkeys([*self._imported, *found])
            self._present = sorted(present, key=lambda folder: -folder.written)
        return self._present

    def folder(self, name: str) -> RunFolder:
        """Return the directory of a name; raise `UnknownRun` if there is none."""
        for again in (False, True):
            if again:
                self._listed_at = float("-inf")
                self.folders()
            for folder in self._folders.values():
                if folder.name == name and is_run_directory(folder.path):
                    return folder
        raise UnknownRun(name)

    def _listed(self) -> list[tuple[Path, str]]:
        found: list[tuple[Path, str]] = []
        for root in self._roots:
            if is_run_directory(root):
                found.append((root, root.resolve().name))
            else:
                paths = _run_directories(root, _DEEPEST)
                found += [(path, path.relative_to(root).as_posix()) for path in paths]
        return found

    def _enter(self, path: Path, label: str) -> RunFolder:
        key = path.resolve()
        if key not in self._folders:
            taken = {folder.name for folder in self._folders.values()}
            self._folders[key] = RunFolder(_unique(_slug(label), taken), label, path)
        return self._folders[key]


def _state_of(file: Path) -> tuple[int, int, int] | None:
    try:
        about = file.stat()
    except OSError:
        return None
    return about.st_ino, about.st_mtime_ns, about.st_size


def _run_directories(folder: Path, levels: int) -> Iterator[Path]:
    """Yield the run directories below a folder, skipping unreadable folders."""
    try:
        names = sorted(entry.name for entry in os.scandir(folder) if entry.is_dir())
    except OSError:
        return
    for path in (folder / name for name in names if not name.startswith(".")):
        if is_run_directory(path):
            yield path
        elif levels > 1:
            yield from _run_directories(path, levels - 1)


def _slug(label: str) -> str:
    """Return a label in letters that mean nothing in an address.

    >>> _slug("tiny/n=16"), _slug("../..")
    ('tiny-n-16', 'run')
    """
    return re.sub(r"[^A-Za-z0-9_-]+", "-", label).strip("-") or "run"


def _unique(name: str, taken: set[str]) -> str:
    number, unique = 1, name
    while unique in taken:
        number += 1
        unique = f"{name}-{number}"
    return unique
