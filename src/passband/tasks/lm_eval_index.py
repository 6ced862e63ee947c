"""The tasks of an installed lm-eval, by name: an index of its files, built once and kept.

lm-eval has some fourteen thousand task files. Which name is in which file is kept in the user's
cache folder, for a version of lm-eval in a place. A file is read when its name is asked for, so an
index that is wrong leads to no wrong task: only to the message that there is none.
"""

from __future__ import annotations

import functools
import json
import os
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from passband.tasks.entry import TASK_KEYS, read_entry
from passband.tasks.lm_eval_package import lm_eval_tasks, lm_eval_version

__all__ = ["IndexedTask", "LmEvalIndex", "cache_folder", "lm_eval_index"]

FORMAT = 1  # of the file; goes up when it changes
_LINE = re.compile(rb"^([a-z_]+)[ \t]*:[ \t]*([^\r\n]*)", re.MULTILINE)
# A value that is the text it looks like: no quotes, marks, numbers or words that YAML reads.
_PLAIN = re.compile(rb"[A-Za-z][A-Za-z0-9_./+-]*")
_WORDS = {b"true", b"false", b"yes", b"no", b"on", b"off", b"null", b"y", b"n"}
_OF_NAMES = (b"task", b"group", b"tag")


class IndexedTask(NamedTuple):
    """A file of lm-eval, and the names that it can be found by."""

    name: str
    path: str  # below the folder of tasks
    kind: str
    tags: Sequence[str]


@dataclass(frozen=True)
class LmEvalIndex:
    """Which file of lm-eval has which task."""

    root: Path
    version: str
    tasks: Sequence[IndexedTask]

    @property
    def names(self) -> Iterator[str]:
        return iter(self._by_name)

    def named(self, name: str) -> list[Path]:
        """Return the files of a task or group of this name."""
        return [self.root / path for path in self._by_name.get(name, ())]

    def tagged(self, tag: str) -> list[Path]:
        """Return the files of all tasks with this tag."""
        return [self.root / task.path for task in self.tasks if tag in task.tags]

    @functools.cached_property
    def _by_name(self) -> Mapping[str, list[str]]:
        paths: dict[str, list[str]] = defaultdict(list)
        for task in self.tasks:
            paths[task.name].append(task.path)
        return paths


def lm_eval_index() -> LmEvalIndex | None:
    """Return the index of the lm-eval that could be imported; None if there is none."""
    root = lm_eval_tasks()
    return None if root is None else _index(root, lm_eval_version(), _stamp(root))


def cache_folder() -> Path:
    """Return the folder where passband keeps what it can compute again."""
    chosen = os.environ.get("XDG_CACHE_HOME")
    if chosen and Path(chosen).is_absolute():
        return Path(chosen) / "passband"
    home = Path.home()
    return home / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "passband"


# -- the file ------------------------------------------------------------------------------


def _stamp(root: Path) -> int:
    """Return a number that changes when files come or go.

    An installed package changes with its version; the folders of a working copy are looked at.
    """
    if {"site-packages", "dist-packages"} & {*root.parts}:
        return root.stat().st_mtime_ns
    return max(os.stat(folder).st_mtime_ns for folder, _, _ in os.walk(root))


@functools.lru_cache(maxsize=4)
def _index(root: Path, version: str, stamp: int) -> LmEvalIndex:
    made_of = {"format": FORMAT, "version": version, "root": str(root), "stamp": stamp}
    path = _cache_file(root, version)
    tasks = _kept(path, made_of)
    if tasks is None:
        tasks = list(_scanned(root))
        _keep(path, {**made_of, "tasks": tasks})
    return LmEvalIndex(root, version, tasks)


def _cache_file(root: Path, version: str) -> Path | None:
    import hashlib

    place = hashlib.sha256(str(root).encode("utf-8", "surrogatepass")).hexdigest()[:16]
    safe = re.sub(r"[^A-Za-z0-9.+-]", "_", version)[:40]
    try:
        return cache_folder() / f"lm-eval-{safe}-{place}.json"
    except RuntimeError:  # a user without a home
        return None


def _kept(path: Path | None, made_of: Mapping[str, Any]) -> list[IndexedTask] | None:
    """Return the tasks of a file that was made of the same; None if there is no such file."""
    try:
        data = json.loads(path.read_text("utf-8")) if path else None
        if not isinstance(data, dict) or any(data.get(k) != v for k, v in made_of.items()):
            return None
        tasks = [IndexedTask(*task) for task in data["tasks"]]
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None
    return tasks if all(_is_sound(task) for task in tasks) else None


def _is_sound(task: IndexedTask) -> bool:
    texts = (task.name, task.path, task.kind)
    return all(type(text) is str for text in texts) and type(task.tags) is list


def _keep(path: Path | None, data: Mapping[str, Any]) -> None:
    """Write the file as a whole or not at all; where it cannot be written, go without."""
    if path is None:
        return
    with suppress(OSError, ValueError):
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(data, separators=(",", ":"))
        # Of several that write at once, each has a file of its own, and the last one stays.
        handle, name = tempfile.mkstemp(prefix=f"{path.name}.", dir=path.parent)
        try:
            with open(handle, "w", encoding="utf-8") as file:
                file.write(text)
            os.replace(name, path)
        except BaseException:
            with suppress(OSError):
                os.unlink(name)
            raise


# -- the files of tasks --------------------------------------------------------------------


def _scanned(root: Path) -> Iterator[IndexedTask]:
    for folder, inside, files in os.walk(root):
        inside[:] = sorted(name for name in inside if not name.startswith((".", "__pycache__")))
        for name in sorted(files):
            if name.endswith((".yaml", ".yml")):
                yield from _found(Path(folder) / name, root)


def _found(path: Path, root: Path) -> Iterator[IndexedTask]:
    """Yield the task or group of a file, if it has one."""
    below = path.relative_to(root).as_posix()
    try:
        keys = dict(_LINE.findall(path.read_bytes()))
    except OSError:
        return
    if not keys.keys() & {b"task", b"group"}:
        return
    if all(_is_plain(keys.get(name, b"x")) for name in _OF_NAMES) and b"task" in keys:
        if TASK_KEYS & {key.decode() for key in keys}:
            tags = [keys[key].strip().decode() for key in (b"tag", b"group") if key in keys]
            yield IndexedTask(keys[b"task"].strip().decode(), below, "task", tags)
        return
    entry = read_entry(path)
    if entry is not None:
        yield IndexedTask(entry.name, below, entry.kind, list(entry.tags))


def _is_plain(value: bytes) -> bool:
    return _PLAIN.fullmatch(value.strip()) is not None and value.strip().lower() not in _WORDS
