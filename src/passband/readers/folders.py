"""Sources of trials as they are named: run directories, files, and folders of run directories."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput
from passband.readers.reader import TABLE, find_reader
from passband.trials.reader import is_run_directory
from passband.trials.schema import FILE

__all__ = ["expand_sources", "is_several", "short_names"]

_DEEPEST = 3  # levels of folders below the one that is named


def is_several(source: Any) -> bool:
    """Return whether a source is a list of paths, or a folder of run directories."""
    if isinstance(source, (list, tuple)):
        return bool(source) and all(isinstance(one, (str, os.PathLike)) for one in source)
    return isinstance(source, (str, os.PathLike)) and _is_folder(Path(source))


def expand_sources(sources: Sequence[str | os.PathLike[str]]) -> list[Path]:
    """Return the sources with each folder of run directories replaced by what it holds.

    A directory that is reached twice, by its own name and through a folder, is one source.
    """
    paths: dict[Path, Path] = {}
    for source in sources:
        path = Path(source)
        for one in _expanded(path) if os.fspath(source) else [path]:
            paths.setdefault(one.resolve(), one)
    return list(paths.values())


def short_names(paths: Sequence[Path]) -> list[str]:
    """Return the last part of each path where that tells them apart, else the whole paths.

    >>> short_names([Path("runs/a"), Path("runs/b")]), short_names([Path("x/a"), Path("y/a")])
    (['a', 'b'], ['x/a', 'y/a'])
    """
    names = [path.resolve().name if path.is_dir() else path.stem for path in paths]
    return names if len(set(names)) == len(names) else [str(path) for path in paths]


def _expanded(path: Path) -> list[Path]:
    if not _is_folder(path):
        return [path]
    found = sorted(_run_directories(path, _DEEPEST))
    if found:
        return found
    raise InvalidInput(
        f"{path} is not a run directory (it has no {FILE}), there is none in it down to {_DEEPEST} "
        "levels, and it is no log of a tool that passband knows."
    )


def _is_folder(path: Path) -> bool:
    """Return whether a path is a folder that no reader knows as a source of its own."""
    if not path.is_dir() or is_run_directory(path):
        return False
    return find_reader(path)[0] == TABLE


def _run_directories(folder: Path, levels: int) -> Iterator[Path]:
    for entry in os.scandir(folder):
        path = folder / entry.name
        if entry.name.startswith(".") or not entry.is_dir():
            continue
        if is_run_directory(path):
            yield path
        elif levels > 1:
            yield from _run_directories(path, levels - 1)
