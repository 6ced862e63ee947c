"""`simple_evaluate`: tasks in, results in the shape that lm-evaluation-harness gives them.

{"results": {task: {"exact_match,none": 0.62, "exact_match_stderr,none": 0.03,
                    "exact_match_interval,none": [0.56, 0.68], ...}},
 "samples": {task: [{"doc_id": 0, "exact_match": 1.0, "exact_match_repeats": [1.0, 0.0], ...}]},
 "estimates": {task: {"exact_match,none": {...}}}, "configs": ..., "versions": ..., ...}
"""

from __future__ import annotations

import hashlib
import json
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput
from passband.generate.provider import Provider
from passband.generate.providers import Connection
from passband.run.results import ProblemTrials, Result, metric_results, problem_trials
from passband.run.session import Finished, run_session
from passband.run.settings import Settings
from passband.tasks.find import find_tasks
from passband.tasks.loader import load_task
from passband.tasks.task import Task
from passband.trials.reader import Run, Trials

__all__ = ["simple_evaluate"]


class _Silent:
    """A watcher that passes warnings on, and nothing else."""

    def tick(self, runner: object) -> None:
        """Say nothing."""

    def warn(self, text: str) -> None:
        """Warn in the way of Python."""
        from passband.errors import warn

        warn(text)


def simple_evaluate(
    model: str | Provider | Callable[..., Any],
    tasks: Sequence[str | Path | Task] | str,
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
    out: str | Path | None = None,
    level: float = 0.95,
    trust_task_code: bool = False,
) -> dict[str, Any]:
    """Run tasks on a model and return results, samples and settings.

    `model` is a name as for ``passband run --model``, a `Provider`, or a function of the prompt.
    `num_repeats` overrides the tasks' own ``repeats``. Every metric comes with its standard error
    and its interval, which is for problems like these. With `out` the trials are kept there, and
    calling again goes on where it stopped; without, they are gone once this returns.
    """
    chosen = _tasks([tasks] if isinstance(tasks, str) else tasks, trust_task_code)
    settings = Settings(
        n=num_repeats,
        limit=limit,
        concurrency=concurrency,
        temperature=temperature,
        top_p=top_p,
        max_tokens=max_tokens,
        seed=seed,
    )
    with _directory(out) as directory:
        finished = run_session(
            chosen,
            model,
            directory,
            settings=settings,
            connection=Connection(base_url, concurrency=concurrency, batch=batch),
            watcher=_Silent(),
        )
        return _shaped(finished, log_samples, level)


def _tasks(given: Sequence[str | Path | Task], trust: bool) -> list[Task]:
    found: list[Task] = []
    for each in given:
        if isinstance(each, Task):
            found.append(each)
        else:
            found += [load_task(path, trust=trust) for path in find_tasks(each)]
    if not found:
        raise InvalidInput("tasks must name at least one task.")
    return found


@contextmanager
def _directory(out: str | Path | None) -> Iterator[Path]:
    if out is not None:
        yield Path(out)
        return
    with tempfile.TemporaryDirectory(prefix="passband-") as folder:
        yield Path(folder) / "simple_evaluate"


