"""Read the models that sources hold, name them apart, and find the tasks that they share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from passband.errors import InvalidInput, UnknownName, nearest
from passband.files import matching
from passband.readers import (
    MODEL_NAMES,
    TASK_NAMES,
    Group,
    Groups,
    JudgeScores,
    Remark,
    chosen_sources,
    expand_sources,
    is_several,
    read,
)
from passband.stats import Over
from passband.stats.data import Finding, Outcomes, Policy, Scale
from passband.stats.decision import RankingModel, Test
from passband.stats.metric import needs_answers
from passband.summary.compare.remarks import (
    different_scorers,
    sandbox_remarks,
    scale_remarks,
    scorer_remarks,
    target_findings,
)
from passband.trials import Trials, is_run_directory


@dataclass(frozen=True)
class Entry:
    """One model of one source, and its outcomes by task."""

    source: str
    model: str | None
    is_alone: bool  # the only model of its source
    outcomes: Mapping[str | None, Outcomes]
    judged: Mapping[str | None, JudgeScores] = field(default_factory=dict)


class ModelTable:
    """The models of all sources, or those of some names, under names that tell them apart."""

    def __init__(
        self, readings: Sequence[Groups], by: str | None, models: Sequence[str] = ()
    ) -> None:
        every = [entry for reading in readings for entry in entries(reading, by)]
        held = [entry for entry in every if not models or entry.model in models]
        if len(held) < 2:
            raise InvalidInput(_one_model(readings[0]))
        self._entries = dict(zip(_names(held), held, strict=True))

    def sources(self) -> dict[str, tuple[str, str | None]]:
        """Return where each model is read from, and what it is called there."""
        return {name: (entry.source, entry.model) for name, entry in self._entries.items()}

    def shared_tasks(self, chosen: Sequence[str]) -> tuple[list[str | None], list[Remark]]:
        """Return the tasks of two models or more, and remarks on those of a single one."""
        tasks = dict.fromkeys(task for entry in self._entries.values() for task in entry.outcomes)
        for name in chosen:
            if name not in tasks:
                named = [task for task in tasks if task is not None]
                raise UnknownName(
                    f"no task named {name!r}.{nearest(name, named)} "
                    f"Known: {', '.join(named) or 'none, as the sources name no task'}."
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

    def judges(self, task: str | None) -> dict[str, JudgeScores]:
        """Return the judges' scores of the models that were judged on a task."""
        judges: dict[str, JudgeScores] = {}
        for name, entry in self._entries.items():
            if task in entry.judged:
                judges[name] = entry.judged[task]
            elif task is None and len(entry.outcomes) == 1:
                judges.update((name, scores) for scores in entry.judged.values())
        return judges

    def models(self, task: str | None) -> dict[str, Outcomes]:
        """Return the models that were asked a task; with None, each model's only task."""
        models: dict[str, Outcomes] = {}
        for name, entry in self._entries.items():
            if task in entry.outcomes:
                models[name] = entry.outcomes[task]
            elif task is None and len(entry.outcomes) == 1:
                models[name] = next(iter(entry.outcomes.values()))
        return models


def entries(groups: Groups, by: str | None) -> list[Entry]:
    """Return the models of a source: its groups, by the name that tells models apart."""
    model_index = _model_place(groups, by)
    models: dict[str | None, dict[str | None, Outcomes]] = {}
    judged: dict[str | None, dict[str | None, JudgeScores]] = {}
    context = _context(groups, model_index)
    for group in groups.groups:
        model = group.model if model_index is None else group.key[model_index]
        tasks = models.setdefault(model, {})
        task = " / ".join(group.key[i] for i in context) or group.task
        if task in tasks:
            raise InvalidInput(
                f"{groups.source}: differs in {' and '.join(groups.by)}; say with --by which of "
                "them tells the models apart."
            )
        tasks[task] = group.outcomes
        if group.judged is not None:
            judged.setdefault(model, {})[task] = group.judged
    alone = len(models) == 1
    return [
        Entry(groups.source, model, alone, tasks, judged.get(model, {}))
        for model, tasks in models.items()
    ]


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


def _names(entries: Sequence[Entry]) -> list[str]:
    """Name models by what they are called, else by their source, else by its path."""
    for name in (_model_name, _source_name, _path_name):
        names = [name(entry) for entry in entries]
        if None not in names and len(set(names)) == len(names):
            return [str(label) for label in names]
    raise InvalidInput("two models have the same name and source.")


def _model_name(entry: Entry) -> str | None:
    return entry.model


def _source_name(entry: Entry) -> str:
    path = Path(entry.source)
    return _within(entry, path.name if path.is_dir() else path.stem)


def _path_name(entry: Entry) -> str:
    return _within(entry, entry.source)


def _within(entry: Entry, source: str) -> str:
    return source if entry.is_alone else f"{source}: {entry.model}"


