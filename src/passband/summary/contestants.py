"""The models that sources of trials hold, under names that tell them apart, task by task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from passband import notes
from passband.errors import InvalidInput, UnknownName, nearest
from passband.readers import Group, Groups, Remark, read
from passband.readers.choice import chosen_sources
from passband.readers.folders import expand_sources, is_several
from passband.readers.table import MODEL_NAMES, TASK_NAMES
from passband.stats.data.columns import matching
from passband.stats.data.outcomes import Outcomes, Policy
from passband.stats.metric.registry import needs_answers
from passband.summary.contest import Contest
from passband.summary.share import is_share
from passband.trials.reader import Trials, is_run_directory

__all__ = ["Contestants", "contestants_of", "read_contestants"]


@dataclass(frozen=True)
class Contestants:
    """The outcomes of each model on each task that two models or more were asked."""

    tasks: Mapping[str | None, Mapping[str, Outcomes]] = field(hash=False)
    remarks: tuple[Remark, ...] = ()
    shares: frozenset[str | None] = frozenset()  #: tasks whose scores are from 0 to 1
    #: by model, the source it is read from and its name there
    sources: Mapping[str, tuple[str, str | None]] = field(default_factory=dict, hash=False)


def read_contestants(
    sources: Sequence[str | Path],
    contest: Contest,
    *,
    columns: Mapping[str, str | None] | None = None,
    by: str | None = None,
    tasks: Sequence[str] = (),
    threshold: float | None = None,
    skip_bad: bool = False,
) -> Contestants:
    """Read the models that files and run directories hold; see `compare_sources`."""
    _refuse_same(sources)
    sources, empty = _with_trials(sources)
    chosen = () if by is None else (by,)
    readings = [
        read(
            source,
            columns=columns,
            by=chosen,
            threshold=threshold,
            tasks=_held(source, tasks),
            skip_bad=skip_bad,
            targets=contest.paired,
            answers=needs_answers(contest.metrics),
        )
        for source in sources
    ]
    contestants = contestants_of(readings, contest, by=by, tasks=tasks)
    return replace(contestants, remarks=(*contestants.remarks, *empty))


def contestants_of(
    readings: Sequence[Groups],
    contest: Contest,
    *,
    by: str | None = None,
    tasks: Sequence[str] = (),
) -> Contestants:
    """Return the models of sources that have been read, and remarks on comparing them."""
    entrants = _Field(readings, by)
    shared, left_out = entrants.shared_tasks(tasks)
    remarks = [
        Remark(f"{one.source}: {remark}", remark.important)
        for one in readings
        for remark in one.remarks
    ]
    if by != "scorer":
        left_out += _scorer_remarks(readings, shared)
    left_out += _target_remarks(readings, shared)
    left_out += _stopped_remarks(entrants, shared, contest.policy)
    models = {task: entrants.models(task) for task in shared}
    shares = frozenset(task for task in shared if all(map(is_share, models[task].values())))
    return Contestants(models, (*remarks, *left_out), shares, entrants.sources())


def _with_trials(sources: Sequence[str | Path]) -> tuple[Sequence[str | Path], list[Remark]]:
    """Return the sources, folders by the run directories in them; those without trials apart."""
    if not any(is_several(source) for source in sources):
        return sources, []
    chosen = chosen_sources(expand_sources(sources), (), ())
    empty = [Remark(reason) for reason in chosen.values() if isinstance(reason, str)]
    return [path for path, held in chosen.items() if not isinstance(held, str)], empty


def _scorer_remarks(readings: Sequence[Groups], tasks: Sequence[str | None]) -> list[Remark]:
    """Return remarks on tasks whose scores on the two sides come from different scorers."""
    scorers: dict[str | None, dict[str, None]] = {}
    for group in (group for reading in readings for group in reading.groups):
        task = None if None in tasks else group.task
        if task in tasks and group.tally is not None:
            scorers.setdefault(task, {})[group.tally.scorer] = None
    text = "scored by {}, which may differ in scale; choose one scorer for all with --score"
    return [
        Remark((f"{task}: " if task else "") + text.format(" and ".join(names)), important=True)
        for task, names in scorers.items()
        if len(names) > 1
    ]


def _target_remarks(readings: Sequence[Groups], tasks: Sequence[str | None]) -> list[Remark]:
    """Return remarks on tasks whose problems have the same ids, but different targets."""
    first: dict[str | None, dict[str, tuple[str, ...]]] = {}
    other: dict[str | None, dict[str, None]] = {}
    for group in (group for reading in readings for group in reading.groups):
        task = None if None in tasks else group.task
        known = first.setdefault(task, {})
        for key, targets in group.targets.items():
            if targets and task in tasks and known.setdefault(key, targets) != targets:
                other.setdefault(task, {})[key] = None
    return [
        Remark(
            (f"{task}: " if task else "")
            + f"{len(keys)} of {len(first[task])} problems have one id but different targets (the "
            f"first is {next(iter(keys))!r:.60}): if they are different problems, pairing them is "
            "wrong",
            important=True,
        )
        for task, keys in other.items()
    ]


def _stopped_remarks(entrants: _Field, tasks: Sequence[str | None], policy: Policy) -> list[Remark]:
    """Say which trials look stopped by their own outcome: their mean of c/n is too large."""
    from passband.stats.sequential.detect import detect_by_counts

    remarks = []
    for task in tasks:
        for model, outcomes in entrants.models(task).items():
            counted = outcomes.under(policy)
            found = detect_by_counts(counted)
            if found.is_alarm:
                text = notes.compared_stopped(found.p_value, found.problems, counted.most_trials())
                where = model if task is None else f"{task} / {model}"
                remarks.append(Remark(f"{where}: {text}", True))
    return remarks


def _held(source: str | Path, tasks: Sequence[str]) -> list[str]:
    """Return which of the tasks a run directory holds: others may have other scorers."""
    if not tasks or not is_run_directory(Path(source)):
        return []
    with Trials(source) as trials:
        held = {run.task for run in trials.runs()}
    return [task for task in tasks if task in held]


def _refuse_same(sources: Sequence[str | Path]) -> None:
    """Raise `InvalidInput` if a source is given twice, however its path is written."""
    places: dict[Path, str | Path] = {}
    for source in sources:
        other = places.setdefault(Path(source).resolve(), source)
        if other is not source:
            raise InvalidInput(
                f"{other} and {source} are the same; a model cannot be compared with itself."
            )


# -- who is compared with whom -------------------------------------------------------------


@dataclass(frozen=True)
class _Entry:
    """One model of one source, and its outcomes by task."""

    source: str
    model: str | None
    is_alone: bool  # the only model of its source
    outcomes: Mapping[str | None, Outcomes]


class _Field:
    """The models of all sources under names that tell them apart."""

    def __init__(self, readings: Sequence[Groups], by: str | None) -> None:
        entries = [entry for reading in readings for entry in _entries(reading, by)]
        if len(entries) < 2:
            raise InvalidInput(_one_model(readings[0]))
        self._entries = dict(zip(_names(entries), entries, strict=True))

    def sources(self) -> dict[str, tuple[str, str | None]]:
        """Return where each model is read from, and what it is called there."""
        return {name: (entry.source, entry.model) for name, entry in self._entries.items()}

    def shared_tasks(self, chosen: Sequence[str]) -> tuple[list[str | None], list[Remark]]:
        """Return the tasks of two models or more, and remarks on those of a single one."""
        tasks = dict.fromkeys(task for entry in self._entries.values() for task in entry.outcomes)
        for name in chosen:
            if name not in tasks:
                known = [task for task in tasks if task is not None]
                raise UnknownName(
                    f"no task named {name!r}.{nearest(name, known)} "
                    f"Known: {', '.join(known) or 'none, as the sources name no task'}."
                )
        wanted = [task for task in tasks if not chosen or task in chosen]
        if not chosen and all(len(entry.outcomes) == 1 for entry in self._entries.values()):
            return self._only_task(wanted)
        shared = [task for task in wanted if len(self.models(task)) > 1]
        alone = {task: next(iter(self.models(task))) for task in wanted if task not in shared}
        if not shared:
            held = "; ".join(f"{model} has {task}" for task, model in alone.items())
            raise InvalidInput(f"no task was asked of two models: {held}.")
        text = "task {task} is only in {model} and left out"
        left_out = [text.format(task=task, model=model) for task, model in alone.items()]
        return shared, [Remark(line, important=True) for line in left_out]

    def _only_task(self, tasks: Sequence[str | None]) -> tuple[list[str | None], list[Remark]]:
        """Compare models that were asked one task each, even where its names differ."""
        named = [task for task in tasks if task is not None]
        if len(tasks) == 1:
            return list(tasks), []
        remark = f"the tasks have different names, {' and '.join(named)}; compared all the same"
        return [None], [Remark(remark, important=True)] if len(named) > 1 else []

    def models(self, task: str | None) -> dict[str, Outcomes]:
        """Return the models that were asked a task; with None, each model's only task."""
        models: dict[str, Outcomes] = {}
        for name, entry in self._entries.items():
            if task in entry.outcomes:
                models[name] = entry.outcomes[task]
            elif task is None and len(entry.outcomes) == 1:
                models[name] = next(iter(entry.outcomes.values()))
        return models