def _shaped(finished: Finished, log_samples: bool, level: float) -> dict[str, Any]:
    shaped: dict[str, Any] = {
        name: {}
        for name in (
            "results", "estimates", "group_subtasks", "configs", "versions", "n-shot",
            "higher_is_better", "n-samples",
        )
    }  # fmt: skip
    samples: dict[str, Any] = {}
    with Trials(finished.directory) as trials:
        for part in finished.parts:
            task, run = part.task, trials.run(part.task.name)
            asked = problem_trials(trials, run)
            same = {scorer.name: scorer.same for scorer in task.scorers}
            results = metric_results(trials, run, task.metrics, asked, same, level=level)
            shaped["results"][task.name] = _numbers(task, results)
            shaped["estimates"][task.name] = {
                _key(each): asdict(each.estimate) for each in results if each.estimate
            }
            shaped["group_subtasks"][task.name] = []
            shaped["configs"][task.name] = dict(task.config)
            shaped["versions"][task.name] = task.version
            shaped["n-shot"][task.name] = task.num_fewshot
            shaped["higher_is_better"][task.name] = {
                each.entry.name: each.entry.higher_is_better for each in results
            }
            shaped["n-samples"][task.name] = {"original": len(asked), "effective": len(asked)}
            if log_samples:
                samples[task.name] = list(_samples(task, run, asked, results))
    if log_samples:
        shaped["samples"] = samples
    first = finished.parts[0]
    shaped["config"] = {
        "model": run.model,
        "num_repeats": first.n,
        "gen_kwargs": asdict(first.sampling),
        "seed": first.seed,
    }
    shaped["date"] = time.time()
    shaped["total_evaluation_time_seconds"] = finished.seconds
    return shaped


def _key(result: Result, suffix: str = "") -> str:
    return f"{result.entry.name}{suffix},{result.entry.filter}"


def _numbers(task: Task, results: Sequence[Result]) -> dict[str, Any]:
    numbers: dict[str, Any] = {"alias": task.name}
    for each in results:
        found = each.estimate
        numbers[_key(each)] = None if found is None else found.value
        numbers[_key(each, "_stderr")] = None if found is None else found.se
        if found is not None:
            numbers[_key(each, "_interval")] = [found.low, found.high]
    return numbers


def _samples(
    task: Task, run: Run, asked: Sequence[ProblemTrials], results: Sequence[Result]
) -> Iterator[dict[str, Any]]:
    """Yield one row per problem and filter, as lm-eval logs them, with each repeat's score."""
    filters = dict.fromkeys(each.entry.filter for each in results)
    sampling = {k: v for k, v in run.spec["sampling"].items() if v not in (None, [], {})}
    for each in asked:
        for name in filters:
            chosen = [result for result in results if result.entry.filter == name]
            yield _sample(run, each, chosen, name, sampling)


def _sample(
    run: Run,
    each: ProblemTrials,
    results: Sequence[Result],
    filter_name: str,
    sampling: Mapping[str, Any],
) -> dict[str, Any]:
    record = each.problem.record
    prompt = "\n\n".join(content for _, content in record["messages"])
    targets = list(record["targets"])
    target = targets[0] if len(targets) == 1 else targets
    answers = each.answers(run.scorer(results[0].entry.scorer).number) if results else []
    row: dict[str, Any] = {
        "doc_id": each.problem.position,
        "problem_id": each.problem.key,
        "doc": record["doc"],
        "target": target,
        "arguments": {"gen_args_0": {"arg_0": prompt, "arg_1": dict(sampling)}},
        "resps": [[trial.text for trial in each.trials]],
        "filtered_resps": answers,
        "filter": filter_name,
        "metrics": [result.entry.name for result in results],
        "statuses": [trial.status for trial in each.trials],
        "doc_hash": _hash(json.dumps(record["doc"], indent=2, ensure_ascii=False)),
        "prompt_hash": _hash(prompt),
        "target_hash": _hash(str(target)),
    }
    for result in results:
        scores = each.scores(run.scorer(result.entry.scorer).number)
        row[result.entry.name] = _value(result, each, scores)
        if len(scores) > 1:
            row[f"{result.entry.name}_repeats"] = scores
    return row


def _value(result: Result, each: ProblemTrials, scores: Sequence[float | None]) -> float | None:
    """Return one problem's value of a metric; None if it has too few trials for it."""
    if each.problem.position in result.values:
        return result.values[each.problem.position]
    if result.estimate is None or result.entry.repeat_aggregation == "first":
        return next((score for score in scores if score is not None), None)
    from passband.stats.data.outcomes import Outcomes
    from passband.stats.metric.measure import measure

    present = [score for score in scores if score is not None]
    try:
        return measure(Outcomes.from_array([present]), result.entry.repeat_aggregation).value
    except InvalidInput:
        return None


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
