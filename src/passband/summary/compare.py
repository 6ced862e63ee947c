"""Comparisons of models, task by task, from any sources of trials.

Each source holds one model or several; each model was asked one task or several. Models are
compared within a task: two with `compare`, three or more with `compare_all`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from pathlib import Path
from typing import Any

from passband import notes
from passband.errors import InvalidInput, UnknownName, nearest
from passband.readers import Group, Groups, Remark, read
from passband.readers.choice import chosen_sources
from passband.readers.folders import expand_sources, is_several
from passband.readers.table import MODEL_NAMES, TASK_NAMES
from passband.stats.data.columns import matching
from passband.stats.data.layout import error_prefix
from passband.stats.data.outcomes import Outcomes, Policy
from passband.stats.decision.compare import Comparison, Test, compare
from passband.stats.decision.ranking import Abilities, Ranking, compare_all
from passband.stats.decision.ranking.abilities import RankingModel
from passband.stats.interval.estimate import Over
from passband.stats.metric.registry import expand_metrics, needs_answers
from passband.summary.abilities import ranked
from passband.summary.default_metrics import default_metrics
from passband.summary.share import is_share
from passband.trials.reader import Trials, is_run_directory

__all__ = ["ComparisonSummary", "Contest", "TaskComparison", "compare_sources"]

FORMAT, VERSION = "comparison", 1
_SETTINGS = ("over", "level", "paired", "policy", "margin", "test", "ranking")


@dataclass(frozen=True)
class Contest:
    """The arguments of a comparison."""

    metrics: tuple[str, ...] = ()  #: none for pass@k, or avg, at the k that all problems allow
    over: Over = "problems"
    level: float = 0.95
    paired: bool = True
    policy: Policy = "drop"
    margin: float | None = None  #: the largest difference that does not matter
    test: Test = "interval"
    settle: bool | None = None  #: whether to say what would settle an open verdict
    ranking: RankingModel | None = None  #: rank by a model of abilities instead


@dataclass(frozen=True)
class TaskComparison:
    """The models of one task: comparisons of two by each metric, or rankings of more."""

    task: str | None
    models: tuple[str, ...]
    comparisons: tuple[Comparison, ...] = ()
    rankings: tuple[Ranking, ...] = ()
    abilities: tuple[Abilities, ...] = ()


@dataclass(frozen=True)
class ComparisonSummary:
    """Everything that comparing sources gives, task by task."""

    contest: Contest
    tasks: tuple[TaskComparison, ...]
    remarks: tuple[Remark, ...] = ()
    #: tasks whose scores are on a scale from 0 to 1; for tables, and not part of the JSON
    shares: frozenset[str | None] = frozenset()

    def is_share(self, task: TaskComparison) -> bool:
        """Return whether the metrics of a task are shares of 1."""
        return task.task in self.shares

    def as_json(self) -> dict[str, Any]:
        """Convert to a JSON-serialisable dict, numbers in full."""
        contest = asdict(self.contest)
        return {
            "passband": FORMAT,
            "version": VERSION,
            **{name: contest[name] for name in _SETTINGS},
            "remarks": [str(remark) for remark in self.remarks],
            "tasks": [_plain(task) for task in self.tasks],
        }


def compare_sources(
    sources: Sequence[str | Path],
    contest: Contest | None = None,
    *,
    columns: Mapping[str, str | None] | None = None,
    by: str | None = None,
    tasks: Sequence[str] = (),
    threshold: float | None = None,
    skip_bad: bool = False,
) -> ComparisonSummary:
    """Compare the models that files and run directories hold, task by task.

    `by` names the column that tells the models of a table apart, such as checkpoint. `tasks`
    chooses among the tasks. A task that only one model was asked is named and left out. With
    `skip_bad`, records that cannot be read are left out and counted.
    """
    contest = contest or Contest()
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
    field = _Field(readings, by)
    remarks = [
        Remark(f"{one.source}: {remark}", remark.important)
        for one in readings
        for remark in one.remarks
    ]
    shared, left_out = field.shared_tasks(tasks)
    if by != "scorer":
        left_out += _scorer_remarks(readings, shared)
    left_out += _target_remarks(readings, shared)
    left_out += _stopped_remarks(field, shared, contest.policy)
    compared = [_compared(task, field.models(task), contest) for task in shared]
    shares = frozenset(task for task in shared if all(map(is_share, field.models(task).values())))
    return ComparisonSummary(contest, tuple(compared), (*remarks, *empty, *left_out), shares)


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


def _stopped_remarks(field: _Field, tasks: Sequence[str | None], policy: Policy) -> list[Remark]:
    """Say which trials look stopped by their own outcome: their mean of c/n is too large."""
    from passband.stats.sequential.detect import detect_by_counts

    remarks = []
    for task in tasks:
        for model, outcomes in field.models(task).items():
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


def _compared(task: str | None, models: Mapping[str, Outcomes], contest: Contest) -> TaskComparison:
    with error_prefix([task] if task is not None else []):
        if contest.ranking is not None:
            return TaskComparison(task, tuple(models), abilities=ranked(models, contest))
        names = _metrics(models, contest)
        _check_answers(names, models)
        if len(models) == 2:
            a, b = models.values()
            options = asdict(contest)
            del options["metrics"], options["ranking"]
            comparisons = tuple(compare(a, b, name, **options) for name in names)
            return TaskComparison(task, tuple(models), comparisons=comparisons)
        if not contest.paired:
            raise InvalidInput(
                "three or more models are compared on the problems they share; "
                "leave out --unpaired."
            )
        if contest.margin is not None or contest.test != "interval":
            raise InvalidInput(
                f"a margin or another test is for two models; there are {len(models)}. Name two "
                "sources, or leave out --margin and --test."
            )
        over, level, policy = contest.over, contest.level, contest.policy
        rankings = tuple(
            compare_all(models, name, over=over, level=level, policy=policy) for name in names
        )
        return TaskComparison(task, tuple(models), rankings=rankings)


def _check_answers(names: Sequence[str], models: Mapping[str, Outcomes]) -> None:
    """Refuse a vote by name of the model whose answers are not known."""
    if needs_answers(names):
        for model, outcomes in models.items():
            with error_prefix([model]):
                outcomes.required_votes()


def _metrics(models: Mapping[str, Outcomes], contest: Contest) -> list[str]:
    counted = [outcomes.under(contest.policy) for outcomes in models.values()]
    most = min(outcomes.most_trials() for outcomes in counted)
    fewest = min(counted, key=lambda outcomes: int(outcomes.trials.min()))
    names = contest.metrics or default_metrics(fewest)[:1]
    return [metric.name for name in names for metric in expand_metrics(name, most)]


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


# -- JSON ----------------------------------------------------------------------------------


def _plain(value: Any) -> Any:
    """Return dataclasses and named tuples as dicts, all the way down."""
    if hasattr(value, "_asdict"):
        return {name: _plain(part) for name, part in value._asdict().items()}
    if is_dataclass(value) and not isinstance(value, type):
        return {name: _plain(part) for name, part in vars(value).items()}
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    return value
