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

from passband.errors import InvalidInput, WrongType, warn
from passband.generate.provider import Provider, Sampling
from passband.generate.providers import Connection
from passband.run.results import ProblemTrials, Result, metric_results, problem_trials
from passband.run.session import Finished, run_session
from passband.run.settings import Settings
from passband.run.task_run import TaskRun
from passband.score.corpus import CORPUS_METRICS
from passband.score.repeats import aggregations
from passband.tasks.find import find_tasks
from passband.tasks.loader import load_task
from passband.tasks.task import Task
from passband.trials.reader import RunRecord, Trials

__all__ = ["simple_evaluate"]


class _Silent:
    """A watcher that passes warnings on, and nothing else."""

    def tick(self, runner: object) -> None:
        """Say nothing."""

    def warn(self, text: str) -> None:
        """Warn in the way of Python."""
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
    out: str | Path | None = None,
    level: float = 0.95,
    trust_task_code: bool = False,
) -> dict[str, Any]:
    """Run tasks on a model and return results, samples and settings.

    `model` is a name as for ``passband run --model``, a `Provider`, or a function of the prompt.
    `num_repeats` overrides the tasks' own ``repeats``. Every metric comes with its standard error
    and its interval, which is for problems like these. With `out` the trials are kept there, and
    calling again goes on where it stopped; without, they are gone once this returns. Whatever is
    recorded there counts, also where it is more than is asked for now.
    """
    _check_model(model)
    _check_whole("num_repeats", num_repeats)
    _check_whole("limit", limit)
    _check_level(level)
    chosen = _tasks(tasks, trust_task_code)
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
        _go_on_only_if_done(finished)
        try:
            return _shaped(finished, log_samples, level)
        finally:
            for part in finished.parts:
                part.grader.close()  # counting votes has woken its workers


def _check_model(model: object) -> None:
    if not isinstance(model, str) and not hasattr(model, "generate") and not callable(model):
        raise WrongType(f"model must be a name, a Provider or a function; got {model!r}.")


def _check_level(level: object) -> None:
    if not isinstance(level, float) or not 0 < level < 1:
        raise InvalidInput(f"level must be a number between 0 and 1; got {level!r}.")


def _check_whole(name: str, value: object) -> None:
    if value is None:
        return
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise InvalidInput(f"{name} must be a whole number, 1 or more; got {value!r}.")


def _tasks(given: Sequence[str | Path | Task] | str | Path | Task, trust: bool) -> list[Task]:
    several = [given] if isinstance(given, (str, Path, Task)) else given
    found: dict[object, Task] = {}  # a file that is named twice is one task
    for each in several:
        if isinstance(each, Task):
            found[id(each)] = each
        elif isinstance(each, (str, Path)):
            for path in find_tasks(each):
                found[path.resolve()] = load_task(path, trust=trust)
        else:
            raise WrongType(f"a task is a name, a path or a Task; got {each!r}.")
    if not found:
        raise InvalidInput("tasks must name at least one task.")
    names = [task.name for task in found.values()]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InvalidInput(f"two tasks are named {twice[0]!r}.")
    return list(found.values())


def _go_on_only_if_done(finished: Finished) -> None:
    """Pass on what the run has caught, in an orderly way: trials are recorded by now."""
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


def _shaped(finished: Finished, log_samples: bool, level: float) -> dict[str, Any]:
    shaped: dict[str, Any] = {
        name: {}
        for name in (
            "results", "estimates", "group_subtasks", "configs", "versions", "n-shot",
            "higher_is_better", "n-samples", "statuses",
        )
    }  # fmt: skip
    samples: dict[str, Any] = {}
    with Trials(finished.directory) as trials:
        for part in finished.parts:
            task, run = part.task, trials.run_numbered(part.number)
            asked = problem_trials(trials, run, texts=log_samples)
            same = {scorer.name: scorer.same for scorer in task.scorers}
            results = metric_results(trials, run, task.metrics, asked, same, level=level)
            shaped["statuses"][task.name] = trials.outcomes(run).status_counts
            _warn(task, results, shaped["statuses"][task.name])
            shaped["results"][task.name] = _numbers(task, results, len(asked))
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
                samples[task.name] = list(_samples(part, run, asked, results))
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


