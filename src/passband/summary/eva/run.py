"""Read a run as records: the score of each metric, trial by trial.

A metric is a scorer of the run, a scenario a problem, and a record a trial. Records come from a run
directory of passband or of EVA, from the log of another tool, or from a plain table.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from passband.errors import InvalidInput, UnknownName, nearest
from passband.readers import (
    EvaRun,
    Group,
    Groups,
    Log,
    MetricScore,
    Options,
    Record,
    Remark,
    in_order,
    is_eva_run,
    read,
    read_content,
    read_eva_run,
)
from passband.stats.data import (
    NOTHING,
    ROLES,
    UNSTATED,
    AskedScores,
    Evidence,
    GradedScores,
    Outcomes,
    Scale,
    compact,
)
from passband.stats.evidence import evidence_of
from passband.summary.eva.composed import Column
from passband.summary.notes import scored_incomplete
from passband.trials import STATUSES, RunRecord, ScoreRow, Trials, is_run_directory
from passband.types import Bools, Floats, Ints

Passes = Callable[[Floats], Bools]  #: which of several scores pass

_SCORE = "score"  # the metric of a source that does not name its scores
_scored = lru_cache(maxsize=4096)(MetricScore)  # a million trials have few different scores


@dataclass(frozen=True)
class Run:
    """One task asked of one model, as records."""

    name: str  #: which seeds what is random
    task: str | None
    model: str | None
    reader: str
    file: str
    records: Sequence[Record]  #: in the order of the source
    metrics: tuple[str, ...]
    scenarios: tuple[str, ...]  #: problems, also those without a trial
    planned: int | None = None  #: trials of each scenario
    sha256: str | None = None
    clusters: Mapping[str, str] | None = None  #: by scenario
    scales: Mapping[str, Scale] = field(default_factory=dict)  #: by metric, where stated
    remarks: tuple[Remark, ...] = ()
    config: Mapping[str, Any] = field(default_factory=dict)  #: EVA's
    is_ordered: bool = True  #: whether trials are numbered as they were asked
    found: Evidence = NOTHING  #: what was found where the trials were read

    def first(self, n: int) -> Run:
        """Return the run with the first n trials of each scenario alone."""
        counts = Counter(record.scenario for record in self.records)
        fewest = min(counts, key=counts.__getitem__)
        if counts[fewest] < n:
            raise InvalidInput(
                f"{self.name}: the first {n} trials of each problem need {n} of each; problem "
                f"{fewest!r:.80} has {counts[fewest]}."
            )
        taken: Counter[str] = Counter()
        kept = []
        for record in in_order(self.records):
            taken[record.scenario] += 1
            if taken[record.scenario] <= n:
                kept.append(record)
        return replace(self, records=kept, planned=self.planned and n, found=self.found.of_first())

    @cached_property
    def missing(self) -> dict[str, int]:
        """How many planned trials of each scenario have no record."""
        counts = Counter(record.scenario for record in self.records)
        if self.planned is None:
            return {}
        gaps = {name: self.planned - counts[name] for name in self.scenarios}
        return {name: gap for name, gap in gaps.items() if gap > 0}

    @property
    def n_records(self) -> int:
        """Trials that there are, and planned ones that are missing."""
        return len(self.records) + sum(self.missing.values())

    @property
    def draws(self) -> int:
        """As many trials as were planned, or else as every scenario with any trial has."""
        fewest = min(Counter(record.scenario for record in self.records).values(), default=1)
        return fewest if self.planned is None else self.planned

    def stating(self, scales: Mapping[str, Scale]) -> Run:
        """Return the run with what is stated of the scales of its metrics."""
        stated = {
            metric: self.scales.get(metric, UNSTATED).joined(
                scales.get(metric, UNSTATED), f"{self.name}: {metric}"
            )
            for metric in self.metrics
        }
        return replace(self, scales=stated)

    def column(self, metric: str) -> list[MetricScore]:
        """Return the scores that a metric gave to the records."""
        return [record.score(metric) for record in self.records]

    @cached_property
    def _index(self) -> dict[str, int]:
        return {name: position for position, name in enumerate(self.scenarios)}

    @cached_property
    def _positions(self) -> Ints:
        """The position of each record's scenario."""
        return np.array([self._index[record.scenario] for record in self.records], dtype=np.int64)

    def outcomes(self, column: Column, passes: Passes | None = None) -> Outcomes:
        """Return a column by scenario, as it is or as 1 for a score that passes and 0 for others.

        A trial that was skipped does not count: there was nothing to score.
        """
        values = np.array([score.value for score in column], dtype=np.float64)  # None is NaN
        is_scored = ~np.isnan(values)
        scored = values[is_scored] if passes is None else passes(values[is_scored])
        unscored: dict[str, Ints] = {}
        for record in np.flatnonzero(~is_scored).tolist():
            status = column[record].status
            if status != "skipped":
                self._counts_of(unscored, status)[self._positions[record]] += 1
        for name, count in self.missing.items():
            self._counts_of(unscored, "missing")[self._index[name]] += count
        outcomes = self._outcomes(self._positions[is_scored], scored.astype(np.float64), unscored)
        if self.is_ordered:
            numbers = np.array([record.trial or 0 for record in self.records], dtype=np.int64)
            order = np.lexsort((numbers[is_scored], self._positions[is_scored]))
            offsets = np.append(0, np.cumsum(outcomes.trials))
            outcomes = replace(outcomes, asked=AskedScores(compact(scored[order]), offsets))
        return replace(outcomes, found=self.found)

    def _counts_of(self, unscored: dict[str, Ints], status: str) -> Ints:
        return unscored.setdefault(status, np.zeros(len(self.scenarios), dtype=np.int64))

    def _outcomes(self, positions: Ints, values: Floats, unscored: Mapping[str, Ints]) -> Outcomes:
        is_graded = not np.isin(values, (0, 1)).all()
        clusters, size = self.clusters, len(self.scenarios)
        outcomes = Outcomes.from_counts(
            np.bincount(positions, None if is_graded else values, size) * (not is_graded),
            np.bincount(positions, minlength=size),
            problems=self.scenarios,
            clusters=None if clusters is None else [clusters[name] for name in self.scenarios],
            unscored=dict(sorted(unscored.items())),
        )
        if not is_graded:
            return outcomes
        flat = values[np.argsort(positions, kind="stable")]
        offsets = np.concatenate([[0], np.cumsum(outcomes.trials)])
        return replace(outcomes, successes=None, graded=GradedScores(flat, offsets))


