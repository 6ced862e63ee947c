"""Compare models task by task, from any sources of trials.

Each source holds one model or several; each model was asked one task or several. Models are
compared within a task: two with `compare`, three or more with `compare_all`, or with `rank_models`
by abilities, whatever problems each was asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from passband.errors import InvalidInput
from passband.json_values import json_values
from passband.readers import JudgeScores, Remark
from passband.stats.data import Outcomes, Scale, error_prefix
from passband.stats.decision import (
    Abilities,
    Comparison,
    Ranking,
    compare,
    compare_all,
    family_of,
    family_of_rankings,
    rank_models,
)
from passband.stats.metric import expand_metrics, needs_answers
from passband.summary.compare.models import ComparedModels, ComparisonOptions, read_models
from passband.summary.default_metrics import default_metrics


def ranked(models: Mapping[str, Outcomes], options: ComparisonOptions) -> tuple[Abilities, ...]:
    """Rank models by each metric; without one by pass@1, or by avg where scores are not 0 or 1."""
    assert options.ranking is not None
    if not options.paired or options.margin is not None or options.test != "interval":
        raise InvalidInput(
            "a ranking by abilities takes every model on the problems that it was asked; leave out "
            "--unpaired, --margin and --test."
        )
    over, level, policy = options.over, options.level, options.policy
    most = min(outcomes.under(policy).most_trials() for outcomes in models.values())
    is_binary = all(outcomes.is_binary for outcomes in models.values())
    names = options.metrics or ("pass@1" if is_binary else "avg",)
    return tuple(
        rank_models(
            models, metric.name, model=options.ranking, over=over, level=level, policy=policy
        )
        for name in names
        for metric in expand_metrics(name, most)
    )


FORMAT, VERSION = "comparison", 1
_SETTINGS = ("over", "level", "paired", "policy", "margin", "test", "ranking", "first")


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

    options: ComparisonOptions
    tasks: tuple[TaskComparison, ...]
    remarks: tuple[Remark, ...] = ()
    #: tasks whose scores are on a scale from 0 to 1; for tables, and not part of the JSON
    shares: frozenset[str | None] = frozenset()

    def is_share(self, task: TaskComparison) -> bool:
        """Return whether the metrics of a task are shares of 1."""
        return task.task in self.shares

    def as_json(self) -> dict[str, Any]:
        """Convert to a JSON-serialisable dict, numbers in full."""
        options = json_values(self.options)
        return {
            "passband": FORMAT,
            "version": VERSION,
            **{name: options[name] for name in _SETTINGS},
            "accept": options["accept"],
            "remarks": [str(remark) for remark in self.remarks],
            "tasks": [json_values(task) for task in self.tasks],
        }


def compare_sources(
    sources: Sequence[str | Path],
    options: ComparisonOptions | None = None,
    *,
    columns: Mapping[str, str | None] | None = None,
    by: str | None = None,
    tasks: Sequence[str] = (),
    threshold: float | None = None,
    skip_bad: bool = False,
    scales: Mapping[str, Scale] | None = None,
) -> ComparisonSummary:
    """Compare the models that files and run directories hold, task by task.

    `by` names the column that tells the models of a table apart, such as checkpoint. `tasks`
    chooses among the tasks. A task that only one model was asked is named and left out. With
    `skip_bad`, records that cannot be read are left out and counted. `scales` says by name of a
    column or scorer what range its scores have, and whether lower ones are better.
    """
    options = options or ComparisonOptions()
    compared = read_models(
        sources,
        options,
        columns=columns,
        by=by,
        tasks=tasks,
        threshold=threshold,
        skip_bad=skip_bad,
        scales=scales,
    )
    return compare_models(compared, options)


def compare_models(
    compared: ComparedModels,
    options: ComparisonOptions,
    metrics: Mapping[str | None, Sequence[str]] | None = None,
) -> ComparisonSummary:
    """Compare models that have been read, task by task; verdicts allow for their number.

    `metrics` are those of each task, in place of those of the options.
    """
    entries = [
        _asked(
            task,
            models,
            options if metrics is None else replace(options, metrics=tuple(metrics[task])),
            compared.judges.get(task, {}),
        )
        for task, models in compared.tasks.items()
    ]
    rankings = sum(len(entry.names) for entry in entries if len(entry.models) > 2)
    tasks = tuple(_together([_compared(entry, options, rankings) for entry in entries]))
    return ComparisonSummary(options, tasks, compared.remarks, compared.shares)


class _Asked(NamedTuple):
    """The models of a task, and the metrics that they are compared by."""

    task: str | None
    models: Mapping[str, Outcomes]
    names: Sequence[str]
    judges: Mapping[str, JudgeScores]


def _asked(
    task: str | None,
    models: Mapping[str, Outcomes],
    options: ComparisonOptions,
    judges: Mapping[str, JudgeScores],
) -> _Asked:
    with _prefix(task):
        if options.ranking is not None:
            return _Asked(task, models, (), judges)
        names = _metrics(models, options)
        if judges and not options.metrics:
            names = names[:1]  # labels of single trials determine one try
        _check_answers(names, models)
        return _Asked(task, models, names, judges)


def _prefix(task: str | None) -> AbstractContextManager[None]:
    return error_prefix([task] if task is not None else [])


def _compared(asked: _Asked, options: ComparisonOptions, rankings: int) -> TaskComparison:
    """Compare the models of a task; `rankings` is the number of those of all tasks."""
    task, models, names, judges = asked
    with _prefix(task):
        if options.ranking is not None:
            return TaskComparison(task, tuple(models), abilities=ranked(models, options))
        if len(models) == 2:
            comparisons = tuple(_differences(models, names, options, judges))
            return TaskComparison(task, tuple(models), comparisons=comparisons)
        _refuse_pairs_only(len(models), options)
        over, level, policy = options.over, options.level, options.policy
        ranking_list = tuple(
            compare_all(models, name, over=over, level=level, policy=policy, family=rankings)
            for name in names
        )
        if judges:
            from passband.summary.judged.compared import judged_ranking, require_one_judge

            require_one_judge(list(judges.values()))
            ranking_list = tuple(judged_ranking(one, list(judges.values())) for one in ranking_list)
        return TaskComparison(task, tuple(models), rankings=ranking_list)


def _refuse_pairs_only(models: int, options: ComparisonOptions) -> None:
    """Refuse what is for two models alone."""
    if not options.paired:
        raise InvalidInput(
            "three or more models are compared on the problems they share; leave out --unpaired."
        )
    if options.margin is not None or options.test != "interval":
        raise InvalidInput(
            f"a margin or another test is for two models; there are {models}. Name two "
            "sources, or leave out --margin and --test."
        )


def _together(tasks: Sequence[TaskComparison]) -> Iterator[TaskComparison]:
    """Yield the tasks with verdicts that allow for all comparisons, or rankings, of all tasks."""
    comparisons = iter(family_of([one for task in tasks for one in task.comparisons]))
    rankings = iter(family_of_rankings([one for task in tasks for one in task.rankings]))
    for task in tasks:
        yield replace(
            task,
            comparisons=tuple(islice(comparisons, len(task.comparisons))),
            rankings=tuple(islice(rankings, len(task.rankings))),
        )


def _differences(
    models: Mapping[str, Outcomes],
    names: Sequence[str],
    options: ComparisonOptions,
    judges: Mapping[str, JudgeScores],
) -> Iterator[Comparison]:
    """Yield the difference of two models by each metric, corrected by labels where there are."""
    a, b = models.values()
    arguments = asdict(options)
    for name in ("metrics", "ranking", "accept", "first"):
        del arguments[name]
    if not judges:
        yield from (compare(a, b, name, **arguments) for name in names)
        return
    from passband.summary.judged.compared import judged_pair, require_one_judge

    pair = judged_pair(models, judges)
    if not pair.reason:
        _refuse_uncorrected(options)
        for name in names:
            yield pair.difference(
                name, over=options.over, level=options.level, margin=options.margin
            )
        return
    require_one_judge(pair.sides)
    yield from (pair.own(compare(a, b, name, **arguments)) for name in names)


def _refuse_uncorrected(options: ComparisonOptions) -> None:
    """Refuse what has no counterpart in differences that labels correct."""
    if not options.paired:
        raise InvalidInput(
            "labels correct the difference of models that were asked the same problems; leave out "
            "--unpaired."
        )
    if options.test != "interval" or options.policy == "fail":
        raise InvalidInput(
            "a difference corrected by labels has its own test, and leaves out trials that were "
            "not judged; leave out --test and --policy."
        )


def _check_answers(names: Sequence[str], models: Mapping[str, Outcomes]) -> None:
    """Refuse a vote by name of the model whose answers are not known."""
    if needs_answers(names):
        for model, outcomes in models.items():
            with error_prefix([model]):
                outcomes.required_votes()


def _metrics(models: Mapping[str, Outcomes], options: ComparisonOptions) -> list[str]:
    counted = [outcomes.under(options.policy) for outcomes in models.values()]
    most = min(outcomes.most_trials() for outcomes in counted)
    fewest = min(counted, key=lambda outcomes: int(outcomes.trials.min()))
    names = options.metrics or default_metrics(fewest)[:1]
    return [metric.name for name in names for metric in expand_metrics(name, most)]
