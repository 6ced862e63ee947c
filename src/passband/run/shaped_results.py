"""The results of a run in the shape that lm-evaluation-harness gives them.

{"results": {task: {"exact_match,none": 0.62, "exact_match_stderr,none": 0.03,
                    "exact_match_interval,none": [0.56, 0.68], ...}},
 "samples": {task: [{"doc_id": 0, "exact_match": 1.0, "exact_match_repeats": [1.0, 0.0], ...}]},
 "estimates": {task: {"exact_match,none": {...}}}, "configs": ..., "versions": ..., ...}
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from passband.errors import PassbandError, warn
from passband.run.first_problems import FirstProblems
from passband.run.samples import samples
from passband.run.session import Finished
from passband.run.task_run import TaskRun
from passband.stats.interval.estimation import Estimate
from passband.summary.metric_list import EntryResult
from passband.summary.run_summary import RunSummary, summarize_run
from passband.summary.summary import Group, Request
from passband.summary.wire import estimate_json, group_json
from passband.tasks.task import Task
from passband.trials.reader import Trials

__all__ = ["shaped_results"]

_SECTIONS = (
    "results", "estimates", "group_subtasks", "configs", "versions", "n-shot", "higher_is_better",
    "n-samples", "sampling", "statuses", "summaries",
)  # fmt: skip


def shaped_results(
    finished: Finished, config: Mapping[str, Any], *, log_samples: bool, level: float
) -> dict[str, Any]:
    """Return the results of every task; `config` is how the run was called for."""
    shaped: dict[str, Any] = {name: {} for name in _SECTIONS}
    request = Request(level=level)
    with Trials(finished.directory) as trials:
        for task_run in finished.task_runs:
            run = trials.run(task_run.task.name, finished.model)
            summary = RunSummary(trials, run, request, texts=log_samples)
            _add_task(shaped, task_run, summary)
            if log_samples:
                rows = list(samples(task_run, run, summary))
                shaped.setdefault("samples", {})[run.task] = rows
    _add_groups(shaped, finished, request)
    shaped["config"] = {
        "model": finished.model,
        "num_repeats": finished.task_runs[0].n,
        "seed": finished.task_runs[0].seed,
        **config,
    }
    shaped["date"] = time.time()
    shaped["total_evaluation_time_seconds"] = finished.seconds
    return shaped


def _add_task(shaped: dict[str, Any], task_run: TaskRun, summary: RunSummary) -> None:
    task, group, results = task_run.task, summary.group({}), summary.listed
    _warn(task.name, group, results)
    sections: dict[str, Any] = {
        "results": _numbers(task.name, group, results),
        "estimates": {
            _key(result): estimate_json(result.estimate) for result in results if result.estimate
        },
        "group_subtasks": [],
        "configs": dict(task.config),
        "versions": task.version,
        "n-shot": task.num_fewshot,
        "higher_is_better": {r.entry.name: r.entry.higher_is_better is not False for r in results},
        "n-samples": {"original": _size(task, group), "effective": group.n_problems},
        "sampling": task_run.sampling.spec,
        "statuses": dict(group.statuses),
        "summaries": group_json(group),
    }
    for section, value in sections.items():
        shaped[section][task.name] = value


def _add_groups(shaped: dict[str, Any], finished: Finished, request: Request) -> None:
    """Add the means over groups of tasks to the results, and by themselves as `groups`."""
    groups = {g.alias or g.name: g for run in finished.task_runs for g in run.task.groups}
    if not groups:
        return
    names = [run.task.name for run in finished.task_runs]
    shaped["groups"] = {}
    for combined in summarize_run(finished.directory, request, tasks=names).combined:
        if combined.name not in groups:  # a macro-average within one task
            continue
        group = groups[combined.name]
        row = shaped["groups"].setdefault(group.name, {"name": group.name, "alias": combined.name})
        for line in combined.lines:
            if line.estimate is None:
                warn(f"{group.name}: {line.metric} has no value: {line.reason}")
            else:
                row["sample_len"] = line.estimate.n_problems
                row |= _entry_numbers(str(line.name), str(line.filter), line.estimate)
        shaped["group_subtasks"][group.name] = list(group.tasks)
    shaped["results"] |= shaped["groups"]


def _size(task: Task, group: Group) -> int:
    """Return the number of problems that a task has without a limit."""
    try:
        whole = task.load.load if isinstance(task.load, FirstProblems) else task.load
        return len(whole(None))
    except PassbandError:  # of a problem beyond the limit, which was not asked
        return group.n_problems


def _warn(task: str, group: Group, results: Sequence[EntryResult]) -> None:
    """Warn of metrics without a value, of trials without a score, and of doubtful data."""
    for result in results:
        if result.estimate is None:
            warn(f"{task}: {_key(result)} has no value: {result.reason}")
    for note in group.notes:
        if note.code == "unscored":
            warn(f"{task}: {note}")
    for finding in () if group.evidence is None else group.evidence.warned():
        warn(f"{task}: {finding.text}")


def _key(result: EntryResult) -> str:
    return f"{result.entry.name},{result.entry.filter}"


def _numbers(task: str, group: Group, results: Sequence[EntryResult]) -> dict[str, Any]:
    numbers: dict[str, Any] = {"name": task, "alias": task, "sample_len": group.n_problems}
    for result in results:
        numbers |= _entry_numbers(result.entry.name, result.entry.filter, result.estimate)
    return numbers


def _entry_numbers(name: str, filter: str, estimate: Estimate | None) -> dict[str, Any]:
    """Return value, standard error and interval by lm-eval's keys."""
    ends = None if estimate is None else [estimate.low, estimate.high]
    error = None if estimate is None else estimate.se
    return {
        f"{name},{filter}": None if estimate is None else estimate.value,
        # A number or "N/A", as lm-eval has it: its `make_table` fails on anything else.
        f"{name}_stderr,{filter}": "N/A" if error is None else error,
        f"{name}_interval,{filter}": ends,
    }
