"""What a run has come to: every metric of its tasks, from the trials table, with intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from passband.errors import InvalidInput
from passband.score.corpus import CORPUS_METRICS, corpus_replicates, corpus_value
from passband.score.repeats import aggregations, reduce_repeats
from passband.tasks.task import MetricEntry
from passband.trials.reader import ProblemRecord, RunRecord, ScorerRecord, Trials
from passband.trials.rows import Status, TrialRow

if TYPE_CHECKING:
    from passband.stats.data.outcomes import Outcomes
    from passband.stats.interval.estimate import Estimate
    from passband.types import Floats

__all__ = [
    "ProblemTrials",
    "Result",
    "entries_of",
    "metric_results",
    "problem_trials",
    "within_range",
]

Same = Callable[[str, str], bool]
Judged = tuple[float | None, str | None]  # a trial's score, and the answer that it is of
_NO_SCORE = "no trial has a score."
_RANGES = {"bleu": (0.0, 100.0), "chrf": (0.0, 100.0), "f1": (0.0, 1.0)}  # by scoring function
_FEW = 10  # problems; a percentile interval of fewer is clearly too narrow


@dataclass(frozen=True)
class ProblemTrials:
    """One problem with what became of its trials, in order; completions only if asked for."""

    problem: ProblemRecord
    statuses: list[Status] = field(default_factory=list)
    texts: list[str | None] = field(default_factory=list)
    judged: dict[int, list[Judged]] = field(default_factory=dict)  # by scorer

    def add(self, trial: TrialRow, scorers: Sequence[int], *, texts: bool) -> None:
        """Take the next trial."""
        self.statuses.append(trial.status)
        if texts:
            self.texts.append(trial.text)
        for scorer in scorers:
            self.judged.setdefault(scorer, []).append(_judged(trial, scorer))

    def scores(self, scorer: int) -> list[float | None]:
        """Return the score of each trial; None where it has none."""
        return [value for value, _ in self.judged.get(scorer, ())]

    def answers(self, scorer: int) -> list[str | None]:
        """Return what was compared in each trial; None where nothing was found."""
        return [answer for _, answer in self.judged.get(scorer, ())]

    def scored(self, scorer: int, first: int | None = None) -> tuple[list[float], list[str | None]]:
        """Return scores and answers of the trials that have a score, or of the first of them."""
        judged = self.judged.get(scorer, ())
        kept = [(value, answer) for value, answer in judged if value is not None][:first]
        return [value for value, _ in kept], [answer for _, answer in kept]


@dataclass(frozen=True)
class Result:
    """One line of a task's `metric_list`, measured."""

    entry: MetricEntry
    estimate: Estimate | None
    reason: str | None = None  # why there is no estimate
    values: Mapping[int, float | None] = field(default_factory=dict)  # by position of the problem


def problem_trials(trials: Trials, run: RunRecord, *, texts: bool = False) -> list[ProblemTrials]:
    """Return every problem with its scores, and with its completions; some may have no trial."""
    scorers = [scorer.number for scorer in run.scorers]
    found = {each.number: ProblemTrials(each) for each in trials.problems(run.number)}
    for trial in trials.trials(run):
        found[trial.problem].add(trial, scorers, texts=texts)
    return list(found.values())


def metric_results(
    trials: Trials,
    run: RunRecord,
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
    run: RunRecord,
    entry: MetricEntry,
    asked: Sequence[ProblemTrials],
    same: Mapping[str, Same],
    level: float,
) -> Result:
    from passband.stats.interval.estimate import estimate

    scorer, name = run.scorer(entry.scorer), entry.repeat_aggregation
    if entry.aggregation in CORPUS_METRICS:
        return _corpus(entry, scorer.number, asked, level)
    values: dict[int, float | None] = {}
    if name in aggregations:
        values = {
            each.problem.position: _reduced(entry, each, scorer.number, same.get(entry.scorer))
            for each in asked
        }
    if name in aggregations and name != "mean":
        found = _of_values(entry, scorer.number, asked, values, level)
        return Result(entry, within_range(found, scorer), values=values)
    whole = entry.first is None
    outcomes = trials.outcomes(run, scorer) if whole else _first(entry, scorer.number, asked)
    if not outcomes.n_trials:
        raise InvalidInput(_NO_SCORE)
    found = estimate(outcomes, "avg" if name == "mean" else name, level=level)
    found = replace(found, metric=entry.name) if values else found
    return Result(entry, within_range(found, scorer), values=values)


def _reduced(
    entry: MetricEntry, each: ProblemTrials, scorer: int, same: Same | None
) -> float | None:
    scores, answers = each.scored(scorer, entry.first)
    return reduce_repeats(
        entry.repeat_aggregation, scores, answers, same=same, options=entry.repeat_options
    )


