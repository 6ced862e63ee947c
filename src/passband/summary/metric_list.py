"""Measure the metrics that a task lists on recorded trials.

A line of `metric_list` names a scorer, how the trials of a problem become one value
(`repeat_aggregation`), and how problems are combined. Everything needed is in the trials table:
the list itself is part of the run's configuration, and a scorer's notion of "the same answer",
which votes are counted by, is rebuilt from its recorded specification.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from passband.errors import InvalidInput, NotEnoughData
from passband.notes import Note
from passband.readers import stored_outcomes, stored_votes
from passband.score import (
    CORPUS_METRICS,
    aggregations,
    corpus_replicates,
    corpus_value,
    recorded_equality,
    reduction,
)
from passband.stats.metric import needs_answers, not_enough_data, not_measurable
from passband.summary.browse.problems import (
    ProblemScores,
    read_problem_scores,
    read_scores_alone,
)
from passband.summary.lines import OF_ONE_SCALE
from passband.summary.means import Sample
from passband.summary.summary import Line, Request
from passband.tasks import MetricEntry
from passband.trials import RunRecord, ScorerRecord, Trials

if TYPE_CHECKING:
    from passband.stats.data import Outcomes
    from passband.stats.interval import Estimate
    from passband.types import Floats

ONE_UNIT = Note("no-interval-one-unit", "no interval: only one problem (or cluster)")
CORPUS_FIRST_ANSWER = Note(
    "corpus-first-answer", "a corpus score, computed from the first scored answer to each problem"
)

_FEW = 10  # problems or clusters; a percentile interval from fewer is clearly too narrow
_NO_SCORE = "no trial has a score."
_OF_SCORES = ("first", "mean", "max", "min", "any_correct", "all_correct")

Values = Mapping[int, float | None]  # one value per problem, by its number


@dataclass(frozen=True)
class EntryResult:
    """One line of a metric list, measured."""

    entry: MetricEntry
    estimate: Estimate | None
    reason: Note | None = None  # why there is no estimate
    values: Values = field(default_factory=dict)

    def line(self, label: str) -> Line:
        """Return the line of the summary under a label."""
        entry = self.entry
        return Line(
            metric=label,
            scorer=entry.scorer,
            estimate=self.estimate,
            reason=self.reason,
            name=entry.name,
            filter=entry.filter,
            reduction=entry.repeat_aggregation,
        )


class MetricList:
    """Measures the entries of a metric list on one run."""

    def __init__(
        self, trials: Trials, run: RunRecord, request: Request, *, texts: bool = False
    ) -> None:
        self._trials, self._run, self._request, self._texts = trials, run, request, texts
        self._problems: list[ProblemScores] | None = None
        self._needs_answers = True

    @property
    def problems(self) -> list[ProblemScores]:
        """Every problem with its scores, read when first needed."""
        if self._problems is None:
            if self._needs_answers:
                self._problems = read_problem_scores(self._trials, self._run, texts=self._texts)
            else:
                self._problems = read_scores_alone(self._trials, self._run)
        return self._problems

    def measure(self, entries: Sequence[MetricEntry]) -> list[EntryResult]:
        """Measure each entry; one that cannot be measured has a reason instead."""
        is_plain = not self._texts and self._request.policy == "drop"
        self._needs_answers = not is_plain or any(map(_needs_answers, entries))
        results = []
        for entry in entries:
            try:
                results.append(self._measure(entry))
            except NotEnoughData as error:
                results.append(EntryResult(entry, None, not_enough_data(str(error))))
            except InvalidInput as error:
                results.append(EntryResult(entry, None, not_measurable(str(error))))
        return results

    def _measure(self, entry: MetricEntry) -> EntryResult:
        if entry.aggregation in CORPUS_METRICS:
            return self._corpus(entry)
        if _is_reduced(entry):
            return self._reduced(entry)
        return self._averaged(entry)

    # -- metrics of the statistics, on all trials of a problem -------------------------------

    def _averaged(self, entry: MetricEntry) -> EntryResult:
        """Estimate from the trials themselves: a mean, pass@k, or another metric by name."""
        from passband.stats.interval import estimate
        from passband.summary.lines import certified_estimate

        sample = self._all_trials(entry)
        sample.outcomes.under(self._request.policy).require(1)
        result = estimate(sample.outcomes, sample.metric, **self._request.options())
        result = certified_estimate(result, sample.outcomes, self._request)
        if entry.repeat_aggregation == "mean":
            result = replace(result, metric=entry.name)
        result = replace(result, notes=(*result.notes, *sample.notes))
        return EntryResult(entry, result)

    def sample(self, entry: MetricEntry) -> Sample | None:
        """Return what an entry is computed from; None if it is no mean over problems."""
        if entry.aggregation in CORPUS_METRICS:
            return None
        if not _is_reduced(entry):
            return self._all_trials(entry)
        values, _ = self._values(entry)
        return Sample(self._one_each(self.problems, values, entry), "avg")

    def _all_trials(self, entry: MetricEntry) -> Sample:
        scorer = self._run.scorer(entry.scorer)
        request = self._request
        outcomes = stored_outcomes(self._trials, self._run, scorer, request.first)
        outcomes = outcomes.accepting(request.accepted)
        if entry.first is not None:
            outcomes = self._first_trials(entry, scorer.number)
        remarks: tuple[Note, ...] = ()
        if needs_answers([entry.repeat_aggregation]) and outcomes.n_trials:
            recorded = stored_votes(self._trials, self._run, scorer, entry.first)
            outcomes, remarks = replace(outcomes, votes=recorded.votes), recorded.notes
        metric = "avg" if entry.repeat_aggregation == "mean" else entry.repeat_aggregation
        return Sample(outcomes, metric, remarks)

    def _first_trials(self, entry: MetricEntry, scorer: int) -> Outcomes:
        """Return the first trials that have a score, and those that have none."""
        from passband.stats.data import Outcomes

        rows: list[list[float | None]] = [
            [
                *problem.scored(scorer, entry.first).scores,
                *(score for score in problem.scores(scorer) if score is None),
            ]
            for problem in self.problems
        ]
        keys = [problem.problem.key for problem in self.problems]
        scale = self._run.scale(self._run.scorer(entry.scorer))
        clusters = _clusters(self.problems)
        return Outcomes.from_array(rows, problems=keys, clusters=clusters, scale=scale)

    # -- one value per problem ---------------------------------------------------------------

    def values(self, entry: MetricEntry) -> Values:
        """Return each problem's value under an entry whose trials are reduced to one."""
        return self._values(entry)[0]

    def _values(self, entry: MetricEntry) -> tuple[Values, tuple[Note, ...]]:
        scorer = self._run.scorer(entry.scorer)
        reduce = reduction(entry.repeat_aggregation, entry.repeat_options)
        failure = self._failure(scorer)
        with recorded_equality(scorer) as equality:
            values = {
                problem.problem.number: reduce(scored.scores, scored.answers, equality.same)
                for problem in self.problems
                for scored in [problem.scored(scorer.number, entry.first, failure)]
            }
        votes = entry.repeat_aggregation == "majority"
        return values, equality.notes if votes else ()

    def _reduced(self, entry: MetricEntry) -> EntryResult:
        """Estimate the mean of one value per problem: its reduced trials are one draw of it."""
        from passband.stats.interval import estimate

        if self._request.over == "trials":
            raise InvalidInput(
                f"{entry.repeat_aggregation} gives one value per problem, which says nothing of "
                f"the trials' own noise; its interval is over problems."
            )
        scorer = self._run.scorer(entry.scorer)
        values, remarks = self._values(entry)
        present = [scores for scores in self.problems if values[scores.problem.number] is not None]
        if not present:
            raise NotEnoughData(_NO_SCORE)
        outcomes = self._one_each(present, values, entry)
        result = estimate(outcomes, "avg", **self._request.options())
        used = self._trials_used(entry, scorer.number, present)
        if min(used) < max(used):
            remarks = (*remarks, unequal_trials(min(used), max(used)))
        result = replace(
            result,
            metric=entry.name,
            n_trials=sum(used),
            left_out=len(self.problems) - len(present),
            n_unscored=self._unscored(scorer),
            policy=self._request.policy,
            notes=(*result.notes, *remarks),
        )
        return EntryResult(entry, result, values=values)

    def _one_each(
        self, problems: Sequence[ProblemScores], values: Values, entry: MetricEntry
    ) -> Outcomes:
        """Return the values of the problems that have one, as one trial of each."""
        from passband.stats.data import Outcomes

        present = [scores for scores in problems if values[scores.problem.number] is not None]
        is_score = entry.repeat_aggregation in OF_ONE_SCALE
        scale = self._run.scale(self._run.scorer(entry.scorer)) if is_score else None
        rows = [[values[scores.problem.number]] for scores in present]
        return Outcomes.from_array(rows, clusters=_clusters(present), scale=scale)

    def _trials_used(
        self, entry: MetricEntry, scorer: int, present: Sequence[ProblemScores]
    ) -> list[int]:
        if entry.repeat_aggregation == "first":
            return [1] * len(present)
        failure = self._failure(self._run.scorer(entry.scorer))
        return [len(scores.scored(scorer, entry.first, failure).scores) for scores in present]

    def _failure(self, scorer: ScorerRecord) -> float | None:
        """Return the score of a trial without one; None where such trials are left out."""
        if self._request.policy != "fail":
            return None
        outcomes = self._trials.outcomes(self._run, scorer)
        return outcomes.failure_score if outcomes.unscored else None

    def _unscored(self, scorer: ScorerRecord) -> int:
        return self._trials.outcomes(self._run, scorer).n_unscored

    # -- one value for the whole test set ----------------------------------------------------

    def _corpus(self, entry: MetricEntry) -> EntryResult:
        """Score all problems at once, each by its first trial that has a score."""
        from passband.stats.interval import Estimate

        request = self._request
        if request.over == "trials" or request.method not in ("auto", "percentile"):
            raise InvalidInput(
                "a corpus score has a percentile interval over problems, and no other."
            )
        scorer = self._run.scorer(entry.scorer)
        firsts = self._first_answers(scorer)
        present = [self.problems[index] for index in firsts]
        if not present:
            raise NotEnoughData(_NO_SCORE)
        predictions = list(firsts.values())
        references = [list(scores.problem.record["targets"]) for scores in present]
        clusters = _clusters(present)
        value = corpus_value(entry.aggregation, predictions, references)
        replicates = corpus_replicates(
            entry.aggregation, predictions, references, clusters=clusters
        )
        ends = _percentile(value, replicates, len({*clusters} if clusters else present), request)
        return EntryResult(
            entry,
            Estimate(
                metric=entry.name,
                value=value,
                low=ends.low,
                high=ends.high,
                se=ends.se,
                level=request.level,
                over="problems",
                method="percentile",
                n_problems=len(present),
                n_trials=len(present),
                left_out=len(self.problems) - len(present),
                n_unscored=self._unscored(scorer),
                policy=request.policy,
                seed=0,
                notes=(CORPUS_FIRST_ANSWER, *ends.notes),
            ),
        )

    def _first_answers(self, scorer: ScorerRecord) -> dict[int, str]:
        """Return the first scored answer to each problem that has one, by place of the problem.

        No answer is an answer without words: it matches nothing, and its problem counts.
        """
        failure = self._failure(scorer)
        return {
            index: scored.answers[0] or ""
            for index, problem in enumerate(self.problems)
            for scored in [problem.scored(scorer.number, failure=failure)]
            if scored.scores
        }


