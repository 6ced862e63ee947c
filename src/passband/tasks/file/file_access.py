"""Limit an untrusted task to files below its own folder or the working folder.

A task's data are sent to a server. Without trust a task may name regular files below these two
folders only, wherever links lead: no devices, no pipes, nothing of /proc, nothing in hidden folders
such as ~/.ssh. An installed lm-eval is found without importing it.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any


def lm_eval_tasks() -> Path | None:
    """Return the folder of lm-eval's task files; None if it is not installed."""
    try:
        spec = importlib.util.find_spec("lm_eval")
    except (ImportError, ValueError):
        return None
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        tasks = Path(folder) / "tasks"
        if tasks.is_dir():
            return tasks
    return None


def lm_eval_version() -> str:
    """Return the version of the installed lm-eval."""
    for name in ("lm_eval", "lm-eval"):
        with suppress(importlib.metadata.PackageNotFoundError):
            return importlib.metadata.version(name)
    return "unknown"


def is_of_lm_eval(path: Path) -> bool:
    """Return whether a file is among the task files of an installed lm-eval."""
    tasks = lm_eval_tasks()
    return tasks is not None and tasks.resolve() in path.resolve().parents


TRUST = "--trust-task-code (trust=True in Python)"
_OUTSIDE = "is neither below the task's folder nor below the working folder"
_SYSTEM = tuple(map(Path, ("/proc", "/sys", "/dev", "/run")))
_KINDS = {
    stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device", stat.S_IFDIR: "a folder",
}  # fmt: skip
_HOLLOW = 1 << 27  # bytes from which a file must hold something
_SHARE = 100  # a disk that compresses text keeps far more than a hundredth of it


@dataclass(frozen=True)
class FileAccess:
    """The folders below which a task may read files; with trust, all of them."""

    folder: Path  # of the task
    is_trusted: bool = False

    def resolved(self, path: Path) -> Path:
        """Return the file that a path leads to; raise `OSError` with the reason if it may not."""
        if self.is_trusted:
            return path
        real = path.resolve()
        if is_system_file(real):
            raise OSError(f"{path} is a file of the system; a task may not read it without {TRUST}")
        folders = [folder for folder in self._folders() if real.is_relative_to(folder)]
        if not any(_is_shown(real, folder) for folder in folders):
            where = f" (it is {real})" if str(real) != os.path.abspath(path) else ""
            reason = "is hidden, or in a hidden folder" if folders else _OUTSIDE
            way = "" if folders else ", or from a working folder above it"
            raise OSError(f"{path} {reason}{where}; a task may read it only with {TRUST}{way}")
        if os.path.lexists(real):
            _require_regular(path, real)
        return real

    def refuse_pattern(self, folder: Path, pattern: str) -> None:
        """Raise `OSError` if a pattern, relative to a folder, would look through other folders."""
        if self.is_trusted:
            return
        parts = Path(pattern).parts
        fixed = tuple(takewhile(lambda part: "*" not in part, parts))
        start = folder.joinpath(*fixed).resolve()
        is_outside = not any(start.is_relative_to(below) for below in self._folders())
        if is_outside or ".." in parts[len(fixed) :]:
            raise OSError(
                f"the pattern {pattern} leads out of the task's folder and the working folder; a "
                f"task may use it only with {TRUST}"
            )

    def refuse_remote(self, path: str, options: dict[str, Any]) -> None:
        """Raise `OSError` if the hub's library would read files of this machine, or write them.

        It has loaders of its own for files (`text`, `pandas`, which runs code, `sql`, ...).
        """
        if self.is_trusted:
            return
        is_loader = path in _loaders()
        names = [*_names(options.get("data_files")), *_names(options.get("data_dir"))]
        for name in names:
            is_address = name.startswith(("https://", "http://", "hf://"))
            leads_out = "://" in name or Path(name).is_absolute() or ".." in Path(name).parts
            if not is_address and (is_loader or leads_out or name.startswith("~")):
                raise OSError(f"{name} is no file of the data set; it is read only with {TRUST}")
        if is_loader and not names:
            raise OSError(f"{path} loads files of this machine; it is used only with {TRUST}")
        for name in ("cache_dir", "storage_options", "con", "sql"):
            if options.get(name) is not None:
                raise OSError(f"dataset_kwargs.{name} is passed on only with {TRUST}")

    def _folders(self) -> list[Path]:
        folders = [self.folder.resolve()]
        with suppress(FileNotFoundError):  # the working folder was deleted
            folders.append(Path.cwd())
        return [folder for folder in folders if folder != Path(folder.anchor)]


def is_system_file(path: Path) -> bool:
    """Return whether a path leads to what is no file on a disk."""
    return any(path.is_relative_to(folder) for folder in _SYSTEM)


def _is_shown(path: Path, folder: Path) -> bool:
    return not any(part.startswith(".") for part in path.relative_to(folder).parts)


def _require_regular(path: Path, real: Path) -> None:
    """Raise `OSError` unless it is a file with contents; opening a pipe would wait for ever."""
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        opened = os.open(real, flags)
    except OSError as error:
        raise OSError(f"{path} cannot be read: {error.strerror or error}") from None
    try:
        found = os.fstat(opened)
    finally:
        os.close(opened)
    if not stat.S_ISREG(found.st_mode):
        kind = _KINDS.get(stat.S_IFMT(found.st_mode), "no file")
        raise OSError(f"{path} is {kind}; data are read from regular files")
    if found.st_size > _HOLLOW and found.st_blocks * 512 < found.st_size // _SHARE:
        raise OSError(
            f"{path} is {found.st_size:,} bytes long and holds {found.st_blocks * 512:,}: it is "
            f"nearly all holes, and is read only with {TRUST}"
        )


def _names(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [name for inner in value.values() for name in _names(inner)]
    if isinstance(value, list | tuple):
        return [name for inner in value for name in _names(inner)]
    return [] if value is None else [str(value)]


def _loaders() -> set[str]:
    """Return the names by which the hub's library reads files, from the library itself."""
    known = {"arrow", "audiofolder", "cache", "csv", "generator", "imagefolder", "json", "pandas",
             "parquet", "sql", "spark", "text", "videofolder", "webdataset", "xml"}  # fmt: skip
    try:
        from datasets.packaged_modules import _PACKAGED_DATASETS_MODULES
    except ImportError:
        return known
    return known | set(_PACKAGED_DATASETS_MODULES)
