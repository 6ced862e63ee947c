"""The results of a run in the shape that lm-evaluation-harness gives them.

{"results": {task: {"exact_match,none": 0.62, "exact_match_stderr,none": 0.03,
                    "exact_match_interval,none": [0.56, 0.68], ...}},
 "samples": {task: [{"doc_id": 0, "exact_match": 1.0, "exact_match_repeats": [1.0, 0.0], ...}]},
 "estimates": {task: {"exact_match,none": {...}}}, "configs": ..., "versions": ..., ...}

The samples of `simple_evaluate`: one row per problem and filter, as lm-eval logs them.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from passband.errors import InvalidInput, PassbandError, warn
from passband.generate import Sampling
from passband.run.problems import FirstProblems
from passband.run.session import RunResult
from passband.run.task_run import TaskRun
from passband.score import CORPUS_METRICS, aggregations
from passband.stats.interval import Estimate
from passband.summary import (
    EntryResult,
    Group,
    ProblemScores,
    Request,
    RunSummary,
    estimate_json,
    group_json,
    summarize_run,
)
from passband.tasks import Task
from passband.trials import RunRecord, Trials


def samples(task_run: TaskRun, run: RunRecord, summary: RunSummary) -> Iterator[dict[str, Any]]:
    """Yield one row per filter and problem, with the score of each repeat."""
    writer = _SampleWriter(task_run, run, generation_arguments(task_run.sampling))
    filters = dict.fromkeys(result.entry.filter for result in summary.listed)
    for name in filters:
        results = [_with_values(r, summary) for r in summary.listed if r.entry.filter == name]
        for problem in summary.metric_list.problems:
            if problem.statuses:
                yield writer.row(problem, results, name)


def generation_arguments(sampling: Sampling) -> dict[str, Any]:
    """Return how completions are sampled, in the words of a task file."""
    arguments = {
        "until": list(sampling.stop) or None,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "max_gen_toks": sampling.max_tokens,
        **sampling.extra,
    }
    return {name: value for name, value in arguments.items() if value is not None}


@dataclass(frozen=True)
class _SampleWriter:
    """Writes the samples of one task."""

    task_run: TaskRun
    run: RunRecord
    arguments: Mapping[str, Any]

    def row(
        self, problem: ProblemScores, results: Sequence[EntryResult], filter_name: str
    ) -> dict[str, Any]:
        """Return the sample of one problem under one filter."""
        record = problem.problem.record
        prompt = "\n\n".join(content for _, content in record["messages"])
        targets = list(record["targets"])
        target = targets[0] if len(targets) == 1 else targets
        doc = self._doc(problem)
        answers = problem.answers(self.run.scorer(results[0].entry.scorer).number)
        row: dict[str, Any] = {
            "doc_id": problem.problem.position,
            "problem_id": problem.problem.key,
            "doc": doc,
            "target": target,
            "arguments": [[prompt, dict(self.arguments)]],
            "resps": [problem.texts],
            "filtered_resps": answers if len(answers) == 1 else [answers],
            "filter": filter_name,
            "metrics": [result.entry.name for result in results],
            "statuses": problem.statuses,
            "doc_hash": _hash(json.dumps(doc, indent=2, ensure_ascii=False, default=str)),
            "prompt_hash": _hash(prompt),
            "target_hash": _hash(str(target)),
        }
        for result in results:
            scorer = self.run.scorer(result.entry.scorer).number
            row[result.entry.name] = self._value(result, problem, scorer)
            if len(problem.statuses) > 1:
                row[f"{result.entry.name}_repeats"] = problem.scores(scorer)
        return row

    def _doc(self, problem: ProblemScores) -> Mapping[str, Any]:
        """Return the problem's row of the data set, its columns in the order of the data.

        In the store they are sorted, and lm-eval's hash depends on their order.
        """
        position = problem.problem.position
        if position < len(self.task_run.problems):
            return dict(self.task_run.problems[position].reference.doc)
        doc: Mapping[str, Any] = problem.problem.record["doc"]
        return doc

    def _value(self, result: EntryResult, problem: ProblemScores, scorer: int) -> float | None:
        """Return one problem's value of a metric; None if it has too few trials for it."""
        from passband.stats.data import Outcomes
        from passband.stats.metric import measure

        entry = result.entry
        scores = problem.scored(scorer, entry.first).scores
        if entry.aggregation in CORPUS_METRICS:
            return next(iter(problem.scored(scorer).scores), None)
        if entry.repeat_aggregation in aggregations:
            return result.values.get(problem.problem.number)
        try:
            return measure(Outcomes.from_array([scores]), entry.repeat_aggregation).value
        except InvalidInput:
            return None


def _with_values(result: EntryResult, summary: RunSummary) -> EntryResult:
    """Add the value of each problem to a result that was measured without them."""
    entry = result.entry
    is_reduced = entry.repeat_aggregation in aggregations
    if result.estimate is None or result.values or not is_reduced:
        return result
    if entry.aggregation in CORPUS_METRICS:
        return result
    return replace(result, values=summary.metric_list.values(entry))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


_SECTIONS = (
    "results", "estimates", "group_subtasks", "configs", "versions", "n-shot", "higher_is_better",
    "n-samples", "sampling", "statuses", "summaries",
)  # fmt: skip


def shaped_results(
    finished: RunResult, config: Mapping[str, Any], *, log_samples: bool, level: float
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


def _add_groups(shaped: dict[str, Any], finished: RunResult, request: Request) -> None:
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
