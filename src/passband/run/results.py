"""What a run has come to: every metric of its tasks, from the trials table, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from passband.errors import InvalidInput
from passband.score.corpus import CORPUS_METRICS
from passband.score.repeats import aggregations, reduce_repeats
from passband.tasks.task import MetricEntry
from passband.trials.reader import ProblemRecord, Run, Trials
from passband.trials.rows import TrialRow

if TYPE_CHECKING:
    from passband.stats.interval.estimate import Estimate

__all__ = ["ProblemTrials", "Result", "entries_of", "metric_results", "problem_trials"]

Same = Callable[[str, str], bool]


@dataclass(frozen=True)
class ProblemTrials:
    """One problem with its trials, in order."""

    problem: ProblemRecord
    trials: list[TrialRow]

    def scores(self, scorer: int) -> list[float | None]:
        """Return the score of each trial; None where it has none."""
        return [_score(trial, scorer)[0] for trial in self.trials]

    def answers(self, scorer: int) -> list[str | None]:
        """Return what was compared in each trial; None where nothing was found."""
        return [_score(trial, scorer)[1] for trial in self.trials]


@dataclass(frozen=True)
class Result:
    """One line of a task's `metric_list`, measured."""

    entry: MetricEntry
    estimate: Estimate | None
    reason: str | None = None  # why there is no estimate
    values: Mapping[int, float | None] = field(default_factory=dict)  # by position of the problem


def problem_trials(trials: Trials, run: Run) -> list[ProblemTrials]:
    """Return every problem that has been asked, with its trials and scores."""
    found = {each.position: ProblemTrials(each, []) for each in trials.problems(run.number)}
    for trial in trials.trials(run):
        found[trial.problem].trials.append(trial)
    return [each for each in found.values() if each.trials]


def metric_results(
    trials: Trials,
    run: Run,
    entries: Sequence[MetricEntry],
    asked: Sequence[ProblemTrials],
    same: Mapping[str, Same],
    *,
    level: float = 0.95,
) -> list[Result]:
    """Measure each entry; one that cannot be measured says why, and the others stand.

    `same` holds for each scorer's name how it tells whether two answers are one.
    """
    results = []
    for entry in entries:
        try:
            results.append(_measured(trials, run, entry, asked, same, level))
        except InvalidInput as error:
            results.append(Result(entry, None, str(error)))
    return results


def _measured(
    trials: Trials,
    run: Run,
    entry: MetricEntry,
    asked: Sequence[ProblemTrials],
    same: Mapping[str, Same],
    level: float,
) -> Result:
    from passband.stats.interval.estimate import estimate

    scorer = run.scorer(entry.scorer)
    if entry.aggregation in CORPUS_METRICS:
        return _corpus(entry, scorer.number, asked, level)
    if entry.repeat_aggregation not in aggregations:  # a metric of the statistics
        found = estimate(trials.outcomes(run, scorer), entry.repeat_aggregation, level=level)
        return Result(entry, found)
    values = {
        each.problem.position: _reduced(entry, each, scorer.number, same.get(entry.scorer))
        for each in asked
    }
    if entry.repeat_aggregation == "mean" and entry.first is None:
        found = estimate(trials.outcomes(run, scorer), "avg", level=level)
    else:
        found = _of_values(list(values.values()), level)
    return Result(entry, replace(found, metric=entry.name), values=values)


def _reduced(
    entry: MetricEntry, each: ProblemTrials, scorer: int, same: Same | None
) -> float | None:
    return reduce_repeats(
        entry.repeat_aggregation,
        each.scores(scorer)[: entry.first],
        each.answers(scorer)[: entry.first],
        same=same,
        options=entry.repeat_options,
    )


def _of_values(values: Sequence[float | None], level: float) -> Estimate:
    """Estimate the mean of one number per problem: the reduced trials are one draw of it."""
    from passband.stats.data.outcomes import Outcomes
    from passband.stats.interval.estimate import estimate

    present = [[value] for value in values if value is not None]
    if not present:
        raise InvalidInput("no trial has a score.")
    found = estimate(Outcomes.from_array(present), "avg", level=level)
    return replace(found, left_out=len(values) - len(present))


def _corpus(
    entry: MetricEntry, scorer: int, asked: Sequence[ProblemTrials], level: float
) -> Result:
    from passband.score.corpus import corpus_interval, corpus_value
    from passband.stats.interval.estimate import Estimate

    pairs = [
        (answer, list(each.problem.record["targets"]))
        for each in asked
        if (answer := next((a for a in each.answers(scorer) if a is not None), None)) is not None
    ]
    if not pairs:
        raise InvalidInput("no trial has a score.")
    predictions, references = [a for a, _ in pairs], [b for _, b in pairs]
    low, high = corpus_interval(entry.aggregation, predictions, references, level=level, seed=0)
    return Result(
        entry,
        Estimate(
            metric=entry.name,
            value=corpus_value(entry.aggregation, predictions, references),
            low=low,
            high=high,
            se=None,
            level=level,
            over="problems",
            method="percentile",
            n_problems=len(pairs),
            n_trials=len(pairs),
            left_out=len(asked) - len(pairs),
            n_unscored=0,
            policy="drop",
            seed=0,
            notes=("a corpus score of each problem's first answer",),
        ),
    )


def _score(trial: TrialRow, scorer: int) -> tuple[float | None, str | None]:
    for score in trial.scores:
        if score.scorer == scorer:
            if score.status == "no_answer":
                return score.value, None
            return score.value, trial.text if score.answer is None else score.answer
    return None, None


def entries_of(config: Mapping[str, Any]) -> list[MetricEntry]:
    """Return the metric list that a run was recorded with."""
    return [MetricEntry(**entry) for entry in config.get("metrics", ())]
