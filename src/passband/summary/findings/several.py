"""Collect the values of a report on several models: differences, ranks, changed problems.

The problems on which two models differ, as each of them was asked and answered them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput, NotEnoughData
from passband.notes import Note
from passband.readers import JudgeScores, Remark, expand_sources, opened_trials
from passband.stats import Over
from passband.stats.data import Outcomes, Scale
from passband.stats.decision import Comparison, Ranking, Verdict, compare_all
from passband.stats.metric import expand_metrics
from passband.summary.browse.browser import TrialBrowser
from passband.summary.browse.shown_trial import ShownProblem, ShownTrial
from passband.summary.browse.trial_query import TrialQuery
from passband.summary.compare.compare import TaskComparison, compare_models
from passband.summary.compare.models import (
    ComparedModels,
    ComparisonOptions,
    read_models,
    refuse_same,
)
from passband.summary.default_metrics import default_metrics
from passband.summary.findings.changes import Changes, changes_of
from passband.summary.findings.findings import SourceFindings
from passband.summary.findings.sample import LONGEST, SampledProblem
from passband.summary.findings.scan import RIGHT, UNSCORED, WRONG, MarkedAnswer
from passband.summary.judged.compared import corrected_ranking, plain_name
from passband.trials import RunRecord, Trials, is_run_directory

_LARGEST_LOG = 50_000_000  # bytes of a log that is imported for its texts
_MOST_TRIALS = 64  # of a problem
_ANSWER = 80  # characters of an answer


def sampled_problems(
    source: str, model: str | None, task: str | None, keys: Sequence[str], budget: int
) -> Mapping[str, SampledProblem]:
    """Return some problems of one model with their answers, and texts up to a number of bytes.

    A source that holds no texts, such as a table of scores, gives none.
    """
    path = Path(source)
    if not keys or not (is_run_directory(path) or _is_small_file(path)):
        return {}
    with suppress(InvalidInput), opened_trials(path) as trials:
        run = _run(trials, task, model)
        return {} if run is None else _sampled(trials, run, keys, budget // len(keys))
    return {}


def _is_small_file(path: Path) -> bool:
    return path.is_file() and path.stat().st_size <= _LARGEST_LOG


def _run(trials: Trials, task: str | None, model: str | None) -> RunRecord | None:
    """Return the run of a task and a model; None where no run, or more than one, is meant."""
    runs = [
        run
        for run in trials.runs()
        if task in (None, run.task) and model in (None, run.label, run.model)
    ]
    return runs[0] if len(runs) == 1 else None


def _sampled(
    trials: Trials, run: RunRecord, keys: Sequence[str], share: int
) -> dict[str, SampledProblem]:
    numbers = trials.numbers(run.number)
    wanted = tuple(key for key in keys if key in numbers)
    if not wanted:
        return {}
    browser = TrialBrowser(
        trials, run, TrialQuery(problems=wanted, trials=tuple(range(_MOST_TRIALS)))
    )
    problems: dict[str, ShownProblem] = {}
    rows: dict[str, list[ShownTrial]] = {key: [] for key in wanted}
    for shown in browser.shown():
        if isinstance(shown, ShownProblem):
            problems[shown.key] = shown
        elif isinstance(shown, ShownTrial):
            rows[shown.problem.key].append(shown)
    return {
        key: SampledProblem(
            problem,
            keys.index(key),
            tuple(map(_answer, rows[key])),
            _texts(rows[key], share),
        )
        for key, problem in problems.items()
    }


def _answer(trial: ShownTrial) -> MarkedAnswer:
    score = trial.score
    if score is None or score.is_right is None:
        return MarkedAnswer(trial.trial, UNSCORED, None, "ok" if score is None else score.status)
    answer = None if score.answer is None else score.answer[:_ANSWER]
    return MarkedAnswer(trial.trial, RIGHT if score.is_right else WRONG, answer, score.status)


def _texts(trials: Sequence[ShownTrial], share: int) -> dict[int, ShownTrial]:
    """Return trials in full, as many as fit."""
    texts: dict[int, ShownTrial] = {}
    for trial in trials:
        share -= min(len(trial.text or ""), LONGEST)
        if share < 0 and texts:
            break
        texts[trial.trial] = trial
    return texts


_TARGETS: tuple[tuple[Over, bool], ...] = (("problems", True), ("trials", False))


@dataclass(frozen=True)
class ComparedMetric:
    """One metric of one task: the models' values and ranks, and the difference of two."""

    metric: str
    ranking: Ranking  #: on the problems that all models have, for problems like these
    repeated: Ranking  #: the same for these very problems, the models sampled again
    comparison: Comparison | None = None  #: of two models; `ranking.pairs` holds those of more
    again: Comparison | None = None  #: the same for these very problems


