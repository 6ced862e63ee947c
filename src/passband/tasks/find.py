"""Tasks by name: the built-in ones, those of PASSBAND_TASKS, and those of the working folder.

Looking for tasks reads their YAML and nothing else: no include, no data, no code.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from passband.errors import InvalidInput, UnknownName, nearest
from passband.tasks.diagnostics import Diagnostic, raise_errors
from passband.tasks.group import GroupMetric, TaskGroup, read_group_metrics
from passband.tasks.yaml_file import YamlFile, read_yaml

__all__ = ["TaskEntry", "find_task", "find_tasks", "list_tasks", "merged_entries"]

BUILTIN = Path(__file__).parent / "builtin"
_ENDINGS = (".yaml", ".yml")
_DATA_ENDINGS = (".csv", ".gz", ".json", ".jsonl", ".ndjson", ".parquet", ".tsv")
_SKIPPED = {"__pycache__", "node_modules", "site-packages"}
# A YAML file of another program may have a key named task; these keys mark one of ours.
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
    """The file of a task, or of a group of tasks."""

    name: str
    path: Path
    kind: Literal["task", "group", "broken"] = "task"
    tags: tuple[str, ...] = ()
    members: tuple[str | TaskEntry, ...] = ()  # of a group: names, or groups inside of it
    metrics: tuple[GroupMetric, ...] = ()  # of a group
    alias: str | None = None  # of a group
    groups: tuple[TaskGroup, ...] = field(default=(), compare=False)  # that a task belongs to
    diagnostic: Diagnostic | None = None  # why it cannot be run, where that is known already
    file: YamlFile | None = field(default=None, compare=False, repr=False)  # as it was read

    @property
    def member_names(self) -> tuple[str, ...]:
        """The names of a group's members, also of groups that are written inside of it."""
        return tuple(one if isinstance(one, str) else one.name for one in self.members)


def find_task(name_or_path: str | Path) -> Path:
    """Return the file of exactly one task, by its path or its name."""
    entries = find_tasks(name_or_path)
    if len(entries) > 1:
        paths = ", ".join(str(entry.path) for entry in entries[:5])
        dots = ", ..." if len(entries) > 5 else ""
        raise InvalidInput(f"{str(name_or_path)!r} is {len(entries)} tasks: {paths}{dots}.")
    return entries[0].path


def find_tasks(name_or_path: str | Path) -> tuple[TaskEntry, ...]:
    """Return the entries of a task, of all tasks of a group, a tag, or a folder.

    A file that was read on the way is part of its entry, for `load_task`.
    """
    name, path = str(name_or_path), Path(name_or_path)
    if not name.strip():
        raise InvalidInput("the name of a task is empty; give a name, a YAML file or a folder.")
    if name.startswith("inspect:"):
        raise InvalidInput(
            f"{name} is a task of Inspect, which has no task file: run it with passband run."
        )
    if path.is_dir() and (isinstance(name_or_path, Path) or not _is_name(name)):
        return _of_folder(path)
    if path.suffix in _ENDINGS or len(path.parts) > 1:
        return _of_file(path)
    entries = list_tasks(keep=name)
    if path.is_dir() and name not in {entry.name for entry in entries}:
        return _of_folder(path)
    return merged_entries(_named(name, entries, ()))


def merged_entries(entries: Iterable[TaskEntry]) -> tuple[TaskEntry, ...]:
    """Return each entry once, with every group that it was found in."""
    merged: dict[TaskEntry, TaskEntry] = {}
    for entry in entries:
        known = merged.setdefault(entry, entry)
        if known is not entry:
            groups = tuple(dict.fromkeys((*known.groups, *entry.groups)))
            merged[entry] = replace(known, groups=groups)
    return tuple(merged.values())


def list_tasks(
    folders: Iterable[Path] | None = None, *, keep: str | None = None
) -> list[TaskEntry]:
    """List every task that can be run by its name, sorted by name; broken files are among them.

    Entries of the name or tag `keep` keep the file as it was read; those of thousands of other
    tasks would only take memory.
    """
    paths = _all_files() if folders is None else (p for f in folders for p in _yaml_files(f, True))
    unique = {path.resolve(): path for path in paths}
    entries = [
        entry if keep is not None and keep in (entry.name, *entry.tags) else _slim(entry)
        for path in unique.values()
        if (entry := _entry(path)) is not None
    ]
    return sorted(entries, key=lambda entry: (entry.name.lower(), str(entry.path)))


def _slim(entry: TaskEntry) -> TaskEntry:
    return replace(entry, file=None)


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


def _of_folder(folder: Path) -> tuple[TaskEntry, ...]:
    entries = tuple(entry for entry in list_tasks([folder]) if entry.kind != "group")
    if not entries:
        raise InvalidInput(f"there is no task file in {folder}.")
    return entries


def _of_file(path: Path) -> tuple[TaskEntry, ...]:
    if not path.is_file():
        raise InvalidInput(f"there is no task file {path}.")
    if path.suffix in _DATA_ENDINGS:
        raise InvalidInput(_not_a_task(path))
    file = read_yaml(path)
    entry = _entry(path, file)
    if entry is None:
        return (TaskEntry(path.stem, path, file=file),)
    if entry.kind != "group":
        return (entry,)
    # Members may be beside the group's own file, wherever that is.
    entries = [*list_tasks([path.parent]), *list_tasks()]
    return merged_entries(_members(entry, entries, (entry.name,)))