def _warn(task: Task, results: Sequence[Result], statuses: Mapping[str, int]) -> None:
    """Say which metrics have no value and which trials no score."""
    for each in results:
        if each.estimate is None:
            warn(f"{task.name}: {_key(each)} has no value: {each.reason}")
    lacking = {status: count for status, count in statuses.items() if count and status != "ok"}
    if lacking:
        share = f"{sum(lacking.values())} of {sum(statuses.values())}"
        told = ", ".join(f"{count} {status}" for status, count in lacking.items())
        warn(f"{task.name}: {share} trials have no score ({told}) and are left out.")


def _key(result: Result, suffix: str = "") -> str:
    return f"{result.entry.name}{suffix},{result.entry.filter}"


def _numbers(task: Task, results: Sequence[Result], problems: int) -> dict[str, Any]:
    numbers: dict[str, Any] = {"name": task.name, "alias": task.name, "sample_len": problems}
    for each in results:
        found = each.estimate
        numbers[_key(each)] = None if found is None else found.value
        numbers[_key(each, "_stderr")] = None if found is None else found.se
        numbers[_key(each, "_interval")] = None if found is None else [found.low, found.high]
    return numbers


def _samples(
    part: TaskRun, run: RunRecord, asked: Sequence[ProblemTrials], results: Sequence[Result]
) -> Iterator[dict[str, Any]]:
    """Yield one row per problem and filter, as lm-eval logs them, with each repeat's score."""
    filters = dict.fromkeys(each.entry.filter for each in results)
    sampling = _gen_kwargs(part.sampling)
    for name in filters:
        chosen = [result for result in results if result.entry.filter == name]
        for each in (each for each in asked if each.statuses):
            yield _sample(part, run, each, chosen, name, sampling)


def _gen_kwargs(sampling: Sampling) -> dict[str, Any]:
    """Return how answers are drawn, in the words of a task file."""
    said = {
        "until": list(sampling.stop) or None,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "max_gen_toks": sampling.max_tokens,
        **sampling.extra,
    }
    return {name: value for name, value in said.items() if value is not None}


def _sample(
    part: TaskRun,
    run: RunRecord,
    each: ProblemTrials,
    results: Sequence[Result],
    filter_name: str,
    sampling: Mapping[str, Any],
) -> dict[str, Any]:
    record, at = each.problem.record, each.problem.position
    prompt = "\n\n".join(content for _, content in record["messages"])
    targets = list(record["targets"])
    target = targets[0] if len(targets) == 1 else targets
    # In the store the columns are sorted; lm-eval's hash depends on their order in the data.
    doc = dict(part.problems[at].reference.doc) if at < len(part.problems) else record["doc"]
    answers = each.answers(run.scorer(results[0].entry.scorer).number)
    row: dict[str, Any] = {
        "doc_id": at,
        "problem_id": each.problem.key,
        "doc": doc,
        "target": target,
        "arguments": [[prompt, dict(sampling)]],
        "resps": [each.texts],
        "filtered_resps": answers if len(answers) == 1 else [answers],
        "filter": filter_name,
        "metrics": [result.entry.name for result in results],
        "statuses": each.statuses,
        "doc_hash": _hash(json.dumps(doc, indent=2, ensure_ascii=False, default=str)),
        "prompt_hash": _hash(prompt),
        "target_hash": _hash(str(target)),
    }
    for result in results:
        scorer = run.scorer(result.entry.scorer).number
        row[result.entry.name] = _value(result, each, scorer)
        if len(each.statuses) > 1:
            row[f"{result.entry.name}_repeats"] = each.scores(scorer)
    return row


def _value(result: Result, each: ProblemTrials, scorer: int) -> float | None:
    """Return one problem's value of a metric; None if it has too few trials for it."""
    entry = result.entry
    if entry.aggregation in CORPUS_METRICS:
        return next(iter(each.scored(scorer)[0]), None)
    if entry.repeat_aggregation in aggregations:
        return result.values.get(each.problem.position)
    from passband.stats.data.outcomes import Outcomes
    from passband.stats.metric.measure import measure

    scores, _ = each.scored(scorer, entry.first)
    try:
        return measure(Outcomes.from_array([scores]), entry.repeat_aggregation).value
    except InvalidInput:
        return None


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
