"""Tasks by name: the built-in ones, those of PASSBAND_TASKS, and those of the working folder.

Looking for tasks reads their YAML and nothing else: no include, no data, no code.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from passband.errors import InvalidInput, UnknownName, nearest
from passband.tasks.yaml_file import YamlFile, read_yaml

__all__ = ["TaskEntry", "find_task", "find_tasks", "list_tasks"]

BUILTIN = Path(__file__).parent / "builtin"
_ENDINGS = (".yaml", ".yml")
_SKIPPED = {"__pycache__", "node_modules", "site-packages"}
# A YAML file of another program may have a key named task; one of these says that it is ours.
_TASK_KEYS = {
    "class",
    "custom_dataset",
    "dataset_kwargs",
    "dataset_path",
    "doc_to_target",
    "doc_to_text",
    "include",
    "metric_list",
    "output_type",
    "repeats",
}


@dataclass(frozen=True, slots=True)
class TaskEntry:
    """A task, or a group of tasks, that was found."""

    name: str
    path: Path
    kind: Literal["task", "group", "broken"] = "task"
    tags: tuple[str, ...] = ()
    members: tuple[str, ...] = ()  # of a group: names of tasks or groups
    problem: str | None = None  # why it cannot be run, where that is known already


def find_task(name_or_path: str | Path) -> Path:
    """Return the file of exactly one task, by its path or its name."""
    paths = find_tasks(name_or_path)
    if len(paths) > 1:
        told = ", ".join(map(str, paths[:5])) + (", ..." if len(paths) > 5 else "")
        raise InvalidInput(f"{str(name_or_path)!r} stands for {len(paths)} tasks: {told}.")
    return paths[0]


def find_tasks(name_or_path: str | Path) -> tuple[Path, ...]:
    """Return the files of a task, of all tasks of a group, a tag, or a folder."""
    path = Path(name_or_path)
    if path.is_dir() and (isinstance(name_or_path, Path) or not _is_name(str(name_or_path))):
        return _of_folder(path)
    if path.suffix in _ENDINGS or len(path.parts) > 1:
        return _of_file(path)
    entries = list_tasks()
    if path.is_dir() and str(name_or_path) not in {entry.name for entry in entries}:
        return _of_folder(path)
    return tuple(dict.fromkeys(_named(str(name_or_path), entries, ())))


def list_tasks(folders: Iterable[Path] | None = None) -> list[TaskEntry]:
    """List every task that can be run by its name, sorted by name; broken files are among them."""
    paths = _all_files() if folders is None else (p for f in folders for p in _yaml_files(f, True))
    unique = {path.resolve(): path for path in paths}
    entries = [entry for path in unique.values() if (entry := _entry(path)) is not None]
    return sorted(entries, key=lambda entry: (entry.name.lower(), str(entry.path)))


# -- files ---------------------------------------------------------------------------------


def _all_files() -> Iterator[Path]:
    yield from _yaml_files(BUILTIN, True)
    for folder in os.environ.get("PASSBAND_TASKS", "").split(os.pathsep):
        if folder:
            yield from _yaml_files(Path(folder).expanduser(), True)
    yield from _yaml_files(Path("tasks"), True)
    yield from _yaml_files(Path(), False)


def _yaml_files(folder: Path, deep: bool) -> Iterator[Path]:
    try:
        inside = sorted(os.scandir(folder), key=lambda item: item.name)
    except OSError:
        return
    for item in inside:
        if item.is_file() and item.name.endswith(_ENDINGS):
            yield folder / item.name
        # Links to folders are not followed: they may lead back.
        elif deep and item.is_dir(follow_symlinks=False) and not _is_skipped(item.name):
            yield from _yaml_files(folder / item.name, True)


def _is_skipped(name: str) -> bool:
    return name.startswith(".") or name in _SKIPPED


def _is_name(text: str) -> bool:
    return not any(mark in text for mark in ("/", os.sep, "\\")) and text not in (".", "..")


def _of_folder(folder: Path) -> tuple[Path, ...]:
    entries = list_tasks([folder])
    paths = tuple(entry.path for entry in entries if entry.kind != "group")
    if not paths:
        raise InvalidInput(f"there is no task file in {folder}.")
    return paths


def _of_file(path: Path) -> tuple[Path, ...]:
    if not path.is_file():
        raise InvalidInput(f"there is no task file {path}.")
    entry = _entry(path)
    if entry is None or entry.kind != "group":
        return (path,)
    # Members may stand beside the group's own file, wherever that is.
    entries = [*list_tasks([path.parent]), *list_tasks()]
    return tuple(dict.fromkeys(_members(entry, entries, (entry.name,))))


# -- names ---------------------------------------------------------------------------------


def _named(name: str, entries: list[TaskEntry], above: tuple[str, ...]) -> Iterator[Path]:
    found = {e.path.resolve(): e for e in entries if e.name == name}
    if len(found) > 1:
        told = ", ".join(str(entry.path) for entry in found.values())
        raise InvalidInput(f"{name!r} is defined by several files: {told}; give the path of one.")
    if not found:
        yield from _tagged(name, entries)
        return
    entry = next(iter(found.values()))
    if entry.kind == "group":
        yield from _members(entry, entries, (*above, name))
    else:
        yield entry.path


def _members(group: TaskEntry, entries: list[TaskEntry], above: tuple[str, ...]) -> Iterator[Path]:
    if group.problem is not None:
        raise InvalidInput(group.problem)
    for member in group.members:
        if member in above:
            raise InvalidInput(f"{group.path}: the group {member!r} contains itself.")
        yield from _named(member, entries, above)


def _tagged(tag: str, entries: list[TaskEntry]) -> Iterator[Path]:
    paths = [entry.path for entry in entries if tag in entry.tags]
    if not paths:
        known = [entry.name for entry in entries]
        hint = nearest(tag, known) or f" Known: {', '.join(sorted(known)[:20]) or 'none'}."
        raise UnknownName(f"there is no task named {tag!r}.{hint}")
    yield from paths


# -- one file ------------------------------------------------------------------------------


def _entry(path: Path) -> TaskEntry | None:
    """Say what a file defines, or None if it is no task's."""
    file = read_yaml(path)
    name, group = file.values.get("task"), file.values.get("group")
    if not file.values:
        return _broken(path, file) if _names_a_task(path) else None
    if isinstance(group, str) and (name is None or isinstance(name, list)):
        return _group(group, name or [], path)
    if not isinstance(name, str) or not _TASK_KEYS & file.values.keys():
        return None
    if file.problems:
        return _broken(path, file, name)
    return TaskEntry(name, path, tags=_tags(file.values.get("tag")) + _tags(group))


def _broken(path: Path, file: YamlFile, name: str | None = None) -> TaskEntry:
    return TaskEntry(name or path.stem, path, "broken", problem=str(file.problems[0]))


def _names_a_task(path: Path) -> bool:
    """Tell whether a file that is not YAML was meant to be a task's."""
    try:
        with path.open("rb") as file:
            return any(line.startswith((b"task:", b"group:")) for line in file.readlines(100_000))
    except OSError:
        return False


def _group(name: str, members: list[Any], path: Path) -> TaskEntry:
    names = [m["task"] if isinstance(m, dict) and [*m] == ["task"] else m for m in members]
    for member in names:
        if not isinstance(member, str):
            told = f"{path}: a group is a list of names; settings for its tasks are not read."
            return TaskEntry(name, path, "group", problem=told)
    return TaskEntry(name, path, "group", members=tuple(names))


def _tags(value: Any) -> tuple[str, ...]:
    several = value if isinstance(value, list) else [value]
    return tuple(tag for tag in several if isinstance(tag, str))
