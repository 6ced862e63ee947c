"""Dry runs: the trials a run would request, the time they take and their cost."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput
from passband.generate import Connection, Model, Problem
from passband.json_values import json_values
from passband.run.budget import Budget
from passband.run.judge.choice import JudgeChoice
from passband.run.judge.plan import CHARACTERS_PER_TOKEN, JudgePlan, judge_plans
from passband.run.judge.prepare import make_judges
from passband.run.prepare import load_problems
from passband.run.progress import RunProgress
from passband.run.sandboxes import open_sandbox
from passband.run.session import make_subjects, prepare_all
from passband.run.settings import Settings
from passband.run.task_run import Price, TaskRun
from passband.tasks import Task
from passband.trials import EmptyStore, Store, Trials, is_run_directory

_ASSUMED = 5.0  # seconds for an answer, where no trial is recorded
_SAMPLE = 100  # recorded trials that the time of an answer is averaged over


@dataclass(frozen=True)
class TaskPlan:
    """One task: how many trials are missing, and what its prompts look like."""

    task: str
    problems: int
    n: int
    missing: int
    prompt_tokens: int  # estimated, of all missing trials
    completion_tokens: int | None  # estimated, or at most; None if nothing limits it
    is_measured: bool  # whether the tokens are estimated from recorded trials
    sampling: dict[str, Any]
    first_prompt: str
    may_stop_early: bool = False  # whether `missing` is the most that it may take


@dataclass(frozen=True)
class DryRun:
    """The requests of a run, counted and priced before any is sent."""

    model: str
    directory: str
    concurrency: int
    price: Price | None
    tasks: list[TaskPlan]
    rate: float | None  # trials per second so far
    answer_seconds: float  # of one answer, measured or assumed
    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    judges: list[JudgePlan] = field(default_factory=list)
    suggested: Price | None = None  # where there is no price

    @property
    def missing(self) -> int:
        """Trials to request."""
        return sum(task.missing for task in self.tasks)

    @property
    def may_stop_early(self) -> bool:
        """Whether fewer trials may do."""
        return any(task.may_stop_early and task.missing for task in self.tasks)

    @property
    def cost(self) -> float | None:
        """The cost, estimated or at most; None if there is no price or no limit of tokens."""
        if self.price is None:
            return None
        total = 0.0
        for task in self.tasks:
            if task.completion_tokens is None and self.price.completion:
                return None
            total += self.price.of(task.prompt_tokens, task.completion_tokens or 0)
        costs = [judge.cost for judge in self.judges]
        known = [cost for cost in costs if cost is not None]
        return total + sum(known) if len(known) == len(costs) else None

    @property
    def seconds(self) -> float:
        """The time, at least that of one answer."""
        if not self.missing:
            return 0.0
        rate = self.rate or self.concurrency / self.answer_seconds
        return max(self.answer_seconds, self.missing / rate)

    def as_json(self) -> dict[str, Any]:
        """Convert to a JSON-serialisable dict."""
        return {
            **json_values(self),
            "missing": self.missing,
            "seconds": self.seconds,
            "cost": self.cost,
        }


def dry_run(
    tasks: Sequence[Task],
    model: Model,
    directory: Path,
    settings: Settings,
    connection: Connection,
    price: Price | None,
    judge: JudgeChoice | None = None,
) -> DryRun:
    """Prepare a run and undo it; what the run would refuse is refused in the same words."""
    judges = make_judges(judge, Budget(price, settings.max_cost), settings, connection)
    tasks = judges.tasks(tasks)
    open_sandbox((s for task in tasks for s in task.scorers), unsafe=settings.unsafe_code)
    subjects = make_subjects(tasks, model, connection)
    problems = [load_problems(task, settings) for task in tasks]
    said = _Said()
    with _scratch_store(directory) as store, _undone(store):
        runs = prepare_all(store, tasks, problems, subjects, settings, said, judges)
    rate, answer_seconds = _pace(directory, {run.number for run in runs})
    return DryRun(
        model=subjects[0].name,
        directory=str(directory),
        concurrency=settings.concurrency,
        price=price,
        tasks=[_plan(run) for run in runs],
        rate=rate,
        answer_seconds=answer_seconds,
        warnings=said.warnings,
        notes=said.notes,
        judges=judge_plans(runs, judges.choice),
    )


class _Said:
    """A watcher that keeps notes and warnings."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.warnings: list[str] = []

    def tick(self, progress: RunProgress) -> None:
        """Do nothing."""

    def note(self, text: str) -> None:
        """Keep a note."""
        self.notes.append(text)

    def warn(self, text: str) -> None:
        """Keep a warning."""
        self.warnings.append(text)