def _entries(groups: Groups, by: str | None) -> list[_Entry]:
    """Return the models of a source: its groups, by the name that tells models apart."""
    place = _model_place(groups, by)
    models: dict[str | None, dict[str | None, Outcomes]] = {}
    context = _context(groups, place)
    for group in groups.groups:
        model = group.model if place is None else group.key[place]
        tasks = models.setdefault(model, {})
        task = " / ".join(group.key[i] for i in context) or group.task
        if task in tasks:
            raise InvalidInput(
                f"{groups.source}: differs in {' and '.join(groups.by)}; say with --by which of "
                "them tells the models apart."
            )
        tasks[task] = group.outcomes
    alone = len(models) == 1
    return [_Entry(groups.source, model, alone, tasks) for model, tasks in models.items()]


def _model_place(groups: Groups, by: str | None) -> int | None:
    """Return which part of the groups' keys names the model."""
    if by is not None and by in groups.by:
        return groups.by.index(by)
    usual = matching(groups.by, MODEL_NAMES)
    others = [name for name in groups.by if name not in matching(groups.by, TASK_NAMES)]
    if usual or len(others) == 1:
        return groups.by.index((usual or others)[0])
    return None


def _context(groups: Groups, place: int | None) -> list[int]:
    """Return the parts of the keys within which models are compared: the task, a filter.

    A column with one value for each model, such as a run id, is another name of the model.
    """
    tasks = matching(groups.by, TASK_NAMES)
    return [
        i
        for i, name in enumerate(groups.by)
        if i != place and (name in tasks or not _follows(groups.groups, i, place))
    ]


def _follows(groups: Sequence[Group], part: int, place: int | None) -> bool:
    if place is None:
        return False
    pairs = {(group.key[place], group.key[part]) for group in groups}
    return len(pairs) == len({model for model, _ in pairs}) == len({value for _, value in pairs})


def _one_model(groups: Groups) -> str:
    return (
        f"{groups.source}: one source must hold several models, in a column named model or in one "
        "named with --by; or give two files or run directories."
    )


def _names(entries: Sequence[_Entry]) -> list[str]:
    """Name models by what they are called, else by their source, else by its path."""
    for name in (_model_name, _source_name, _path_name):
        names = [name(entry) for entry in entries]
        if None not in names and len(set(names)) == len(names):
            return [str(one) for one in names]
    raise InvalidInput("two models have the same name and source.")


def _model_name(entry: _Entry) -> str | None:
    return entry.model


def _source_name(entry: _Entry) -> str:
    path = Path(entry.source)
    return _within(entry, path.name if path.is_dir() else path.stem)


def _path_name(entry: _Entry) -> str:
    return _within(entry, entry.source)


def _within(entry: _Entry, source: str) -> str:
    return source if entry.is_alone else f"{source}: {entry.model}"