# -- names ---------------------------------------------------------------------------------


def _named(name: str, entries: list[TaskEntry], above: tuple[str, ...]) -> Iterator[TaskEntry]:
    candidates = {entry.path.resolve(): entry for entry in entries if entry.name == name}
    if len(candidates) > 1:
        paths = ", ".join(str(entry.path) for entry in candidates.values())
        raise InvalidInput(f"{name!r} is defined by several files: {paths}; give the path of one.")
    if not candidates:
        yield from _tagged(name, entries)
        return
    entry = next(iter(candidates.values()))
    if entry.kind == "group":
        yield from _members(entry, entries, (*above, name))
    else:
        yield entry


def _members(
    group: TaskEntry, entries: list[TaskEntry], above: tuple[str, ...]
) -> Iterator[TaskEntry]:
    if group.diagnostic is not None:
        raise_errors([group.diagnostic])
    below: list[TaskEntry] = []
    for member in group.members:
        name = member if isinstance(member, str) else member.name
        if name in above:
            raise InvalidInput(f"{group.path}: the group {name!r} contains itself.")
        if isinstance(member, str):
            below += _named(member, entries, above)
        else:
            below += _members(member, entries, (*above, name))
    tasks = merged_entries(below)
    if not group.metrics:
        yield from tasks
        return
    names = tuple(task.name for task in tasks)
    own = TaskGroup(group.name, names, group.metrics, group.alias)
    yield from (replace(task, groups=(own, *task.groups)) for task in tasks)


def _tagged(tag: str, entries: list[TaskEntry]) -> Iterator[TaskEntry]:
    tagged = [entry for entry in entries if tag in entry.tags]
    if not tagged and Path(tag).is_file():
        raise InvalidInput(_not_a_task(Path(tag)))
    if not tagged:
        known = sorted({entry.name for entry in entries})
        hint = nearest(tag, known) or f" Known: {', '.join(known[:20]) or 'none'}."
        raise UnknownName(f"there is no task named {tag!r}.{hint}")
    yield from tagged


def _not_a_task(path: Path) -> str:
    if path.suffix in _DATA_ENDINGS:
        return (
            f"{path} is data, not a task file: passband run takes it as it is, and passband init "
            f"{path} writes a task file for it."
        )
    return (
        f"{path} is not a task: a task is a YAML file (.yaml), or data in a file that ends with "
        f"{', '.join(_DATA_ENDINGS)}."
    )


# -- one file ------------------------------------------------------------------------------


def _entry(path: Path, file: YamlFile | None = None) -> TaskEntry | None:
    """Return what a file defines, or None if it is no task file."""
    file = file or read_yaml(path)
    name, group = file.values.get("task"), file.values.get("group")
    if not file.values:
        return _broken(path, file) if _names_a_task(path) else None
    if isinstance(group, str) and (name is None or isinstance(name, list)):
        return _group(file.values, file)
    if not isinstance(name, str) or not _TASK_KEYS & file.values.keys():
        return None
    if file.diagnostics:
        return _broken(path, file, name)
    return TaskEntry(name, path, tags=_tags(file.values.get("tag")) + _tags(group), file=file)


def _broken(path: Path, file: YamlFile, name: str | None = None) -> TaskEntry:
    diagnostic = file.diagnostics[0]
    return TaskEntry(name or path.stem, path, "broken", diagnostic=diagnostic, file=file)


def _names_a_task(path: Path) -> bool:
    """Return whether a file that is not YAML was meant to be a task file."""
    try:
        with path.open("rb") as file:
            return any(line.startswith((b"task:", b"group:")) for line in file.readlines(100_000))
    except OSError:
        return False


def _group(values: Mapping[str, Any], file: YamlFile, *path: str | int) -> TaskEntry:
    """Return a group; one that is written inside of another is at a path of its file."""
    name, alias = values["group"], values.get("group_alias")
    members: list[str | TaskEntry] = []
    diagnostics: list[Diagnostic | None] = []
    for position, member in enumerate(values.get("task") or []):
        if isinstance(member, dict) and [*member] == ["task"]:
            member = member["task"]
        if isinstance(member, dict) and isinstance(member.get("group"), str):
            inner = _group(member, file, *path, "task", position)
            diagnostics.append(inner.diagnostic)
            members.append(inner)
        elif isinstance(member, str):
            members.append(member)
        else:
            message = "a group is a list of names; settings for its tasks are not read."
            diagnostics.append(Diagnostic.at(file.place(*path, "task", position), message))
    metrics, wrong = read_group_metrics(values, file, *path)
    return TaskEntry(
        name,
        file.path,
        "group",
        members=tuple(members),
        metrics=metrics,
        alias=alias if isinstance(alias, str) else None,
        diagnostic=next((one for one in [*diagnostics, wrong] if one is not None), None),
    )


def _tags(value: Any) -> tuple[str, ...]:
    several = value if isinstance(value, list) else [value]
    return tuple(tag for tag in several if isinstance(tag, str))
