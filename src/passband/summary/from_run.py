"""Summarise a run directory: the metric lists of its tasks, and the default curve."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from passband.errors import InvalidInput
from passband.log import phase
from passband.notes import Note
from passband.readers import (
    Remark,
    cost_remarks,
    is_judged,
    judge_scores,
    scorers_used,
    stored_outcomes,
    stored_votes,
    tally_of,
)
from passband.stats.data import NOTHING, UNSTATED, Outcomes, Scale
from passband.stats.decision import Plan
from passband.stats.metric import needs_answers
from passband.summary import notes
from passband.summary.checks.run_notes import (
    answer_notes,
    canary_notes,
    known_bad_notes,
    shard_notes,
    unmerged_notes,
)
from passband.summary.default_metrics import default_metrics, name_notes
from passband.summary.group import (
    group_of,
    metric_lines,
    with_first_lines,
    with_tally,
)
from passband.summary.judged.result import rests_on_labels
from passband.summary.lines import for_groups, on_line_scale
from passband.summary.means import (
    Sample,
    Stratum,
    check_population,
    column_of,
    combine_groups,
    combine_tasks,
    macro_average,
    task_groups,
)
from passband.summary.metric_list import EntryResult, MetricList, entries_of
from passband.summary.summary import Combined, Group, Line, Request, Summary
from passband.summary.unscored_range import with_unscored_range
from passband.summary.until import until_result
from passband.tasks import NO_FILTER, MetricEntry
from passband.trials import RunRecord, Trials

if TYPE_CHECKING:
    from passband.summary.judged.correction import Correction


@phase("summarize")
def summarize_run(
    directory: str | Path,
    request: Request | None = None,
    *,
    tasks: Sequence[str] = (),
    models: Sequence[str] = (),
    scorer: str | None = None,
    plan: Plan | None = None,
    scales: Mapping[str, Scale] | None = None,
) -> Summary:
    """Summarize the runs of a directory, or those of some tasks and models.

    Without metrics in the request, each task's own metric list is measured, then pass@k and
    pass^k of its main scorer. With metrics, or a scorer, those alone.
    """
    with Trials(directory, scales=scales) as trials:
        return summarize_trials(
            trials, request, tasks=tasks, models=models, scorer=scorer, plan=plan
        )


def summarize_trials(
    trials: Trials,
    request: Request | None = None,
    *,
    tasks: Sequence[str] = (),
    models: Sequence[str] = (),
    scorer: str | None = None,
    plan: Plan | None = None,
) -> Summary:
    """Summarize the runs of an open trials table, as `summarize_run` does those of a directory."""
    request = request or Request()
    runs = runs_with_trials(trials, tasks, models)
    by = _split_by(runs)
    run_request = for_groups(request, len(runs))
    summaries = [RunSummary(trials, run, run_request, scorer) for run in runs]
    groups = [
        summary.group(_key(run, by), plan) for run, summary in zip(runs, summaries, strict=True)
    ]
    groups = [
        replace(group, notes=(*group.notes, *answer_notes(trials, run, run.scorer(scorer))))
        for run, group in zip(runs, groups, strict=True)
    ]
    check_population(groups, request)
    definitions = [
        definition
        for definition in task_groups(run.config for run in runs)
        if not tasks or set(definition.tasks) <= set(tasks)
    ]
    strata = []
    if definitions or request.weights is not None:
        strata = [
            Stratum(group, summary.samples(group))
            for group, summary in zip(groups, summaries, strict=True)
        ]
    averages = _macro_averages(summaries, groups)
    groups = [
        _with_micro_note(group, average) for group, average in zip(groups, averages, strict=True)
    ]
    combined = (
        *(average for average in averages if average is not None),
        *combine_tasks(definitions, strata, request),
        *combine_groups(strata, request),
    )
    used = scorers_used(
        (run.task, run.scorer(scorer).name, [each.name for each in run.scorers]) for run in runs
    )
    costs = cost_remarks(trials, runs)
    remarks = (Remark(f"run directory: {used}"), *costs, *_remarks(runs, by))
    return Summary(str(trials.directory), request, tuple(groups), remarks, combined=combined)


def _macro_averages(
    summaries: Sequence[RunSummary], groups: Sequence[Group]
) -> list[Combined | None]:
    return [summary.macro_average(group) for summary, group in zip(summaries, groups, strict=True)]


def _with_micro_note(group: Group, average: Combined | None) -> Group:
    """Return the group of a task with a macro-average, with a note on what its own values are."""
    if average is None:
        return group
    column = average.name.rpartition("macro over ")[2]
    note = notes.micro_average(column, len(average.strata))
    return replace(group, notes=(*group.notes, note))


def _remarks(runs: Sequence[RunRecord], by: Sequence[str]) -> Iterator[Remark]:
    """Yield the remarks on reading the logs of imported runs."""
    for run in runs:
        name = " / ".join(_key(run, by).values())
        for text, important in run.imported.remarks:
            yield Remark(f"{name}: {text}" if name else text, important)


def runs_with_trials(
    trials: Trials, tasks: Sequence[str] = (), models: Sequence[str] = ()
) -> list[RunRecord]:
    """Return the runs of these tasks and models, or all; those without trials only by name."""
    runs = trials.chosen_runs(tasks, models)
    runs = [run for run in runs if tasks or run.is_imported or trials.statuses(run.number)]
    if not runs:
        waiting = [f" {note}" for note in unmerged_notes(trials.directory)]
        raise InvalidInput(f"{trials.directory} holds no trials yet.{''.join(waiting)}")
    return runs


def with_judge(group: Group, correction: Correction | None, model: str | None) -> Group:
    """Return the group with what is known of the judge of its scores, and notes on that."""
    if correction is None:
        return group
    judge = correction.result.title
    told = tuple(correction.notes(model))
    if group.until is not None:
        told = (notes.judge_until(judge), *told)
    is_corrected = correction.result.is_corrected
    judge_notes = tuple(_of_judge(note, judge, is_corrected=is_corrected) for note in group.notes)
    return replace(group, judge=correction.result, notes=(*judge_notes, *told))


def _of_judge(note: Note, judge: str, *, is_corrected: bool) -> Note:
    """Return a note on trials without a score that says whose pass@1 it is about."""
    if note.code != "unscored":
        return note
    text = note.text.replace("pass@1 is", f"pass@1 (judged by {judge}) is")
    if is_corrected:  # labels say how many of these trials are right
        text = text.replace("left out", "left out of the judge's own rate", 1)
    return note._replace(text=text)


class RunSummary:
    """Measures one run: one task asked of one model."""

    def __init__(
        self,
        trials: Trials,
        run: RunRecord,
        request: Request,
        scorer: str | None = None,
        *,
        texts: bool = False,
        corrects: bool = True,
    ) -> None:
        """With `corrects` false, a judge's numbers stay what the judge says."""
        self._corrects = corrects
        self._trials, self._run, self._request = trials, run, request
        self._scorer = run.scorer(scorer or request.judge)
        self._is_default = not request.metrics and scorer is None and request.judge is None
        self._corrections: dict[str, Correction | None] = {}
        self.metric_list = MetricList(trials, run, request, texts=texts)

    def group(self, by: dict[str, str], plan: Plan | None = None) -> Group:
        """Return the run's counts, notes and lines."""
        if self._run.adaptive is not None:
            from passband.summary.adaptive_test import adaptive_group

            return adaptive_group(self._trials, self._run, self._scorer, self._request, by)
        outcomes, told = self._outcomes
        told = (*name_notes(self._request.metrics, outcomes), *told)
        outcomes.under(self._request.policy)  # refuses unscored trials under the policy "error"
        group = group_of(
            outcomes, self._request, by, task=self._run.task, model=self._run.label, plan=plan
        )
        tally = tally_of(self._trials, self._run, self._scorer)
        group = with_tally(group, tally)
        bad = known_bad_notes(self._trials, self._run)
        if self._scorer.is_label:
            design = (self._scorer.spec or {}).get("design", "unknown")
            told = (*told, notes.labels_alone(outcomes.n_trials, design))
        from passband.summary.checks.programs import programs_of  # which knows sandboxes

        programs = programs_of(self._trials, self._run, self._scorer)
        checked = () if programs is None else programs.notes()
        shards = shard_notes(self._run, self._trials.directory)
        group = replace(group, notes=(*shards, *group.notes, *told, *bad, *checked))
        until = until_result(self._trials, self._run, group.evidence or NOTHING)
        remarks = group.notes if until is None else (notes.until(until.statement), *group.notes)
        lines = [
            on_line_scale(self._judged_line(line), self._scale(line), self._is_share(line))
            for line in self._lines(outcomes)
        ]
        if programs is not None:
            lines = programs.lines(lines, self._scorer.name)
            group = replace(group, programs=programs.result)
        group = replace(group, lines=tuple(lines), notes=remarks, until=until)
        group = with_unscored_range(group, outcomes, self._scorer.name)
        group = with_judge(group, self._correction(self._scorer.name), self._run.model)
        group = replace(group, notes=(*group.notes, *canary_notes(self._trials, self._run)))
        column = column_of(self._run)
        if column is not None and group.judge is not None and group.judge.is_corrected:
            group = replace(group, notes=(*group.notes, notes.no_corrected_macro(column)))
        return group

    def _correction(self, scorer: str | None) -> Correction | None:
        """Return what makes of a judge's numbers; None for scorers that are no judges."""
        if scorer is None or self._run.adaptive is not None or not self._corrects:
            return None
        if scorer not in self._corrections:
            record = self._run.scorer(scorer)
            request, made = self._request, None
            is_named = scorer == request.judge or (request.label and scorer == self._scorer.name)
            if is_named or is_judged(self._run, record):
                from passband.summary.judged.correction import Correction

                scores = judge_scores(self._trials, self._run, record, request.label)
                made = Correction(scores, request)
            self._corrections[scorer] = made
        return self._corrections[scorer]

    def _judged_line(self, line: Line) -> Line:
        correction = self._correction(line.scorer)
        return line if correction is None else correction.line(line)

    def _judged_result(self, result: EntryResult) -> EntryResult:
        correction = self._correction(result.entry.scorer)
        return result if correction is None else correction.entry(result)

    def _is_share(self, line: Line) -> bool | None:
        """Return whether a line is a share of 1; None where neither bounds nor scores say so."""
        outcomes, _ = self._outcomes
        if line.scorer == self._scorer.name:
            return outcomes.is_share
        scale = self._scale(line)
        return scale.is_unit if scale.is_known else None

    def _scale(self, line: Line) -> Scale:
        return UNSTATED if line.scorer is None else self._run.scale(self._run.scorer(line.scorer))

    def samples(self, group: Group) -> dict[str, Sample]:
        """Return what each line of the run's group is computed from, by its label."""
        if self._run.adaptive is not None:
            return {}
        entries = {(entry.name, entry.filter): entry for entry in entries_of(self._run.config)}
        outcomes, _ = self._outcomes
        samples = {}
        for line in group.lines:
            entry = entries.get((line.name or "", line.filter or ""))
            sample = None if entry is None else self.metric_list.sample(entry)
            if line.estimate is not None and rests_on_labels(line.estimate):
                continue  # the judge's outcomes are not what it is computed from
            if line.name is None and line.estimate is not None:
                sample = Sample(outcomes, line.estimate.metric)
            if sample is not None:
                samples[line.metric] = sample
        return samples

    def macro_average(self, group: Group) -> Combined | None:
        """Return the mean over the groups of the task's column, where it names one."""
        if self._run.adaptive is not None or column_of(self._run) is None:
            return None
        return macro_average(self._trials, self._run, group, self.samples(group), self._request)

    @cached_property
    def _outcomes(self) -> tuple[Outcomes, tuple[Note, ...]]:
        """The run's outcomes, with votes where a metric needs them, and notes on those."""
        request = self._request
        outcomes = stored_outcomes(self._trials, self._run, self._scorer, request.first)
        outcomes = outcomes.accepting(request.accepted)
        if self._scorer.is_label:  # trials that nobody labelled are no failures of anything
            outcomes = replace(outcomes, unscored={})
        if not needs_answers(self._request.metrics):
            return outcomes, ()
        recorded = stored_votes(self._trials, self._run, self._scorer, rounds=request.first)
        return replace(outcomes, votes=recorded.votes), recorded.notes

    @cached_property
    def results(self) -> list[EntryResult]:
        """The task's metric list, measured."""
        return self.metric_list.measure(entries_of(self._run.config))

    @cached_property
    def listed(self) -> list[EntryResult]:
        """The task's metric list, measured; of a task that has none, the mean of every scorer."""
        means = [
            MetricEntry(
                scorer.name,
                scorer.name,
                repeat_aggregation="mean",
                higher_is_better=not self._run.scale(scorer).lower_is_better,
            )
            for scorer in self._run.scorers
        ]
        return list(map(self._judged_result, self.results or self.metric_list.measure(means)))

    def _lines(self, outcomes: Outcomes) -> list[Line]:
        if not self._is_default:
            names = list(self._request.metrics) or self._default(outcomes)
            return self._estimated(outcomes, names)
        results = self.results
        curve = self._estimated(outcomes, self._default(outcomes))
        if not outcomes.n_trials and results:
            curve = []  # the metric list gives the reason
        return [*_labelled(results, self._judges), *_unlisted(curve, results, self._scorer.name)]

    @property
    def _judges(self) -> list[str]:
        return [scorer.name for scorer in self._run.scorers if scorer.is_judge]

    def _default(self, outcomes: Outcomes) -> list[str]:
        correction = self._correction(self._scorer.name)
        if correction is not None:
            outcomes = correction.as_labelled(outcomes)
        return default_metrics(outcomes.under(self._request.policy))

    def _estimated(self, outcomes: Outcomes, names: Sequence[str]) -> list[Line]:
        lines = metric_lines(outcomes, names, self._request, self._scorer.name)
        of_first = partial(stored_outcomes, self._trials, self._run, self._scorer)
        return with_first_lines(lines, outcomes, self._request, of_first)