def runs_of(source: Any, options: Options | None = None) -> list[Run]:
    """Return the runs of a source, each with a name of its own.

    Columns can be chosen for tables only: of other sources every scorer is a metric.
    """
    options = options or Options()
    runs = list(_runs(source, options))
    for noun, names in (("task", options.tasks), ("model", options.models)):
        listed = list(dict.fromkeys(str(getattr(run, noun)) for run in runs if getattr(run, noun)))
        for name in names:
            if name not in listed:
                hint = nearest(name, listed) or f" It has {', '.join(listed) or 'none'}."
                raise UnknownName(f"{source} has no {noun} named {name!r}.{hint}")
        runs = [run for run in runs if not names or getattr(run, noun) in names]
    if not runs:
        raise InvalidInput(f"{source} has no trials of that task by that model.")
    options.require_scores(source, [metric for run in runs for metric in run.metrics])
    if options.first is not None:
        runs = [run.first(options.first) if run.is_ordered else run for run in runs]
    return [run.stating(options.scales) for run in runs]


def _runs(source: Any, options: Options) -> Iterator[Run]:
    if isinstance(source, EvaRun):
        yield _of_eva(source)
    elif isinstance(source, Log):
        yield _of_log(source, _name(source.source.file))
    elif not isinstance(source, (str, os.PathLike)):
        groups = read(source, columns=options.columns, by=options.by, first=options.first)
        yield from _of_groups(groups, "trials")
    elif is_run_directory(Path(source)):
        options.refuse(tuple(ROLES), "a run directory")
        yield from _of_directory(Path(source), options)
    elif is_eva_run(Path(source)):
        options.refuse(tuple(ROLES), "a run of EVA")
        yield _of_eva(read_eva_run(Path(source), skip_bad=options.skip_bad))
    else:
        yield from _of_path(Path(source), options)


