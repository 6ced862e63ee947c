"""Combine groups into weighted means: strata of a table, groups of tasks, columns of a task.

A group of tasks averages as lm-eval defines it; a column that a task groups by weighs its groups
equally, a macro-average. Weights are a rule, shares by name, or a CSV file of shares.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from passband.errors import InvalidInput, nearest
from passband.notes import Note
from passband.stats.data import Outcomes, on_one_scale
from passband.stats.evidence import evidence_of_all
from passband.stats.interval import (
    Weights,
    check_names,
    combined_estimate,
    no_certificate,
    on_scale,
    shares_of,
    weighed,
)
from passband.stats.metric import not_measurable, parse_metric
from passband.summary.group import group_of, metric_lines
from passband.summary.summary import Combined, Group, Line, Request, Weighting

if TYPE_CHECKING:
    from passband.tasks import GroupMetric, TaskGroup
    from passband.trials import RunRecord, Trials


_STOPPED = not_measurable(
    "its trials were stopped by their own outcome; stopped_after=0, in the shell --stopped-after "
    "0, if their numbers were fixed beforehand."
)


@dataclass(frozen=True)
class Sample:
    """What a line is computed from: outcomes, and the metric of them."""

    outcomes: Outcomes
    metric: str
    notes: tuple[Note, ...] = ()  #: on how it was read


@dataclass(frozen=True)
class Stratum:
    """A group of a summary as a stratum, with the sample of each line by its label."""

    group: Group
    samples: Mapping[str, Sample]


def combine_groups(strata: Sequence[Stratum], request: Request) -> tuple[Combined, ...]:
    """Return the weighted means over groups, for each model by itself."""
    if request.weights is None:
        return ()
    _check(request)
    if any(stratum.group.adaptive is not None for stratum in strata):
        raise InvalidInput("weights: adaptive tests have no mean over problems to combine.")
    for stratum in strata:
        if stratum.group.judge is not None and stratum.group.judge.is_corrected:
            raise InvalidInput(
                f"weights: {stratum.group.name or 'the group'} is corrected by labels, and such "
                "estimates are not combined; choose another scorer with --score."
            )
    by_model: dict[str | None, dict[str, Stratum]] = {}
    for stratum in strata:
        members = by_model.setdefault(stratum.group.model, {})
        name = stratum_name(stratum.group)
        if name in members or not name:
            raise InvalidInput(
                "weights are for groups that differ by more than the model; say by what with by "
                "(in the shell, --by COLUMN)."
            )
        members[name] = stratum
    return tuple(
        _mean_of_strata(
            members, request, request.weights, {} if len(by_model) == 1 else {"model": model or ""}
        )
        for model, members in by_model.items()
    )


def _check(request: Request) -> None:
    if request.method != "auto":
        raise InvalidInput(f"weights go with method 'auto'; got {request.method!r}.")
    if request.stopped_after:
        raise InvalidInput("weights are for trials of a fixed number, not with stopped_after.")


def check_population(groups: Sequence[Group], request: Request) -> None:
    """Refuse one size of a population for several groups, each of which is part of another."""
    if request.population is not None and len(groups) > 1:
        names = ", ".join(group.name for group in groups[:4])
        raise InvalidInput(
            f"population is the size of one benchmark, and there are {len(groups)} groups "
            f"({names}); choose one, in the shell with --task or a file of its own."
        )


def stratum_name(group: Group) -> str:
    """Return what sets a group apart from others of the same model."""
    return " / ".join(value for name, value in group.by.items() if name != "model")


def _mean_of_strata(
    strata: Mapping[str, Stratum], request: Request, weights: Weights, by: Mapping[str, str]
) -> Combined:
    check_names(strata)
    shares_of(weights, {name: max(s.group.n_problems, 1) for name, s in strata.items()})
    labels = [
        line.metric
        for line in next(iter(strata.values())).group.lines
        if all(line.metric in stratum.samples for stratum in strata.values())
    ]
    lines = [combined_line(label, strata, request, weights) for label in labels]
    weighting: Weighting = "given"
    if isinstance(weights, str):
        weighting = "size" if weights == "size" else "equal"
    given = None if isinstance(weights, str) else dict(weights)
    return Combined("all", weighting, tuple(strata), tuple(lines), dict(by), given)


def combined_line(
    label: str, strata: Mapping[str, Stratum], request: Request, weights: Weights
) -> Line:
    """Return the weighted mean of the lines of one label; without one of them there is none."""
    lines = {
        name: next(line for line in stratum.group.lines if line.metric == label)
        for name, stratum in strata.items()
    }
    first = next(iter(lines.values()))
    for name, line in lines.items():
        if line.estimate is None:
            return replace(first, estimate=None, reason=no_stratum(name, line.reason))
        if line.estimate.method.startswith("unstopped"):
            return replace(first, estimate=None, reason=no_stratum(name, _STOPPED))
        if label not in strata[name].samples:
            reason = not_measurable(f"{label} is no mean over problems.")
            return replace(first, estimate=None, reason=no_stratum(name, reason))
    samples = {name: stratum.samples[label] for name, stratum in strata.items()}
    sample = next(iter(samples.values()))
    try:
        outcomes = on_one_scale({name: sample.outcomes for name, sample in samples.items()})
        scored = {
            name: stratum_outcomes.counted(request.policy)
            for name, stratum_outcomes in outcomes.items()
        }
        metric = parse_metric(
            sample.metric,
            max(stratum_outcomes.most_trials() for stratum_outcomes in scored.values()),
        )
        estimate, _ = combined_estimate(
            outcomes, scored, metric, weights, request.over, request.level, request.policy
        )
        estimate = on_scale(estimate, metric, next(iter(outcomes.values())))
        estimate = weighed(estimate, metric.k, evidence_of_all(scored.values()))
    except InvalidInput as error:
        return replace(first, estimate=None, reason=not_measurable(str(error)))
    estimates = [line.estimate for line in lines.values() if line.estimate is not None]
    estimate = replace(
        estimate,
        metric=estimates[0].metric,
        n_trials=sum(
            part_estimate.n_trials for part_estimate in estimates
        ),  # of reduced trials, those that were reduced
        left_out=sum(part_estimate.left_out for part_estimate in estimates),
        n_unscored=sum(part_estimate.n_unscored for part_estimate in estimates),
        notes=(*_kept(estimate.notes, request), *_uncertified(request)),
    )
    return replace(first, estimate=estimate, reason=None)


def _kept(found: Sequence[Note], request: Request) -> tuple[Note, ...]:
    """Return the notes; numbers of trials are as fixed as the request says."""
    is_fixed = request.stopped_after == 0
    return tuple(note for note in found if not (is_fixed and note.code == "stopped-by-outcome"))


def _uncertified(request: Request) -> tuple[Note, ...]:
    """Return why there is no certificate, where one was asked for."""
    if not (request.certify or request.calibrate):
        return ()
    return (no_certificate("that is for single strata, not for means over them"),)


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
        members_of = None if sample is None else _part(sample.outcomes, labels, name)
        if sample is None or members_of is None:
            continue
        members = members or members_of
        measured, *_ = metric_lines(members_of, [sample.metric], request, line.scorer)
        lines.append(replace(line, estimate=measured.estimate, reason=measured.reason))
        parts[line.metric] = replace(sample, outcomes=members_of)
    if members is None:  # none of its problems has been asked yet
        return Stratum(replace(group, by={"": name}, lines=()), {})
    counted = group_of(members, request, {"": name}, task=group.task, model=group.model)
    return Stratum(replace(counted, lines=tuple(lines)), parts)


def _part(outcomes: Outcomes, labels: Mapping[str, str], name: str) -> Outcomes | None:
    from passband.readers import select

    where = [index for index, key in enumerate(outcomes.problems) if labels.get(key) == name]
    return select(outcomes, where) if where else None


def task_groups(configs: Iterable[Mapping[str, Any]]) -> list[TaskGroup]:
    """Return the groups that the configurations of runs have recorded, each once."""
    from passband.tasks import TaskGroup

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
        for combined in _task_group_means(
            group,
            {s.group.task or "": s for s in strata if s.group.model == model},
            request,
            {"model": model or ""} if len(models) > 1 else {},
        )
    )


def _task_group_means(
    group: TaskGroup, runs: Mapping[str, Stratum], request: Request, by: Mapping[str, str]
) -> list[Combined]:
    """Return the means of a group of tasks, one per weighting of its metrics."""
    present = {name: runs[name] for name in group.tasks if name in runs}
    if not present:
        return []
    by_weighting: dict[Weighting, list[Line]] = {}
    for metric in group.metrics:
        weighting: Weighting = "size" if metric.weight_by_size else "equal"
        lines = by_weighting.setdefault(weighting, [])
        for label in _labels_to_average(metric, present, request):
            if all(line.metric != label for line in lines):
                lines.append(_line(label, group, present, request, weighting))
    name = group.alias or group.name
    return [
        Combined(name, weighting, group.tasks, tuple(lines), dict(by))
        for weighting, lines in by_weighting.items()
        if lines
    ]


def _labels_to_average(
    metric: GroupMetric, runs: Mapping[str, Stratum], request: Request
) -> list[str]:
    """Return the labels of lines to average: those requested, or the group's metric."""
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
    weighting: Weighting,
) -> Line:
    for task in group.tasks:
        if task not in runs:
            return Line(label, None, None, no_task(group.name, task))
        if all(line.metric != label for line in runs[task].group.lines):
            return Line(label, None, None, no_task(group.name, task, label))
    return combined_line(label, runs, request, weighting)


