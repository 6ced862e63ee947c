"""Groups of tasks, as lm-evaluation-harness writes them: members, and metrics over them.

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
from dataclasses import asdict, dataclass
from typing import Any

from passband.tasks.diagnostics import Diagnostic
from passband.tasks.yaml_file import YamlFile

__all__ = ["GroupMetric", "TaskGroup", "read_group_metrics"]

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
        return asdict(self)

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