def _of_path(path: Path, options: Options) -> Iterator[Run]:
    reader, content = read_content(path, options)
    if isinstance(content, Groups):
        yield from _of_groups(content, _name(str(path)))
        return
    options.refuse(tuple(ROLES), f"a log ({reader})")
    for log in content:
        apart = [log.task, log.model] if len(content) > 1 else []
        yield _of_log(log, " / ".join([_name(str(path)), *apart]))


def _name(file: str) -> str:
    return Path(os.path.abspath(file)).stem


# -- EVA -----------------------------------------------------------------------------------


def _of_eva(run: EvaRun) -> Run:
    scenarios = dict.fromkeys(record.scenario for record in in_order(run.records))
    return Run(
        run.name,
        run.task,
        run.model,
        "eva",
        run.source.file,
        run.records,
        run.metrics,
        tuple(scenarios),
        run.planned,
        run.source.sha256,
        remarks=run.remarks,
        config=run.config,
    )


# -- run directories -----------------------------------------------------------------------


def _of_directory(path: Path, options: Options) -> Iterator[Run]:
    with Trials(path, scales=options.scales) as trials:
        chosen = trials.chosen_runs(options.tasks, options.models)
        chosen = [run for run in chosen if trials.statuses(run.number)]
        if not chosen:
            raise InvalidInput(f"{path} holds no trials yet.")
        names = {run.name for run in chosen}
        for run in chosen:
            apart = [run.task, run.model] if len(names) < len(chosen) else []
            yield _stored(trials, run, " / ".join([run.name, *apart]), path)


def _stored(trials: Trials, run: RunRecord, name: str, path: Path) -> Run:
    problems = list(trials.problems(run.number))
    keys = {problem.number: problem.key for problem in problems}
    scores: dict[tuple[int, int], dict[str, ScoreRow]] = {}
    for scorer in run.scorers:
        for problem, trial, score in trials.scores(scorer.number):
            scores.setdefault((problem, trial), {})[scorer.name] = score
    metrics = tuple(scorer.name for scorer in run.scorers)
    statuses = sorted(_statuses(trials, run.number))
    records = [
        _record(keys[problem], trial, status, scores.get((problem, trial), {}), metrics)
        for problem, trial, status in statuses
    ]
    recorded = tuple(Remark(*remark) for remark in run.imported.remarks)
    clusters = {problem.key: problem.cluster for problem in problems if problem.cluster is not None}
    run.refuse_averages()
    return Run(
        name,
        run.task,
        run.model,
        "run directory",
        str(path),
        records,
        metrics,
        tuple(keys.values()),
        run.imported.planned,
        remarks=recorded + _scored_incomplete(records, [status for *_, status in statuses]),
        clusters=clusters if len(clusters) == len(keys) else None,
        scales={scorer.name: run.scale(scorer) for scorer in run.scorers},
    )


def _statuses(trials: Trials, run: int) -> Iterator[tuple[int, int, str]]:
    """Yield (problem, trial, status) without reading a completion."""
    recorded = trials.recorded(run)
    for status in STATUSES:
        others = trials.recorded(run, without=[status])
        for problem, mask in recorded.items():
            left = mask & ~others.get(problem, 0)
            while left:
                lowest = left & -left
                yield problem, lowest.bit_length() - 1, status
                left ^= lowest


