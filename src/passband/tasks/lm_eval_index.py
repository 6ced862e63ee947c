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
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from passband.errors import nearest
from passband.tasks.entry import TASK_KEYS, TaskEntry, read_entry
from passband.tasks.file.file_access import lm_eval_tasks, lm_eval_version

FORMAT = 1  # of the file; goes up when it changes
_LINE = re.compile(rb"^([\"']?)([a-z_]+)\1[ \t]*:[ \t]*([^\r\n]*)", re.MULTILINE)
# A value that is the text it looks like: no marks, numbers or words that YAML reads.
_PLAIN = re.compile(rb"([\"']?)([A-Za-z][A-Za-z0-9_./+-]*)\1")
_WORDS = {b"true", b"false", b"yes", b"no", b"on", b"off", b"null", b"y", b"n"}
_OF_NAMES = (b"task", b"group", b"tag")


@dataclass(frozen=True)
class LmEvalIndex:
    """Which file of lm-eval has which task; files are named from the folder of tasks on."""

    root: Path
    version: str
    names: Mapping[str, Sequence[str]]  # files by the names of tasks and groups
    tags: Mapping[str, Sequence[str]]
    groups: Collection[str]  # the names that are groups

    def named(self, name: str) -> list[Path]:
        """Return the files of a task or group of this name."""
        return [self.root / path for path in self.names.get(name, ())]

    def tagged(self, tag: str) -> list[Path]:
        """Return the files of all tasks with this tag."""
        return [self.root / path for path in self.tags.get(tag, ())]

    def near(self, name: str) -> str:
        """Return " Did you mean 'x'?" for the closest name, or nothing.

        Only names that begin or end alike are looked at: there are too many to look at all.
        """
        head, tail = name[:3].lower(), name[-4:].lower()
        alike = (one for one in self.names if one[:3].lower() == head or one[-4:].lower() == tail)
        return nearest(name, alike)


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
    found = _kept(path, made_of)
    if found is None:
        if sys.stderr.isatty():
            print(f"reading the names of lm-eval {version}'s tasks, once ...", file=sys.stderr)
        found = _scanned(root)
        _keep(path, {**made_of, **found})
    return LmEvalIndex(root, version, found["names"], found["tags"], found["groups"])


def _cache_file(root: Path, version: str) -> Path | None:
    import hashlib

    place = hashlib.sha256(str(root).encode("utf-8", "surrogatepass")).hexdigest()[:16]
    safe = re.sub(r"[^A-Za-z0-9.+-]", "_", version)[:40]
    try:
        return cache_folder() / f"lm-eval-{safe}-{place}.json"
    except RuntimeError:  # a user without a home
        return None


def _kept(path: Path | None, made_of: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what is in a file that was made of the same; None if there is no such file."""
    try:
        data = json.loads(path.read_text("utf-8")) if path else None
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(data, dict) or any(data.get(k) != v for k, v in made_of.items()):
        return None
    return data if _is_sound(data) else None


def _is_sound(data: Mapping[str, Any]) -> bool:
    """Return whether all is of the right kind, down to the names of files."""
    for key in ("names", "tags"):
        found = data.get(key)
        if not isinstance(found, dict) or not all(type(paths) is list for paths in found.values()):
            return False
        if not all(type(path) is str for paths in found.values() for path in paths):
            return False
    return isinstance(data.get("groups"), list)


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


def _scanned(root: Path) -> dict[str, Any]:
    """Read the names in all files below a folder."""
    names, tags = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
    groups: list[str] = []
    for path in _task_files(root):
        found = _found(path)
        if found is None:
            continue
        below = path.relative_to(root).as_posix()
        names[found.name].append(below)
        for tag in dict.fromkeys(found.tags):
            tags[tag].append(below)
        groups += [found.name] if found.kind == "group" else []
    return {"names": dict(names), "tags": dict(tags), "groups": groups}


def _task_files(root: Path) -> Iterator[Path]:
    for folder, inside, files in os.walk(root):
        inside[:] = sorted(name for name in inside if not name.startswith((".", "__pycache__")))
        for name in sorted(files):
            if name.endswith((".yaml", ".yml")):
                yield Path(folder, name)


def _found(path: Path) -> TaskEntry | None:
    """Return the task or group of a file, if it has one.

    Most files say plainly which task they are; the others are read as YAML, which takes ten times
    as long.
    """
    try:
        keys = {key: value.strip() for _, key, value in _LINE.findall(path.read_bytes())}
    except OSError:
        return None
    if not keys.keys() & {b"task", b"group"}:
        return None
    plain = {name: _plain(keys[name]) for name in _OF_NAMES if name in keys}
    name = plain.get(b"task")
    if name is None or None in plain.values():
        return read_entry(path)
    if not TASK_KEYS & {key.decode() for key in keys}:
        return None
    return TaskEntry(
        name, path, tags=tuple(tag for key, tag in plain.items() if tag and key != b"task")
    )


def _plain(value: bytes) -> str | None:
    """Return the text of a value that is text beyond doubt."""
    found = _PLAIN.fullmatch(value)
    if found is None or (not found[1] and found[2].lower() in _WORDS):
        return None
    return found[2].decode()