_RULES = ("equal", "size")


def read_weights(text: str) -> Weights:
    """Return weights from the text of an option.

    "equal" and "size" are rules. "algebra=0.7,geometry=0.3" are shares by name. Anything that ends
    in .csv is a file with a name and a share in each line; a first line without a number is its
    head.

    >>> read_weights("algebra=0.7, geometry=.3")
    {'algebra': 0.7, 'geometry': 0.3}
    """
    if text in _RULES:
        return text
    if text.lower().endswith(".csv"):
        return _of_file(Path(text))
    if "=" not in text:
        raise InvalidInput(
            f"weights must be equal, size, NAME=SHARE,... or a .csv file; got {text!r}."
            f"{nearest(text, _RULES)}"
        )
    pairs = [part.rpartition("=") for part in text.split(",") if part.strip()]
    return _weights([(name.strip(), share.strip()) for name, _, share in pairs], "weights")


def _of_file(path: Path) -> dict[str, float]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [row for row in csv.reader(file) if any(cell.strip() for cell in row)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InvalidInput(f"weights: cannot read {path}: {error}.") from None
    for line, row in enumerate(rows, start=1):
        if len(row) != 2:
            raise InvalidInput(
                f"{path}: each line must have a name and a share; line {line} has {len(row)} cells."
            )
    pairs = [(name.strip(), share.strip()) for name, share in rows]
    if pairs and _number(pairs[0][1]) is None:
        pairs = pairs[1:]
    return _weights(pairs, str(path))


def _weights(pairs: list[tuple[str, str]], place: str) -> dict[str, float]:
    if not pairs:
        raise InvalidInput(f"{place}: there are no weights.")
    weights: dict[str, float] = {}
    for name, text in pairs:
        number = _number(text)
        if not name or number is None:
            raise InvalidInput(f"{place}: expected NAME=SHARE with a number; got {name}={text}.")
        if name in weights:
            raise InvalidInput(f"{place}: {name!r} has two weights.")
        weights[name] = number
    return weights


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def no_task(group: str, task: str, metric: str | None = None) -> Note:
    """Return the note on a group one of whose tasks has no trials, or not this metric.

    >>> print(no_task("mmlu", "mmlu_anatomy"))
    no mean over the group 'mmlu': its task 'mmlu_anatomy' has no trials here
    """
    lack = "has no trials here" if metric is None else f"does not measure {metric}"
    return Note("no-estimate-group", f"no mean over the group {group!r}: its task {task!r} {lack}")


def no_stratum(stratum: str, reason: Note | None) -> Note:
    """Return the note on a mean over strata one of which has no estimate.

    >>> print(no_stratum("algebra", Note("no-estimate-not-enough-data", "no trial has a score.")))
    no mean over strata: 'algebra' has no estimate for it (no trial has a score)
    """
    why = "" if reason is None else f" ({reason.text.rstrip('.')})"
    text = f"no mean over strata: {stratum!r} has no estimate for it{why}"
    return Note("no-estimate-stratum", text)
