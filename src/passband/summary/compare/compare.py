"""Comparisons of models, task by task, from any sources of trials.

Each source holds one model or several; each model was asked one task or several. Models are
compared within a task: two with `compare`, three or more with `compare_all`.

Abilities of the models of one task, on whatever problems each was asked.
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
from passband.summary.compare.models import Contest, Contestants, read_contestants
from passband.summary.default_metrics import default_metrics
from passband.summary.judged.compared import judged_pair, judged_ranking, require_one_judge


def ranked(models: Mapping[str, Outcomes], contest: Contest) -> tuple[Abilities, ...]:
    """Rank models by each metric; without one by pass@1, or by avg where scores are not 0 or 1."""
    assert contest.ranking is not None
    if not contest.paired or contest.margin is not None or contest.test != "interval":
        raise InvalidInput(
            "a ranking by abilities takes every model on the problems that it was asked; leave out "
            "--unpaired, --margin and --test."
        )
    over, level, policy = contest.over, contest.level, contest.policy
    most = min(outcomes.under(policy).most_trials() for outcomes in models.values())
    is_binary = all(outcomes.is_binary for outcomes in models.values())
    names = contest.metrics or ("pass@1" if is_binary else "avg",)
    return tuple(
        rank_models(
            models, metric.name, model=contest.ranking, over=over, level=level, policy=policy
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
        contest = json_values(self.contest)
        return {
            "passband": FORMAT,
            "version": VERSION,
            **{name: contest[name] for name in _SETTINGS},
            "accept": contest["accept"],
            "remarks": [str(remark) for remark in self.remarks],
            "tasks": [json_values(task) for task in self.tasks],
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
    scales: Mapping[str, Scale] | None = None,
) -> ComparisonSummary:
    """Compare the models that files and run directories hold, task by task.

    `by` names the column that tells the models of a table apart, such as checkpoint. `tasks`
    chooses among the tasks. A task that only one model was asked is named and left out. With
    `skip_bad`, records that cannot be read are left out and counted. `scales` says by name of a
    column or scorer what range its scores have, and whether lower ones are better.
    """
    contest = contest or Contest()
    contestants = read_contestants(
        sources,
        contest,
        columns=columns,
        by=by,
        tasks=tasks,
        threshold=threshold,
        skip_bad=skip_bad,
        scales=scales,
    )
    return compare_contestants(contestants, contest)


def compare_contestants(
    contestants: Contestants,
    contest: Contest,
    metrics: Mapping[str | None, Sequence[str]] | None = None,
) -> ComparisonSummary:
    """Compare models that have been read, task by task; verdicts allow for their number.

    `metrics` are those of each task, in place of the contest's.
    """
    asked = [
        _asked(
            task,
            models,
            contest if metrics is None else replace(contest, metrics=tuple(metrics[task])),
            contestants.judges.get(task, {}),
        )
        for task, models in contestants.tasks.items()
    ]
    rankings = sum(len(one.names) for one in asked if len(one.models) > 2)
    compared = _together([_compared(one, contest, rankings) for one in asked])
    return ComparisonSummary(contest, tuple(compared), contestants.remarks, contestants.shares)


class _Asked(NamedTuple):
    """The models of a task, and the metrics that they are compared by."""

    task: str | None
    models: Mapping[str, Outcomes]
    names: Sequence[str]
    judges: Mapping[str, JudgeScores]


def _asked(
    task: str | None,
    models: Mapping[str, Outcomes],
    contest: Contest,
    judges: Mapping[str, JudgeScores],
) -> _Asked:
    with _prefix(task):
        if contest.ranking is not None:
            return _Asked(task, models, (), judges)
        names = _metrics(models, contest)
        if judges and not contest.metrics:
            names = names[:1]  # labels of single trials determine one try
        _check_answers(names, models)
        return _Asked(task, models, names, judges)


def _prefix(task: str | None) -> AbstractContextManager[None]:
    return error_prefix([task] if task is not None else [])


def _compared(asked: _Asked, contest: Contest, rankings: int) -> TaskComparison:
    """Compare the models of a task; `rankings` is the number of those of all tasks."""
    task, models, names, judges = asked
    with _prefix(task):
        if contest.ranking is not None:
            return TaskComparison(task, tuple(models), abilities=ranked(models, contest))
        if len(models) == 2:
            comparisons = tuple(_differences(models, names, contest, judges))
            return TaskComparison(task, tuple(models), comparisons=comparisons)
        _refuse_pairs_only(len(models), contest)
        over, level, policy = contest.over, contest.level, contest.policy
        found = tuple(
            compare_all(models, name, over=over, level=level, policy=policy, family=rankings)
            for name in names
        )
        if judges:
            require_one_judge(list(judges.values()))
            found = tuple(judged_ranking(one, list(judges.values())) for one in found)
        return TaskComparison(task, tuple(models), rankings=found)


def _refuse_pairs_only(models: int, contest: Contest) -> None:
    """Refuse what is for two models alone."""
    if not contest.paired:
        raise InvalidInput(
            "three or more models are compared on the problems they share; leave out --unpaired."
        )
    if contest.margin is not None or contest.test != "interval":
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
    contest: Contest,
    judges: Mapping[str, JudgeScores],
) -> Iterator[Comparison]:
    """Yield the difference of two models by each metric, corrected by labels where there are."""
    a, b = models.values()
    options = asdict(contest)
    for name in ("metrics", "ranking", "accept", "first"):
        del options[name]
    if not judges:
        yield from (compare(a, b, name, **options) for name in names)
        return
    pair = judged_pair(models, judges)
    if not pair.reason:
        _refuse_uncorrected(contest)
        for name in names:
            yield pair.difference(
                name, over=contest.over, level=contest.level, margin=contest.margin
            )
        return
    require_one_judge(pair.sides)
    yield from (pair.own(compare(a, b, name, **options)) for name in names)


def _refuse_uncorrected(contest: Contest) -> None:
    """Refuse what has no counterpart in differences that labels correct."""
    if not contest.paired:
        raise InvalidInput(
            "labels correct the difference of models that were asked the same problems; leave out "
            "--unpaired."
        )
    if contest.test != "interval" or contest.policy == "fail":
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


def _metrics(models: Mapping[str, Outcomes], contest: Contest) -> list[str]:
    counted = [outcomes.under(contest.policy) for outcomes in models.values()]
    most = min(outcomes.most_trials() for outcomes in counted)
    fewest = min(counted, key=lambda outcomes: int(outcomes.trials.min()))
    names = contest.metrics or default_metrics(fewest)[:1]
    return [metric.name for name in names for metric in expand_metrics(name, most)]