@dataclass(frozen=True)
class ComparisonOptions:
    """Options of a comparison."""

    metrics: tuple[str, ...] = ()  #: none for pass@k, or avg, at the k that all problems allow
    over: Over = "problems"
    level: float = 0.95
    paired: bool = True
    policy: Policy = "drop"
    margin: float | None = None  #: the largest difference that does not matter
    test: Test = "interval"
    settle: bool | None = None  #: whether to say what would settle an open verdict
    ranking: RankingModel | None = None  #: rank by a model of abilities instead
    accept: tuple[str, ...] = ()  #: codes of findings to accept
    first: int | None = None  #: only so many first trials of each problem


@dataclass(frozen=True)
class ComparedModels:
    """The outcomes of each model on each task that two models or more were asked."""

    tasks: Mapping[str | None, Mapping[str, Outcomes]] = field(hash=False)
    remarks: tuple[Remark, ...] = ()
    shares: frozenset[str | None] = frozenset()  #: tasks whose scores are from 0 to 1
    #: by model, the source it is read from and its name there
    sources: Mapping[str, tuple[str, str | None]] = field(default_factory=dict, hash=False)
    #: by task and model, where scores are a judge's
    judges: Mapping[str | None, Mapping[str, JudgeScores]] = field(default_factory=dict, hash=False)


def read_models(
    sources: Sequence[str | Path],
    options: ComparisonOptions,
    *,
    columns: Mapping[str, str | None] | None = None,
    by: str | None = None,
    tasks: Sequence[str] = (),
    models: Sequence[str] = (),
    threshold: float | None = None,
    skip_bad: bool = False,
    scales: Mapping[str, Scale] | None = None,
) -> ComparedModels:
    """Read the models that files and run directories hold; see `compare_sources`."""
    refuse_same(sources)
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
            targets=options.paired,
            answers=needs_answers(options.metrics),
            scales=scales,
            first=options.first,
        )
        for source in sources
    ]
    compared = compared_models(readings, options, by=by, tasks=tasks, models=models)
    return replace(compared, remarks=(*compared.remarks, *empty))


def compared_models(
    readings: Sequence[Groups],
    options: ComparisonOptions,
    *,
    by: str | None = None,
    tasks: Sequence[str] = (),
    models: Sequence[str] = (),
) -> ComparedModels:
    """Return the models of sources that have been read, and remarks on comparing them."""
    entrants = ModelTable(readings, by, models)
    shared, left_out = entrants.shared_tasks(tasks)
    remarks = [
        Remark(f"{groups.source}: {remark}", remark.important)
        for groups in readings
        for remark in groups.remarks
    ]
    if by != "scorer":
        left_out += scorer_remarks(readings, shared)
    left_out += sandbox_remarks(readings, shared)
    apart = target_findings(readings, shared)
    outcomes = {
        task: _knowing(entrants.models(task), options, apart.get(task, ())) for task in shared
    }
    scorers = different_scorers(readings, shared)  # whose remark speaks of scales already
    left_out += scale_remarks({t: models for t, models in outcomes.items() if t not in scorers})
    shares = frozenset(
        task for task in shared if all(groups.is_share for groups in outcomes[task].values())
    )
    judges = {task: scores for task in shared if (scores := entrants.judges(task))}
    if judges:  # all that is known of judges: most comparisons have none
        from passband.summary.judged.compared import judge_remarks

        for task, scores in judges.items():
            left_out += judge_remarks(task, scores)
    return ComparedModels(outcomes, (*remarks, *left_out), shares, entrants.sources(), judges)


def _knowing(
    models: Mapping[str, Outcomes], options: ComparisonOptions, apart: Iterable[Finding]
) -> dict[str, Outcomes]:
    """Return the models of a task with what is accepted, the last also with how targets differ."""
    outcomes_by_name = {
        name: outcomes.accepting(options.accept) for name, outcomes in models.items()
    }
    last = list(outcomes_by_name)[-1]
    return {**outcomes_by_name, last: outcomes_by_name[last].knowing(apart)}


def _with_trials(sources: Sequence[str | Path]) -> tuple[Sequence[str | Path], list[Remark]]:
    """Return the sources, folders by the run directories in them; those without trials apart."""
    if not any(is_several(source) for source in sources):
        return sources, []
    chosen = chosen_sources(expand_sources(sources), (), ())
    empty = [Remark(reason) for reason in chosen.values() if isinstance(reason, str)]
    return [path for path, held in chosen.items() if not isinstance(held, str)], empty


def _held(source: str | Path, tasks: Sequence[str]) -> list[str]:
    """Return which of the tasks a run directory holds: others may have other scorers."""
    if not tasks or not is_run_directory(Path(source)):
        return []
    with Trials(source) as trials:
        held = {run.task for run in trials.runs()}
    return [task for task in tasks if task in held]


def refuse_same(sources: Sequence[str | Path]) -> None:
    """Raise `InvalidInput` if a source is given twice, however its path is written."""
    places: dict[Path, str | Path] = {}
    for source in sources:
        resolved = Path(source).resolve()
        if resolved in places:
            raise InvalidInput(
                f"{places[resolved]} and {source} are the same; a model cannot be compared with "
                "itself."
            )
        places[resolved] = source
