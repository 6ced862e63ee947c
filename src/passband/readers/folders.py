"""Sources of trials as they are named: run directories, files, and folders of run directories."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from passband.errors import InvalidInput
from passband.readers.dataset.address import is_address, masked, names_dataset
from passband.readers.reader import TABLE, find_reader
from passband.trials import STORE_FILE, is_run_directory

#: A file or a folder, or the name of a data set, which need not be a path.
SourcePath: TypeAlias = Path | str

_DEEPEST = 3  # levels of folders below the one that is named


def is_several(source: Any) -> bool:
    """Return whether a source is a list of paths, or a folder of run directories."""
    if isinstance(source, (list, tuple)):
        return bool(source) and all(isinstance(one, (str, os.PathLike)) for one in source)
    if not isinstance(source, (str, os.PathLike)) or is_dataset(source):
        return False
    return _is_folder(Path(source))


def is_dataset(source: str | os.PathLike[str]) -> bool:
    """Return whether a source names a data set: a glob, an address, a folder of Parquet files.

    A folder with run directories in it, or one that another reader knows, is none.
    """
    text = os.fspath(source)
    if not names_dataset(text):
        return False
    path = Path(text)
    if is_address(text) or not path.is_dir():
        return True
    return _is_folder(path) and not list(_run_directories(path, _DEEPEST))


def expand_sources(sources: Sequence[str | os.PathLike[str]]) -> list[SourcePath]:
    """Return the sources with each folder of run directories replaced by what it holds.

    A directory that is reached twice, by its own name and through a folder, is one source. The
    name of a data set stays as it is.
    """
    paths: dict[SourcePath, SourcePath] = {}
    for source in sources:
        if is_dataset(source):
            paths.setdefault(os.fspath(source), os.fspath(source))
            continue
        path = Path(source)
        for one in _expanded(path) if os.fspath(source) else [path]:
            paths.setdefault(one.resolve(), one)
    return list(paths.values())


def require_path(source: SourcePath, use: str) -> Path:
    """Return the path of a source; raise `InvalidInput` for a data set, whose trials are counted.

    `use` says what needs the single trials.
    """
    if isinstance(source, str):
        raise InvalidInput(
            f"{masked(source)} is a data set, which is counted without its single trials, and "
            f"these are what {use}. passband stats, compare and gate read it."
        )
    return source


def short_names(paths: Sequence[SourcePath]) -> list[str]:
    """Return the last part of each path where that tells them apart, else the whole paths.

    The name of a data set is not shortened.

    >>> short_names([Path("runs/a"), Path("runs/b")]), short_names([Path("x/a"), Path("y/a")])
    (['a', 'b'], ['x/a', 'y/a'])
    """
    names = [_short_name(path) for path in paths]
    if len(set(names)) == len(names):
        return names
    return [masked(path) if isinstance(path, str) else str(path) for path in paths]


def _short_name(path: SourcePath) -> str:
    if isinstance(path, str):
        return masked(path)
    return path.resolve().name if path.is_dir() else path.stem


def _expanded(path: Path) -> list[Path]:
    if not _is_folder(path):
        return [path]
    found = sorted(_run_directories(path, _DEEPEST))
    if found:
        return found
    raise InvalidInput(
        f"{path} is not a run directory (it has no {STORE_FILE}), there is none in it down to "
        f"{_DEEPEST} levels, and it is no log of a tool that passband knows."
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
