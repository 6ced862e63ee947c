"""What a task file defines: a task, or a group of tasks.

Only the YAML of the file itself is read: no include, no data, no code.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from passband.tasks.diagnostics import Diagnostic
from passband.tasks.group import GroupMetric, TaskGroup, read_group_metrics
from passband.tasks.yaml_file import YamlFile, read_yaml

__all__ = ["TASK_KEYS", "TaskEntry", "read_entry"]

# A YAML file of another program may have a key named task; these keys mark one of ours.
TASK_KEYS = {
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


def read_entry(path: Path, file: YamlFile | None = None) -> TaskEntry | None:
    """Return what a file defines, or None if it is no task file."""
    file = file or read_yaml(path)
    name, group = file.values.get("task"), file.values.get("group")
    if not file.values:
        return _broken(path, file) if _names_a_task(path) else None
    if isinstance(group, str) and (name is None or isinstance(name, list)):
        return _group(file.values, file)
    if not isinstance(name, str) or not TASK_KEYS & file.values.keys():
        return None
    if any(diagnostic.level == "error" for diagnostic in file.diagnostics):
        return _broken(path, file, name)
    return TaskEntry(name, path, tags=_tags(file.values.get("tag")) + _tags(group), file=file)


def _broken(path: Path, file: YamlFile, name: str | None = None) -> TaskEntry:
    diagnostic = next(one for one in file.diagnostics if one.level == "error")
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