def _first(entry: MetricEntry, scorer: int, asked: Sequence[ProblemTrials]) -> Outcomes:
    """Return only the first trials that have a score, with what has none."""
    from passband.stats.data.outcomes import Outcomes

    rows: list[list[float | None]] = [
        [*each.scored(scorer, entry.first)[0], *(s for s in each.scores(scorer) if s is None)]
        for each in asked
    ]
    names = [each.problem.key for each in asked]
    return Outcomes.from_array(rows, problems=names, clusters=_clusters(asked))


def _of_values(
    entry: MetricEntry,
    scorer: int,
    asked: Sequence[ProblemTrials],
    values: Mapping[int, float | None],
    level: float,
) -> Estimate:
    """Estimate the mean of one number per problem: the reduced trials are one draw of it."""
    from passband.stats.data.outcomes import Outcomes
    from passband.stats.interval.estimate import estimate

    present = [each for each in asked if values[each.problem.position] is not None]
    if not present:
        raise InvalidInput(_NO_SCORE)
    outcomes = Outcomes.from_array(
        [[values[each.problem.position]] for each in present], clusters=_clusters(present)
    )
    used = [len(each.scored(scorer, entry.first)[0]) for each in present]
    notes: tuple[str, ...] = ()
    if entry.repeat_aggregation == "first":
        used = [1] * len(present)
    elif min(used) < max(used):
        told = f"made of {min(used)} to {max(used)} scored trials, not as many of each problem"
        notes = (told,)
    found = estimate(outcomes, "avg", level=level)
    return replace(
        found,
        metric=entry.name,
        n_trials=sum(used),
        left_out=len(asked) - len(present),
        n_unscored=_unscored(scorer, asked),
        notes=(*found.notes, *notes),
    )


def _corpus(
    entry: MetricEntry, scorer: int, asked: Sequence[ProblemTrials], level: float
) -> Result:
    """Score all problems at once; the answer to each is that of its first trial with a score."""
    from passband.stats.interval.estimate import Estimate

    present = [each for each in asked if each.scored(scorer)[0]]
    if not present:
        raise InvalidInput(_NO_SCORE)
    # No answer is an answer without words: it matches nothing, and its problem stays.
    predictions = [each.scored(scorer)[1][0] or "" for each in present]
    references = [list(each.problem.record["targets"]) for each in present]
    value = corpus_value(entry.aggregation, predictions, references)
    clusters = _clusters(present)
    low, high, se, notes = _bootstrapped(
        value,
        corpus_replicates(entry.aggregation, predictions, references, clusters=clusters),
        len({*clusters} if clusters else present),
        level,
    )
    return Result(
        entry,
        Estimate(
            metric=entry.name,
            value=value,
            low=low,
            high=high,
            se=se,
            level=level,
            over="problems",
            method="percentile",
            n_problems=len(present),
            n_trials=len(present),
            left_out=len(asked) - len(present),
            n_unscored=_unscored(scorer, asked),
            policy="drop",
            seed=0,
            notes=("a corpus score of each problem's first answer", *notes),
        ),
    )


def _bootstrapped(
    value: float, replicates: Floats, units: int, level: float
) -> tuple[float | None, float | None, float | None, tuple[str, ...]]:
    """Return the ends of a percentile interval, the standard error, and what to note."""
    import numpy as np

    if units < 2:
        return None, None, None, ("one problem, or one cluster, tells nothing of others",)
    low, high = np.quantile(replicates, [(1 - level) / 2, (1 + level) / 2])
    few = (f"an interval from {units} problems or clusters is too narrow",)
    return (
        min(float(low), value),
        max(float(high), value),
        float(np.std(replicates, ddof=1)),
        few if units < _FEW else (),
    )


def within_range(found: Estimate, scorer: ScorerRecord) -> Estimate:
    """Cut off what no problem can score: a mean BLEU is at most 100."""
    least, most = next(
        (ends for name, ends in _RANGES.items() if f'"function":"{name}"' in scorer.identity),
        (-math.inf, math.inf),
    )
    if found.low is None or found.high is None or not least <= found.value <= most:
        return found
    return replace(found, low=max(found.low, least), high=min(found.high, most))


def _clusters(problems: Sequence[ProblemTrials]) -> list[str] | None:
    """Return the cluster of each problem, if they all have one."""
    found = [each.problem.cluster for each in problems]
    named = [cluster for cluster in found if cluster is not None]
    return named if len(named) == len(found) else None


def _unscored(scorer: int, asked: Sequence[ProblemTrials]) -> int:
    return sum(each.scores(scorer).count(None) for each in asked)


def _judged(trial: TrialRow, scorer: int) -> Judged:
    for score in trial.scores:
        if score.scorer == scorer:
            if score.status == "no_answer":
                return score.value, None
            return score.value, trial.text if score.answer is None else score.answer
    return None, None


def entries_of(config: Mapping[str, Any]) -> list[MetricEntry]:
    """Return the metric list that a run was recorded with."""
    return [MetricEntry(**entry) for entry in config.get("metrics", ())]
