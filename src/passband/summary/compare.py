"""Comparisons of models, task by task, from any sources of trials.

Each source holds one model or several; each model was asked one task or several. Models are
compared within a task: two with `compare`, three or more with `compare_all`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput
from passband.readers import Remark, read
from passband.readers.choice import chosen_sources
from passband.readers.folders import expand_sources, is_several
from passband.stats.data.layout import error_prefix
from passband.stats.data.outcomes import Outcomes, Policy
from passband.stats.decision.compare import Comparison, Test, compare
from passband.stats.decision.ranking import Abilities, Ranking, compare_all
from passband.stats.decision.ranking.abilities import RankingModel
from passband.stats.interval.estimate import Over
from passband.stats.metric.registry import expand_metrics, needs_answers
from passband.summary.abilities import ranked
from passband.summary.compare_remarks import scorer_remarks, stopped_remarks, target_remarks
from passband.summary.default_metrics import default_metrics
from passband.summary.field import Field
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
    field = Field(readings, by)
    remarks = [
        Remark(f"{one.source}: {remark}", remark.important)
        for one in readings
        for remark in one.remarks
    ]
    shared, left_out = field.shared_tasks(tasks)
    if by != "scorer":
        left_out += scorer_remarks(readings, shared)
    left_out += target_remarks(readings, shared)
    left_out += stopped_remarks({task: field.models(task) for task in shared}, contest.policy)
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