def _labelled(results: Sequence[EntryResult], judges: Sequence[str]) -> list[Line]:
    """Return the lines of a metric list, labelled by name, reduction and, if several, filter.

    A judge that sees answers as they are has no filter to be named by.
    """
    several = len({result.entry.filter for result in results}) > 1
    lines = []
    for result in results:
        entry = result.entry
        is_plain = entry.scorer in judges and entry.filter == NO_FILTER
        label = f"{entry.name},{entry.filter}" if several and not is_plain else entry.name
        if entry.name != entry.repeat_aggregation:
            label += f" ({entry.repeat_aggregation})"
        lines.append(result.line(label))
    return lines


def _unlisted(curve: Sequence[Line], results: Sequence[EntryResult], main: str) -> list[Line]:
    """Leave out what the metric list shows already: the mean score is pass@1 and pass^1."""
    shown = {r.entry.repeat_aggregation for r in results if r.entry.scorer == main}
    shown |= {"avg", "pass@1"} if "mean" in shown else set()
    several = len({result.entry.scorer for result in results}) > 1
    suffix = f" ({main})" if several else ""
    return [
        replace(line, metric=line.metric + suffix) for line in curve if line.metric not in shown
    ]


def summarize_scorers(
    directory: str | Path, request: Request | None = None, *, tasks: Sequence[str] = ()
) -> Summary:
    """Summarize the mean score of every scorer of a directory's runs."""
    wanted = replace(request or Request(), metrics=("avg",))
    with Trials(directory) as trials:
        runs = trials.chosen_runs(tasks)
        by = _split_by(runs)
        groups = []
        for run in runs:
            request_of_run = wanted if run.adaptive is None else replace(wanted, metrics=())
            summaries = [
                RunSummary(trials, run, request_of_run, scorer.name, corrects=False)
                for scorer in run.scorers
            ]
            members = [summary.group(_key(run, by)) for summary in summaries]
            lines = tuple(line for member in members for line in member.lines)
            groups.append(replace(members[0], lines=lines))
    return Summary(str(directory), wanted, tuple(groups))


def _split_by(runs: Sequence[RunRecord]) -> list[str]:
    """Return which of task and model set the runs apart."""
    keys = [_key(run) for run in runs]
    return [name for name in ("task", "model") if len({key[name] for key in keys}) > 1]


def _key(run: RunRecord, by: Sequence[str] = ("task", "model")) -> dict[str, str]:
    names = {"task": run.task, "model": run.label}
    return {name: names[name] for name in by}
