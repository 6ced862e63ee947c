"""Before anything is asked: what a task will ask, what is recorded already, what is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput
from passband.generate.provider import Sampling
from passband.run.blocks import count_missing
from passband.run.counters import Counters
from passband.run.grade import Grader, identity_of
from passband.run.settings import Settings
from passband.run.task_run import TaskRun
from passband.tasks.task import Problem, Task
from passband.trials.reader import Trials
from passband.trials.rows import FAILED, ProblemRow
from passband.trials.store import Store, canonical

__all__ = ["load_problems", "prepare", "problem_record", "resolved_sampling"]


def load_problems(task: Task, settings: Settings) -> Sequence[Problem]:
    """Return the problems that are to be asked; whatever is wrong with them shows here."""
    if settings.limit is not None and settings.limit < 1:
        raise InvalidInput(f"--limit must be at least 1; got {settings.limit}.")
    if settings.n is not None and settings.n < 1:
        raise InvalidInput(f"-n must be at least 1; got {settings.n}.")
    problems = task.load(settings.limit)
    if not problems:
        raise InvalidInput(f"{task.name} has no problems.")
    return problems


def prepare(
    store: Store,
    task: Task,
    problems: Sequence[Problem],
    model: str,
    settings: Settings,
    *,
    address: str | None = None,
    name: str | None = None,
) -> TaskRun:
    """Enter a task into the store and return its part in the run."""
    n = settings.n if settings.n is not None else task.repeats
    sampling = resolved_sampling(task, settings)
    seed = _seed(store, task, settings, name)
    spec = {"model": model, "sampling": asdict(sampling), "seed": seed}
    truncated = settings.truncated or task.truncated
    identities = [(scorer.name, identity_of(scorer, truncated)) for scorer in task.scorers]
    with store.transaction():
        number = store.begin(task.name, model, spec, _config(task, truncated))
        store.add_problems(number, _problem_rows(problems))
        numbers = store.set_scorers(number, identities)
    grader = Grader(
        list(zip(numbers, task.scorers, strict=True)),
        [problem.reference for problem in problems],
        truncated,
    )
    counters = Counters(len(problems), len(problems) * n, numbers[0] if numbers else None)
    part = TaskRun(
        task, number, problems, sampling, seed, n, grader, counters, settings.retry_failed
    )
    return _resumed(store.directory, part)


def resolved_sampling(task: Task, settings: Settings) -> Sampling:
    """Return the task's way of sampling with what the user says otherwise."""
    said = {
        name: value
        for name in ("temperature", "top_p", "max_tokens")
        if (value := getattr(settings, name)) is not None
    }
    return replace(task.sampling, **said)


def problem_record(problem: Problem) -> str:
    """Return a problem as it is stored: the prompt, and what scorers need."""
    reference = problem.reference
    return canonical(
        {
            "messages": [[message.role, message.content] for message in problem.messages],
            "targets": reference.targets,
            "choices": reference.choices,
            "doc": dict(reference.doc),
        }
    )


def _problem_rows(problems: Sequence[Problem]) -> list[ProblemRow]:
    return [
        ProblemRow(position, problem.key, problem_record(problem), problem.cluster)
        for position, problem in enumerate(problems)
    ]


def _seed(store: Store, task: Task, settings: Settings, name: str | None) -> str | None:
    """Return what seeds are derived from: what is given, or was then, or the run's name."""
    if not settings.send_seeds:
        return None
    if settings.seed is not None:
        return settings.seed
    if name is not None:
        return name
    earlier = store.spec(task.name)
    return store.directory.resolve().name if earlier is None else earlier["seed"]


def _config(task: Task, truncated: str) -> Mapping[str, Any]:
    return {
        "task": dict(task.config),
        "path": None if task.path is None else str(task.path),
        "metrics": [asdict(metric) for metric in task.metrics],
        "version": task.version,
        "num_fewshot": task.num_fewshot,
        "truncated": truncated,
    }


def _resumed(directory: Path, part: TaskRun) -> TaskRun:
    """Return the part with what earlier processes have left."""
    with Trials(directory, trusted=True) as trials:
        again = FAILED if part.retries_failed else ()
        recorded = trials.recorded(part.number, without=again)
        missing = count_missing(len(part.problems), part.n, recorded)
        part.counters.planned = missing + sum(mask.bit_count() for mask in recorded.values())
        statuses = {s: n for s, n in trials.statuses(part.number).items() if s not in again}
        part.counters.start_from(statuses, trials.tokens(part.number))
        if part.counters.main is not None:
            for problem, count, total in trials.score_sums(part.counters.main):
                if problem < len(part.problems):
                    part.counters.start_scores(problem, count, total)
        return replace(part, recorded=recorded, attempts=trials.attempts(part.number, again))
