"""What a run came to: one table, what to keep in mind about it, and what to do next."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from passband.report.progress import duration, money
from passband.report.render import Row
from passband.report.stats import default_metrics
from passband.run.results import (
    Result,
    Same,
    entries_of,
    metric_results,
    problem_trials,
    within_range,
)
from passband.run.session import Finished
from passband.stats.data.outcomes import Outcomes
from passband.stats.interval.estimate import Estimate, estimate
from passband.stats.interval.rounding import rounded_interval, rounded_value
from passband.stats.metric.bounds import bounds
from passband.stats.metric.measure import measure
from passband.trials.reader import RunRecord, Trials

__all__ = ["RunReport", "TaskReport", "report_run"]

_ENDINGS = {
    "finished": "finished",
    "interrupted": "interrupted; what was answered is recorded",
    "terminated": "terminated; what was answered is recorded",
    "max_cost": "stopped at --max-cost; what was answered is recorded",
}


@dataclass(frozen=True)
class TaskReport:
    """One task of a run, measured."""

    run: RunRecord
    outcomes: Outcomes
    results: list[Result]  # of the task's metric list
    curve: list[Estimate]  # metrics of the statistics, on the main scorer
    retried: int

    def rows(self) -> list[dict[str, Any]]:
        """Return a row per measured metric, under the name that the user knows it by."""
        listed = [
            {"metric": self._label(result), "found": result.estimate}
            for result in self.results
            if result.estimate is not None
        ]
        several = len({result.entry.scorer for result in self.results}) > 1
        of = f" ({self.run.scorer().name})" if several else ""
        return listed + [{"metric": found.metric + of, "found": found} for found in self.curve]

    def notes(self) -> list[str]:
        """Return what should be kept in mind about this task's numbers."""
        lines = [f"{self._label(r)}: {r.reason}" for r in self.results if r.estimate is None]
        lines += _unscored(self.run, self.outcomes)
        if self.retried:
            share = f"{self.retried} of {self.outcomes.n_trials + self.outcomes.n_unscored}"
            lines.append(f"{share} trials needed more than one attempt.")
        found: dict[str, list[str]] = {}
        for row in self.rows():
            for note in row["found"].notes:
                found.setdefault(note, []).append(row["metric"])
        several = len(self.rows()) > 1
        for note, names in found.items():
            which = "all" if several and len(names) == len(self.rows()) else ", ".join(names)
            lines.append(f"{which}: {note}")
        return lines

    def _label(self, result: Result) -> str:
        """Return the name of a metric and how its repeats were reduced."""
        entry, several = result.entry, len({each.entry.filter for each in self.results}) > 1
        name = f"{entry.name},{entry.filter}" if several else entry.name
        return f"{name} ({entry.repeat_aggregation})"


@dataclass(frozen=True)
class RunReport:
    """Everything `passband run` has to say at the end."""

    finished: Finished
    level: float
    tasks: list[TaskReport]

    def rows(self) -> list[Row]:
        """Return one row per task and metric, rounded by the error."""
        interval = f"{100 * self.level:.10g}% interval"
        several = len(self.tasks) > 1
        return [
            {
                **({"task": task.run.task} if several else {}),
                "metric": row["metric"],
                "value": rounded_value(found.value, found.low, found.high),
                interval: rounded_interval(found.low, found.high),
                "problems": found.n_problems,
                "trials": found.n_trials,
            }
            for task in self.tasks
            for row in task.rows()
            for found in [row["found"]]
        ]

    def headline(self) -> str:
        """Return in one line how the run ended and what it took."""
        trials = self._counts()
        spent = self.finished.cost
        cost = f", cost {money(spent)}" if spent else ""
        return (
            f"{_ENDINGS[self.finished.ending]}: {trials['recorded']} of {trials['planned']} "
            f"trials, {trials['asked']} of them now, in {duration(self.finished.seconds)}{cost}"
        )

    def _counts(self) -> dict[str, int]:
        tallies = [part.counters for part in self.finished.parts]
        return {
            "planned": sum(counters.planned for counters in tallies),
            "recorded": sum(counters.done for counters in tallies),
            "asked": sum(counters.fresh for counters in tallies),  # by this process
        }

    def notes(self) -> list[str]:
        """Return what to keep in mind, task by task."""
        several = len(self.tasks) > 1
        lines = [
            f"{task.run.task}: {note}" if several else note
            for task in self.tasks
            for note in task.notes()
        ]
        meaning = f"Intervals ({100 * self.level:.10g}%) are for problems like these."
        return [meaning, *lines] if self.tasks else lines

    def next_steps(self, again: Sequence[str]) -> list[tuple[str, str]]:
        """Return (command, what it does) for what one may want to do now."""
        where = shlex.quote(str(self.finished.directory))
        done = all(part.counters.done >= part.counters.planned for part in self.finished.parts)
        steps = [] if done else [(shlex.join(again), "go on where it stopped")]
        if self.tasks:
            steps.append((f"passband export {where} -o trials.jsonl", "every trial, one line each"))
        if self.tasks and all(task.outcomes.n_trials for task in self.tasks):
            binary = all(task.outcomes.is_binary for task in self.tasks)
            metric = "'pass@*'" if binary else "avg"
            steps[-1:-1] = [
                (f"passband stats {where} -m {metric} --over trials", "any metric, any interval")
            ]
            steps.append(
                (f"passband compare {where} OTHER_RUN", "is another model better, beyond noise?")
            )
        return steps

    def as_json(self) -> dict[str, Any]:
        """Return the report for programs, numbers in full."""
        return {
            "directory": str(self.finished.directory),
            "ending": self.finished.ending,
            **self._counts(),
            "seconds": self.finished.seconds,
            "cost": self.finished.cost,
            "tasks": [
                {
                    "task": task.run.task,
                    "model": task.run.model,
                    "n_problems": task.outcomes.n_problems,
                    "status": task.outcomes.status_counts,
                    "retried": task.retried,
                    "metrics": [
                        {**asdict(row["found"]), "metric": row["metric"]} for row in task.rows()
                    ],
                    "notes": task.notes(),
                }
                for task in self.tasks
            ],
        }