def _is_reduced(entry: MetricEntry) -> bool:
    """Return whether the trials of a problem become one value before anything is averaged."""
    return entry.repeat_aggregation in aggregations and entry.repeat_aggregation != "mean"


def entries_of(config: Mapping[str, Any]) -> list[MetricEntry]:
    """Return the metric list that a run was recorded with."""
    return [MetricEntry(**entry) for entry in config.get("metrics", ())]


@dataclass(frozen=True)
class _Ends:
    low: float | None
    high: float | None
    se: float | None
    notes: tuple[Note, ...] = ()


def _percentile(value: float, replicates: Floats, units: int, request: Request) -> _Ends:
    """Return the percentile interval of a bootstrap over problems or clusters."""
    import numpy as np

    if units < 2:
        return _Ends(None, None, None, (ONE_UNIT,))
    tail = (1 - request.level) / 2
    low, high = np.quantile(replicates, [tail, 1 - tail])
    return _Ends(
        min(float(low), value),
        max(float(high), value),
        float(np.std(replicates, ddof=1)),
        (few_units(units),) if units < _FEW else (),
    )


def _clusters(problems: Sequence[ProblemScores]) -> list[str] | None:
    """Return the cluster of each problem, if every one has a cluster."""
    clusters = [scores.problem.cluster for scores in problems]
    named = [cluster for cluster in clusters if cluster is not None]
    return named if len(named) == len(clusters) else None


def _needs_answers(entry: MetricEntry) -> bool:
    """Return whether an entry is computed from answers, not from scores alone."""
    if entry.aggregation in CORPUS_METRICS:
        return True
    return entry.repeat_aggregation in aggregations and entry.repeat_aggregation not in _OF_SCORES


def unequal_trials(fewest: int, most: int) -> Note:
    """Return the note on problems of which different numbers of trials were reduced."""
    return Note(
        "unequal-trials",
        f"problems contribute unequal numbers of scored trials ({fewest}-{most}), and a reduction "
        "such as a vote or a maximum depends on how many it takes; --policy fail counts those "
        "without a score as wrong",
    )


def few_units(units: int) -> Note:
    """Return the note on a percentile interval from a handful of problems or clusters."""
    text = f"an interval from {units} problems or clusters is too narrow; add problems"
    return Note("few-units", text, "weak")