def _record(
    scenario: str, trial: int, status: str, scores: Mapping[str, ScoreRow], metrics: Sequence[str]
) -> Record:
    return Record(scenario, trial, {name: _score(status, scores.get(name)) for name in metrics})


def _score(status: str, score: ScoreRow | None) -> MetricScore:
    """Return a score; one without a value by why it has none, as the trials table does."""
    if score is not None and score.value is not None:
        return _scored(score.value)
    if status != "ok":
        return MetricScore(error=status, kind=status)
    if score is None:
        return MetricScore()
    return MetricScore(error=score.detail or score.status, kind=f"scorer_{score.status}")


def _scored_incomplete(records: Sequence[Record], statuses: Sequence[str]) -> tuple[Remark, ...]:
    """Return the remark on trials that were cut short and have a score all the same."""
    pairs = zip(records, statuses, strict=True)
    others = [(record, status) for record, status in pairs if status != "ok"]
    counts = Counter(
        status
        for record, status in others
        if any(score.value is not None for score in record.scores.values())
    )
    return (Remark(scored_incomplete(counts).text, important=True),) if counts else ()


# -- logs and tables -----------------------------------------------------------------------


def _of_log(log: Log, name: str) -> Run:
    keys = [problem.key for problem in log.problems]
    records = []
    trials = sorted(log.trials, key=lambda trial: (trial.problem, trial.trial))
    for trial in trials:
        scores = {log.scorers[score.scorer]: score for score in trial.scores}
        records.append(_record(keys[trial.problem], trial.trial, trial.status, scores, log.scorers))
    clusters = {problem.key: problem.cluster for problem in log.problems if problem.cluster}
    return Run(
        name,
        log.task,
        log.model,
        log.source.reader,
        log.source.file,
        records,
        log.scorers,
        tuple(keys),
        log.planned,
        log.source.sha256,
        clusters if len(clusters) == len(keys) else None,
        log.scales,
        (*log.remarks, *_scored_incomplete(records, [trial.status for trial in trials])),
    )


def _of_groups(groups: Groups, name: str) -> Iterator[Run]:
    metric = (groups.columns and groups.columns.score) or _SCORE
    for group in groups.groups:
        label = " / ".join([name, *group.key])
        yield _of_outcomes(group, groups, metric, label)


def _of_outcomes(group: Group, groups: Groups, metric: str, name: str) -> Run:
    outcomes = group.outcomes
    records = [
        Record(problem, trial, scores)
        for position, problem in enumerate(outcomes.problems)
        for trial, scores in enumerate(_scores(outcomes, position, metric))
    ]
    clusters = outcomes.clusters
    return Run(
        name,
        group.task,
        group.model,
        groups.reader,
        groups.source,
        records,
        (metric,),
        tuple(outcomes.problems),
        clusters=None if clusters is None else dict(zip(outcomes.problems, clusters, strict=True)),
        scales={metric: outcomes.scale},
        remarks=groups.remarks,
        is_ordered=False,
        found=evidence_of(outcomes.upright),
    )


@lru_cache(maxsize=4096)
def _only(metric: str, number: float) -> Mapping[str, MetricScore]:
    return {metric: _scored(number)}


def _scores(outcomes: Outcomes, position: int, metric: str) -> Iterator[Mapping[str, MetricScore]]:
    """Yield the trials of a problem; which of them came first makes no difference."""
    if outcomes.graded is not None:
        start, end = outcomes.graded.offsets[position : position + 2]
        values = outcomes.graded.values[start:end].tolist()
        yield from (_only(metric, value) for value in values)
    else:
        trials = int(outcomes.trials[position])
        successes = int(outcomes.required_successes()[position])
        yield from [_only(metric, 1.0)] * successes
        yield from [_only(metric, 0.0)] * (trials - successes)
    for status, counts in outcomes.unscored.items():
        score = MetricScore() if status == "missing" else MetricScore(error=status, kind=status)
        yield from [{metric: score}] * int(counts[position])
