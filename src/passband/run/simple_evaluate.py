"""`simple_evaluate`: tasks in, results in the shape that lm-evaluation-harness gives them.

{"results": {task: {"exact_match,none": 0.62, "exact_match_stderr,none": 0.03,
                    "exact_match_interval,none": [0.56, 0.68], ...}},
 "samples": {task: [{"doc_id": 0, "exact_match": 1.0, "exact_match_repeats": [1.0, 0.0], ...}]},
 "estimates": {task: {"exact_match,none": {...}}}, "configs": ..., "versions": ..., ...}
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput, PassbandError, WrongType, warn
from passband.generate.provider import Provider
from passband.run.request import make_request
from passband.run.samples import samples
from passband.run.session import Finished
from passband.run.settings import Settings
from passband.run.task_run import TaskRun
from passband.stats.checks import as_level
from passband.stats.interval.estimate import Estimate
from passband.summary.metric_list import EntryResult
from passband.summary.run_summary import RunSummary, summarize_run
from passband.summary.summary import Group, Request
from passband.summary.wire import estimate_json, group_json
from passband.tasks.task import Task
from passband.trials.reader import Trials

__all__ = ["simple_evaluate"]

_SECTIONS = (
    "results", "estimates", "group_subtasks", "configs", "versions", "n-shot", "higher_is_better",
    "n-samples", "sampling", "statuses", "summaries",
)  # fmt: skip


class _Silent:
    """A watcher that passes warnings on, and nothing else."""

    def tick(self, progress: object) -> None:
        """Show nothing."""

    def note(self, text: str) -> None:
        """Show nothing."""

    def warn(self, text: str) -> None:
        """Issue a Python warning."""
        warn(text)


def simple_evaluate(
    model: str | Provider | Callable[..., Any],
    tasks: Sequence[str | Path | Task] | str | Path | Task,
    num_repeats: int | None = None,
    log_samples: bool = True,
    *,
    limit: int | None = None,
    base_url: str | None = None,
    temperature: float | None = None,
    top_p: float | None = None,
    max_tokens: int | None = None,
    concurrency: int = 64,
    batch: int = 16,
    seed: str | None = None,
    name: str | None = None,
    out: str | Path | None = None,
    level: float = 0.95,
    trust_task_code: bool = False,
    moved_server: bool = False,
) -> dict[str, Any]:
    """Run tasks on a model and return results, samples and settings.

    `model` is a name as for ``passband run --model``, a `Provider`, or a function of the prompt.
    `num_repeats` overrides the tasks' own ``repeats``. Every metric comes with its standard error
    and its interval, which is for problems like these. With `out` the trials are kept there, and
    calling again goes on where it stopped; without, they are gone once this returns. Whatever is
    recorded there counts, also where it is more than is asked for now. `name` is the run's name,
    by default that of `out`: parts of one run, to be merged later, need the same. With
    `moved_server` a run goes on although the same model has another address.
    """
    _check_model(model)
    _check_whole("num_repeats", num_repeats)
    _check_whole("limit", limit)
    level = as_level(level)
    with _directory(out) as directory:
        request = make_request(
            tasks,
            model,
            out=directory,
            trust_task_code=trust_task_code,
            n=num_repeats,
            limit=limit,
            concurrency=concurrency,
            temperature=temperature,
            top_p=top_p,
            max_tokens=max_tokens,
            seed=seed,
            name=name,
            base_url=base_url,
            batch=batch,
            moved_server=moved_server,
        )
        finished = request.run(_Silent())
        _go_on_only_if_done(finished)
        return _shaped(finished, request.settings, log_samples, level)


def _check_model(model: object) -> None:
    known = isinstance(model, str) or callable(model)
    if not known and not any(hasattr(model, name) for name in ("generate", "answer")):
        raise WrongType(f"model must be a name, a Provider or a function; got {model!r}.")


def _check_whole(name: str, value: object) -> None:
    if value is None:
        return
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise InvalidInput(f"{name} must be a whole number, 1 or more; got {value!r}.")


def _go_on_only_if_done(finished: Finished) -> None:
    """Raise the signal that ended the run; its trials are recorded."""
    if finished.ending == "interrupted":
        raise KeyboardInterrupt
    if finished.ending == "terminated":
        raise SystemExit(143)


@contextmanager
def _directory(out: str | Path | None) -> Iterator[Path]:
    if out is not None:
        yield Path(out)
        return
    with tempfile.TemporaryDirectory(prefix="passband-") as folder:
        yield Path(folder) / "simple_evaluate"


def _shaped(
    finished: Finished, settings: Settings, log_samples: bool, level: float
) -> dict[str, Any]:
    """Return the results of every task in lm-eval's shape."""
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
        "gen_kwargs": _overrides(settings),
        "seed": finished.task_runs[0].seed,
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
        "higher_is_better": {r.entry.name: r.entry.higher_is_better for r in results},
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


def _overrides(settings: Settings) -> dict[str, Any]:
    """Return how the caller changed the sampling of all tasks."""
    names = ("temperature", "top_p", "max_tokens")
    return {name: value for name in names if (value := getattr(settings, name)) is not None}


def _size(task: Task, group: Group) -> int:
    """Return the number of problems that a task has without a limit."""
    try:
        return len(task.load(None))
    except PassbandError:  # of a problem beyond the limit, which was not asked
        return group.n_problems


def _warn(task: str, group: Group, results: Sequence[EntryResult]) -> None:
    """Warn of metrics without a value and of trials without a score."""
    for result in results:
        if result.estimate is None:
            warn(f"{task}: {_key(result)} has no value: {result.reason}")
    for note in group.notes:
        if note.code == "unscored":
            warn(f"{task}: {note}")


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
    return {
        f"{name},{filter}": None if estimate is None else estimate.value,
        f"{name}_stderr,{filter}": None if estimate is None else estimate.se,
        f"{name}_interval,{filter}": ends,
    }
