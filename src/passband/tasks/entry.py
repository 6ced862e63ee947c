"""What a task file defines: a task, or a group of tasks.

Only the YAML of the file itself is read: no include, no data, no code.

Groups of tasks, as lm-evaluation-harness writes them: members, and metrics over them.

    group: mmlu
    task: [mmlu_stem, mmlu_other]
    aggregate_metric_list:
      - metric: acc
        weight_by_size: true

The members of a group may be tasks, tags and other groups. Its metrics are means over all the tasks
below it, whatever groups lie between.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from passband.json_values import json_values
from passband.tasks.diagnostics import Diagnostic
from passband.tasks.file.yaml_file import YamlFile, read_yaml

_KEYS = {"metric", "aggregation", "weight_by_size", "filter_list"}


@dataclass(frozen=True)
class GroupMetric:
    """A metric of the tasks that the group averages."""

    metric: str
    filters: tuple[str, ...] | None = None  #: None: every filter that the tasks have
    weight_by_size: bool = True


@dataclass(frozen=True)
class TaskGroup:
    """A group with all the tasks below it."""

    name: str
    tasks: tuple[str, ...]
    metrics: tuple[GroupMetric, ...]
    alias: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Convert to a JSON-serialisable dict, as runs record it."""
        return json_values(self)

    @staticmethod
    def of(values: Mapping[str, Any]) -> TaskGroup:
        """Return the group that a run has recorded."""
        metrics = [
            GroupMetric(
                one["metric"],
                None if one["filters"] is None else tuple(one["filters"]),
                bool(one["weight_by_size"]),
            )
            for one in values["metrics"]
        ]
        return TaskGroup(values["name"], tuple(values["tasks"]), tuple(metrics), values["alias"])


def read_group_metrics(
    values: Mapping[str, Any], file: YamlFile, *path: str | int
) -> tuple[tuple[GroupMetric, ...], Diagnostic | None]:
    """Return the metrics of a group, and what is wrong with them."""
    listed = values.get("aggregate_metric_list") or []
    metrics: list[GroupMetric] = []
    entries: Sequence[Any] = [listed] if isinstance(listed, Mapping) else listed
    for position, entry in enumerate(entries if isinstance(entries, list) else [entries]):
        message = _wrong(entry)
        if message is not None:
            place = file.place(*path, "aggregate_metric_list", position)
            return (), Diagnostic.at(place, message)
        filters = entry.get("filter_list")
        filters = [filters] if isinstance(filters, str) else filters
        metrics.append(
            GroupMetric(
                entry["metric"],
                None if filters is None else tuple(filters),
                entry.get("weight_by_size", True),
            )
        )
    return tuple(metrics), None


def _wrong(entry: Any) -> str | None:
    """Return what is wrong with an entry of the list, or None."""
    if not isinstance(entry, Mapping) or not isinstance(entry.get("metric"), str):
        return f"an entry of aggregate_metric_list names a metric; got {entry!r}."
    unknown = sorted(str(key) for key in entry if key not in _KEYS)
    if unknown:
        return (
            f"aggregate_metric_list has no key {unknown[0]!r}; it has {', '.join(sorted(_KEYS))}."
        )
    aggregation = entry.get("aggregation", "mean")
    if aggregation != "mean":
        return f"the only aggregation over tasks is mean; got {aggregation!r}."
    if not isinstance(entry.get("weight_by_size", True), bool):
        return f"weight_by_size is true or false; got {entry['weight_by_size']!r}."
    filters = entry.get("filter_list")
    several = filters if isinstance(filters, list) else [filters or ""]
    if not all(isinstance(one, str) for one in several):
        return f"filter_list is a name or a list of names; got {filters!r}."
    return None


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
