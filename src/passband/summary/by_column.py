"""The macro-average of a task that names a column to group by: each group counts the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from passband.readers.runs import select
from passband.stats.data.outcomes import Outcomes
from passband.summary.combined import Sample, Stratum, combined_line
from passband.summary.group import group_of, metric_lines
from passband.summary.summary import Combined, Group, Line, Request
from passband.trials.reader import RunRecord, Trials

__all__ = ["column_of", "macro_average"]


def column_of(run: RunRecord) -> str | None:
    """Return the column by which the task of a run groups its results."""
    task = run.config.get("task")
    column = task.get("by") if isinstance(task, Mapping) else None
    return column if isinstance(column, str) else None


def macro_average(
    trials: Trials,
    run: RunRecord,
    group: Group,
    samples: Mapping[str, Sample],
    request: Request,
) -> Combined | None:
    """Return the mean over the groups of a run's column; None where there are not several.

    The lines of the run itself are means over problems, the micro-averages.
    """
    column = column_of(run)
    if column is None or request.method != "auto" or request.stopped_after or request.population:
        return None
    labels = _labels(trials, run, column)
    names = sorted(set(labels.values()))
    if len(names) < 2:
        return None
    plain = replace(request, certify=None, calibrate=False)
    strata = {name: _stratum(name, labels, group, samples, plain) for name in names}
    lines = [
        combined_line(label, strata, plain, "equal")
        for label in _main(group)
        if all(label in stratum.samples for stratum in strata.values())
    ]
    title = f"macro over {column}" if "task" not in group.by else f"{run.task}, macro over {column}"
    by = {name: value for name, value in group.by.items() if name == "model"}
    return Combined(title, "equal", tuple(names), tuple(lines), by) if lines else None


def _main(group: Group) -> list[str]:
    """Return the labels of the lines that the task or the user asks for, without the curve."""
    listed = [line.metric for line in group.lines if line.name is not None]
    return listed or [line.metric for line in group.lines]


def _labels(trials: Trials, run: RunRecord, column: str) -> dict[str, str]:
    """Return the group of each problem by the problem's key."""
    docs: dict[str, Mapping[str, Any]] = {
        problem.key: problem.record.get("doc") or {} for problem in trials.each_problem(run.number)
    }
    return {key: str(doc[column]) for key, doc in docs.items() if doc.get(column) is not None}


def _stratum(
    name: str,
    labels: Mapping[str, str],
    group: Group,
    samples: Mapping[str, Sample],
    request: Request,
) -> Stratum:
    """Return one group of problems, each line of the run measured on them."""
    lines: list[Line] = []
    parts: dict[str, Sample] = {}
    members: Outcomes | None = None
    for line in group.lines:
        sample = samples.get(line.metric)
        part = None if sample is None else _part(sample.outcomes, labels, name)
        if sample is None or part is None:
            continue
        members = members or part
        measured, *_ = metric_lines(part, [sample.metric], request, line.scorer)
        lines.append(replace(line, estimate=measured.estimate, reason=measured.reason))
        parts[line.metric] = replace(sample, outcomes=part)
    if members is None:  # none of its problems has been asked yet
        return Stratum(replace(group, by={"": name}, lines=()), {})
    counted = group_of(members, request, {"": name}, task=group.task, model=group.model)
    return Stratum(replace(counted, lines=tuple(lines)), parts)


def _part(outcomes: Outcomes, labels: Mapping[str, str], name: str) -> Outcomes | None:
    where = [place for place, key in enumerate(outcomes.problems) if labels.get(key) == name]
    return select(outcomes, where) if where else None