@dataclass(frozen=True)
class Asked:
    """The trials of one model on one task, whether or not they count in the comparison."""

    model: str
    n_problems: int
    trials: tuple[int, int]  #: fewest and most scored trials of a problem
    n_trials: int  #: with a score
    unscored: Mapping[str, int] = field(hash=False)  #: trials without a score, by status
    source: str = ""


@dataclass(frozen=True)
class ComparedTask:
    """The models of one task."""

    task: str | None
    models: tuple[str, ...]
    metrics: tuple[ComparedMetric, ...]
    asked: tuple[Asked, ...]
    is_share: bool  #: whether scores are from 0 to 1
    changes: Changes | None = None  #: of two models
    judge: str = ""  #: by whose verdicts, where scores are a judge's
    is_corrected: bool = False  #: whether labels correct the difference of two

    @property
    def first(self) -> ComparedMetric:
        """The metric that the verdict is about."""
        return self.metrics[0]

    @property
    def notes(self) -> tuple[tuple[str, Note], ...]:
        """The notes on all metrics, each with the metric that has it."""
        sources = (one.comparison or one.ranking for one in self.metrics)
        return tuple((source.metric, note) for source in sources for note in source.notes)


@dataclass(frozen=True)
class ComparedFindings:
    """Everything that a report on several models shows."""

    options: ComparisonOptions
    models: tuple[str, ...]
    tasks: tuple[ComparedTask, ...]
    remarks: tuple[Remark, ...] = ()
    n_comparisons: int = 0  #: of two models, for which p-values are adjusted together

    @property
    def pair(self) -> tuple[str, str] | None:
        """The two models, the same in every task; None if there are more."""
        pairs = {task.models for task in self.tasks}
        if len(pairs) != 1 or len(models := pairs.pop()) != 2:
            return None
        return models[0], models[1]

    def verdicts(self, over: Over) -> list[Verdict]:
        """Return the verdict on each task by its first metric, all comparisons together."""
        firsts = [task.first for task in self.tasks]
        comparisons = [
            metric.comparison if over == "problems" else metric.again for metric in firsts
        ]
        return [metric.decision.verdict for metric in comparisons if metric is not None]


def compared_findings(
    sources: Sequence[str | Path],
    options: ComparisonOptions,
    *,
    tasks: Sequence[str] = (),
    models: Sequence[str] = (),
    columns: Mapping[str, str | None] | None = None,
    skip_bad: bool = False,
    scales: Mapping[str, Scale] | None = None,
    transcripts: int = 400_000,
) -> ComparedFindings:
    """Compare the models of sources for a report; raises what `compare_sources` raises.

    Without metrics the report has pass@1, and pass@k and pass^k at the largest k that all problems
    allow; of scores that are not 0 or 1, the mean and the best of k. `transcripts` is the number
    of bytes that texts of changed problems may take; with 0 there are none.
    """
    compared = read_models(
        sources, options, tasks=tasks, models=models, columns=columns, skip_bad=skip_bad,
        scales=scales,
    )  # fmt: skip
    budget = transcripts // (2 * len(compared.tasks))
    metrics = {task: _metrics(compared, task, options) for task in compared.tasks}
    both = [
        compare_models(compared, replace(options, over=over, settle=settle), metrics).tasks
        for over, settle in _TARGETS
    ]
    found = [_task(compared, one, again, options, budget) for one, again in zip(*both, strict=True)]
    names = dict.fromkeys(name for task in found for name in task.models)
    count = sum(one.comparison is not None for task in found for one in task.metrics)
    return ComparedFindings(options, tuple(names), tuple(found), compared.remarks, count)


def compared_sources(
    sources: Sequence[str | Path],
    found: Sequence[SourceFindings],
    options: ComparisonOptions,
    *,
    tasks: Sequence[str] = (),
    **reading: Any,
) -> ComparedFindings | None:
    """Compare the models of sources whose runs have been `found`; None if there are not two.

    Run directories are compared where they have a task in common. Files, which may not name their
    tasks, are compared as `compare_sources` compares them, and refused as it refuses them.
    """
    refuse_same(sources)
    models = {(place, run.model) for place, source in enumerate(found) for run in source.runs}
    if len(models) < 2:
        _refuse_margin(options, "there is one model")
        return None
    named = all(is_run_directory(Path(path)) for path in expand_sources(sources))
    shared = _shared_tasks(found)
    if named and not shared:
        _refuse_margin(options, "no task was asked of two")
        return None
    compared = compared_findings(sources, options, tasks=shared if named else tasks, **reading)
    left_out = [
        Remark(f"task {run.task} was asked of {run.model} alone and is not compared", True)
        for source in found
        for run in source.runs
        if named and run.task not in shared
    ]
    return replace(compared, remarks=(*_without_folders(compared.remarks, sources), *left_out))


