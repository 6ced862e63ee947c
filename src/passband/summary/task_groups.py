"""Groups of tasks that a run has recorded: the means over their tasks, as lm-eval defines them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from passband import notes
from passband.summary.combined import Stratum, combined_line
from passband.summary.summary import Combined, Line, Request

if TYPE_CHECKING:
    from passband.tasks.group import GroupMetric, TaskGroup

__all__ = ["combine_tasks", "task_groups"]


def task_groups(configs: Iterable[Mapping[str, Any]]) -> list[TaskGroup]:
    """Return the groups that the configurations of runs have recorded, each once."""
    from passband.tasks.group import TaskGroup  # which reads YAML

    groups: dict[str, TaskGroup] = {}
    for config in configs:
        for values in config.get("groups", ()):
            groups[values["name"]] = TaskGroup.of(values)
    return list(groups.values())


def combine_tasks(
    groups: Sequence[TaskGroup], strata: Sequence[Stratum], request: Request
) -> tuple[Combined, ...]:
    """Return the means over the tasks of each group, for each model by itself."""
    models = list(dict.fromkeys(stratum.group.model for stratum in strata))
    return tuple(
        combined
        for group in groups
        for model in models
        for combined in _combined(
            group,
            {s.group.task or "": s for s in strata if s.group.model == model},
            request,
            {"model": model or ""} if len(models) > 1 else {},
        )
    )


def _combined(
    group: TaskGroup, runs: Mapping[str, Stratum], request: Request, by: Mapping[str, str]
) -> list[Combined]:
    """Return the lines of a group; one for each weighting that its metrics have."""
    present = {name: runs[name] for name in group.tasks if name in runs}
    if not present:
        return []
    by_weighting: dict[str, list[Line]] = {}
    for metric in group.metrics:
        weighting = "size" if metric.weight_by_size else "equal"
        lines = by_weighting.setdefault(weighting, [])
        for label in _labels(metric, present, request):
            if all(line.metric != label for line in lines):
                lines.append(_line(label, group, present, request, weighting))
    name = group.alias or group.name
    return [
        Combined(name, weighting, group.tasks, tuple(lines), dict(by))
        for weighting, lines in by_weighting.items()
        if lines
    ]


def _labels(metric: GroupMetric, runs: Mapping[str, Stratum], request: Request) -> list[str]:
    """Return the labels of the lines that a group averages: its metric, or those asked for."""
    return list(
        dict.fromkeys(
            line.metric
            for stratum in runs.values()
            for line in stratum.group.lines
            if request.metrics
            or (
                line.name == metric.metric
                and (metric.filters is None or line.filter in metric.filters)
            )
        )
    )


def _line(
    label: str,
    group: TaskGroup,
    runs: Mapping[str, Stratum],
    request: Request,
    weighting: str,
) -> Line:
    for task in group.tasks:
        if task not in runs:
            return Line(label, None, None, notes.no_task(group.name, task))
        if all(line.metric != label for line in runs[task].group.lines):
            return Line(label, None, None, notes.no_task(group.name, task, label))
    return combined_line(label, runs, request, weighting)