def report_run(
    finished: Finished, metrics: Sequence[str] = (), *, level: float = 0.95
) -> RunReport:
    """Measure what a run has recorded."""
    same = {
        part.task.name: {scorer.name: scorer.same for scorer in part.task.scorers}
        for part in finished.parts
    }
    with Trials(finished.directory) as trials:
        runs = [trials.run_numbered(part.number) for part in finished.parts]
        tasks = [
            _task(trials, run, same[run.task], metrics, level)
            for run in runs
            if trials.statuses(run.number)
        ]
    return RunReport(finished, level, tasks)


def _task(
    trials: Trials, run: RunRecord, same: Mapping[str, Same], metrics: Sequence[str], level: float
) -> TaskReport:
    outcomes = trials.outcomes(run)
    entries = [] if metrics else entries_of(run.config)
    asked = problem_trials(trials, run) if entries else []
    results = metric_results(trials, run, entries, asked, same, level=level)
    wanted = list(metrics) or (default_metrics(outcomes, most=4) if outcomes.n_trials else [])
    curve = estimate(outcomes, wanted, level=level) if outcomes.n_trials else []
    curve = [within_range(found, run.scorer()) for found in curve]
    if not metrics:
        curve = _unsaid(curve, results, run)
    return TaskReport(run, outcomes, results, curve, trials.retried(run.number))


def _unsaid(curve: Sequence[Estimate], results: Sequence[Result], run: RunRecord) -> list[Estimate]:
    """Leave out what the metric list says already: the mean score is pass@1 and pass^1."""
    main = run.scorers[0].name if run.scorers else None
    said = {r.entry.repeat_aggregation for r in results if r.entry.scorer == main}
    if "mean" in said:
        said |= {"avg", "pass@1"}
    return [e for e in curve if e.metric not in said and e.metric != "pass^1"]


def _unscored(run: RunRecord, outcomes: Outcomes) -> list[str]:
    """Say what has no score, why, and how much it could matter."""
    if not outcomes.n_unscored:
        return []
    counts = {s: n for s, n in outcomes.status_counts.items() if n and s != "ok"}
    told = ", ".join(f"{count} {status}" for status, count in counts.items())
    total = outcomes.n_trials + outcomes.n_unscored
    text = f"{outcomes.n_unscored} of {total} trials have no score ({told}) and are left out"
    found = bounds(outcomes, "pass@1") if outcomes.n_trials else None
    if found is not None:
        value = measure(outcomes, "pass@1").value
        text += (
            f"; pass@1 would be {found[0]:.3f} with all of them wrong and {found[1]:.3f} with all "
            f"of them right, instead of {value:.3f}"
        )
    lines = [f"{text}."]
    if "truncated" in counts:
        lines.append("What was cut off is scored with --truncated score; see also --max-tokens.")
    return lines