def _without_folders(remarks: Sequence[Remark], sources: Sequence[str | Path]) -> Iterator[Remark]:
    """Yield remarks that name sources without their folders, as a report goes to others."""
    parents = [Path(path).parent for path in expand_sources(sources)]
    folders = {f"{parent}/" for parent in parents if parent.name}
    for remark in remarks:
        text = remark.text
        for folder in sorted(folders, key=len, reverse=True):
            text = text.replace(folder, "")
        yield Remark(text, remark.important)


def _refuse_margin(options: ComparisonOptions, reason: str) -> None:
    """Raise `InvalidInput` for a margin where there is nothing to compare."""
    if options.margin is not None:
        raise InvalidInput(f"a margin is for two models, and {reason}; leave out --margin.")


def _shared_tasks(found: Sequence[SourceFindings]) -> list[str]:
    """Return the tasks that two models or more were asked, adaptive tests aside."""
    asked: dict[str, set[tuple[int, str]]] = {}
    for place, source in enumerate(found):
        for run in source.runs:
            if run.group.adaptive is None:
                asked.setdefault(run.task, set()).add((place, run.model))
    return [task for task, models in asked.items() if len(models) > 1]


def _task(
    compared: ComparedModels,
    summary: TaskComparison,
    repeated: TaskComparison,
    options: ComparisonOptions,
    budget: int,
) -> ComparedTask:
    task = summary.task
    models, judges = compared.tasks[task], compared.judges.get(task, {})
    metrics = [
        ComparedMetric(one.metric, *_rankings(models, one, options, judges), one, again)
        for one, again in zip(summary.comparisons, repeated.comparisons, strict=True)
    ] or [
        ComparedMetric(one.metric, one, again)
        for one, again in zip(summary.rankings, repeated.rankings, strict=True)
    ]
    return ComparedTask(
        task=task,
        models=tuple(models),
        metrics=tuple(metrics),
        asked=tuple(_asked(compared, name, models[name]) for name in models),
        is_share=task in compared.shares,
        changes=_changes(compared, task, models, options, budget),
        judge=next((scores.title for scores in judges.values()), ""),
        is_corrected=any(
            note.code == "corrected-by-labels" for one in summary.comparisons for note in one.notes
        ),
    )


def _rankings(
    models: Mapping[str, Outcomes],
    comparison: Comparison,
    options: ComparisonOptions,
    judges: Mapping[str, JudgeScores],
) -> tuple[Ranking, Ranking]:
    """Return two models' own values and intervals, for both targets."""
    metric = plain_name(comparison.metric)
    level, policy = options.level, options.policy
    first = compare_all(models, metric, over="problems", level=level, policy=policy)
    second = compare_all(models, metric, over="trials", level=level, policy=policy)
    if judges and any(note.code == "corrected-by-labels" for note in comparison.notes):
        return corrected_ranking(first, judges), corrected_ranking(second, judges)
    return first, second


def _metrics(
    compared: ComparedModels, task: str | None, options: ComparisonOptions
) -> tuple[str, ...]:
    """Return the metrics of a task; of a judge's scores one, as labels determine one try."""
    if options.metrics:
        return tuple(options.metrics)
    names = _usual_metrics(compared.tasks[task], options)
    return names[:1] if compared.judges.get(task) else names


def _usual_metrics(models: Mapping[str, Outcomes], options: ComparisonOptions) -> tuple[str, ...]:
    """Return the default metrics: one try, then any and all of as many as every problem has."""
    counted = [outcomes.counted(options.policy) for outcomes in models.values()]
    fewest = min(counted, key=lambda one: int(one.trials.min()))
    most = fewest.most_trials()
    families = [list(expand_metrics(name, most)) for name in default_metrics(fewest)]
    names = [families[0][0].name, *(family[-1].name for family in families)]
    if not all(one.is_binary for one in counted):
        names = ["avg", *(name for name in names if name.startswith("max@"))]
    return tuple(dict.fromkeys(names))


def _asked(compared: ComparedModels, model: str, outcomes: Outcomes) -> Asked:
    scored = outcomes.trials
    source, _ = compared.sources.get(model, ("", None))
    return Asked(
        model=model,
        n_problems=outcomes.n_problems,
        trials=(int(scored.min()), int(scored.max())),
        n_trials=int(scored.sum()),
        unscored={status: int(counts.sum()) for status, counts in outcomes.unscored.items()},
        source=source,
    )


def _changes(
    compared: ComparedModels,
    task: str | None,
    models: Mapping[str, Outcomes],
    options: ComparisonOptions,
    budget: int,
) -> Changes | None:
    if len(models) != 2:
        return None
    a, b = (outcomes.under(options.policy) for outcomes in models.values())
    with suppress(NotEnoughData):
        changes = changes_of(a, b)
        if not budget:
            return changes
        keys = [change.problem for change in changes.most]
        sides = [
            sampled_problems(*compared.sources.get(model, ("", None)), task, keys, budget)
            for model in models
        ]
        return changes.with_texts(sides[0], sides[1])
    return None