class _Undo(Exception):
    """Raised to undo a dry run."""


@contextmanager
def _undone(store: Store) -> Iterator[None]:
    """Undo whatever is written inside."""
    with suppress(_Undo), store.transaction():
        yield
        raise _Undo


@contextmanager
def _scratch_store(directory: Path) -> Iterator[Store]:
    """Open the run directory, or a temporary one of the same name if it is not there yet."""
    if _has_tables(directory):
        store = Store(directory)
        try:
            yield store
        finally:
            store.close()
        return
    taken = next(path for path in (directory, *directory.absolute().parents) if path.exists())
    if not taken.is_dir():
        raise InvalidInput(f"{directory} is not a directory; give another with --out.")
    with tempfile.TemporaryDirectory(prefix="passband-") as folder:
        store = Store(Path(folder) / directory.resolve().name, low_water=0)
        try:
            yield store
        finally:
            store.close()


def _has_tables(directory: Path) -> bool:
    if is_run_directory(directory):
        with suppress(EmptyStore), Trials(directory):
            return True
    return False


def _pace(directory: Path, numbers: set[int]) -> tuple[float | None, float]:
    """Return the trials per second so far, and the seconds of one answer."""
    if not _has_tables(directory):
        return None, _ASSUMED
    with Trials(directory, trusted=True) as trials:
        times = [
            row.latency_ms / 1000
            for run in trials.runs()
            if run.number in numbers
            for row in islice(trials.trials(run), _SAMPLE)
            if row.latency_ms is not None
        ]
        return trials.rate(), sum(times) / len(times) if times else _ASSUMED


def _plan(run: TaskRun) -> TaskPlan:
    counters = run.counters
    missing = _missing(run)
    tokens = counters.prompt_tokens, counters.completion_tokens
    is_measured = counters.done > 0 and tokens != (0, 0)
    completion: int | None
    if is_measured:
        prompt, completion = (round(missing * total / counters.done) for total in tokens)
    else:
        characters = sum(len(_prompt(problem)) for problem in run.problems) / len(run.problems)
        prompt = round(missing * characters / CHARACTERS_PER_TOKEN)
        limit = run.sampling.max_tokens
        completion = None if limit is None else missing * limit
    return TaskPlan(
        task=run.task.name,
        problems=len(run.problems),
        n=run.n,
        missing=missing,
        prompt_tokens=prompt,
        completion_tokens=completion,
        is_measured=is_measured,
        sampling=run.sampling.spec,
        first_prompt=_prompt(run.problems[0]),
        may_stop_early=run.rule is not None or "adaptive" in run.task.config,
    )


def _missing(run: TaskRun) -> int:
    """Return the trials to request; of an adaptive test, those that it may request at most."""
    missing = run.counters.planned - run.counters.done
    if "adaptive" not in run.task.config:
        return missing
    from passband.run.schedule.adaptive import most_trials  # heavy, and seldom needed

    return max(0, min(missing, most_trials(run) - run.counters.done))


def _prompt(problem: Problem) -> str:
    return "\n\n".join(message.content for message in problem.messages)
