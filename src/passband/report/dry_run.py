"""What a run would ask, how long it might take and what it might cost, without asking."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from passband.report.progress import duration, money, pace
from passband.run.blocks import count_missing
from passband.run.counters import Price
from passband.run.prepare import load_problems, resolved_sampling
from passband.run.settings import Settings
from passband.tasks.task import Problem, Task
from passband.trials.reader import Trials, is_run_directory
from passband.trials.rows import FAILED, Status
from passband.trials.schema import EmptyStore

__all__ = ["DryRun", "TaskPlan", "dry_run"]

_CHARACTERS = 4  # per token: a rule of thumb for English, said as such
_ASSUMED = 5.0  # seconds for an answer, where no trial tells


@dataclass(frozen=True)
class TaskPlan:
    """One task: what is missing of it, and what its prompts look like."""

    task: str
    problems: int
    n: int
    missing: int
    prompt_tokens: int  # estimated, of everything that is missing
    completion_tokens: int | None  # estimated, or at most; None if nothing limits it
    is_measured: bool  # whether the tokens come from trials that are recorded
    sampling: dict[str, Any]
    first_prompt: str


@dataclass(frozen=True)
class DryRun:
    """All tasks of a run that is not run."""

    model: str
    directory: str
    concurrency: int
    price: Price | None
    tasks: list[TaskPlan]
    rate: float | None  # trials per second so far

    @property
    def missing(self) -> int:
        return sum(task.missing for task in self.tasks)

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
        return total

    @property
    def seconds(self) -> float:
        return self.missing / (self.rate or self.concurrency / _ASSUMED)

    def lines(self) -> list[str]:
        """Return it for people."""
        found = [line for task in self.tasks for line in _lines(task)]
        assumed = f"at {_ASSUMED:g} s an answer, {self.concurrency} at a time"
        basis = assumed if self.rate is None else f"at {pace(self.rate)}, as so far"
        return [
            *found,
            f"model     {self.model}",
            f"trials    {self.missing} to ask for, into {self.directory}",
            f"time      about {duration(self.seconds)} ({basis})",
            f"cost      {self._cost()}",
            "Nothing was asked.",
        ]

    def _cost(self) -> str:
        if self.price is None:
            return "unknown: no price file has this model"
        if self.cost is None:
            return "unknown: nothing limits the length of an answer (--max-tokens)"
        measured = all(task.is_measured for task in self.tasks)
        return f"about {money(self.cost)}" if measured else f"at most about {money(self.cost)}"

    def as_json(self) -> dict[str, Any]:
        """Return it for programs."""
        return {**asdict(self), "missing": self.missing, "seconds": self.seconds, "cost": self.cost}


def dry_run(
    tasks: Sequence[Task], model: str, directory: Path, settings: Settings, price: Price | None
) -> DryRun:
    """Work out what a run would do; the directory is read if it is there, and never made."""
    plans = [_plan(task, model, directory, settings) for task in tasks]
    return DryRun(model, str(directory), settings.concurrency, price, plans, _rate(directory))


def _plan(task: Task, model: str, directory: Path, settings: Settings) -> TaskPlan:
    problems = load_problems(task, settings)
    n = task.repeats if settings.n is None else settings.n
    sampling = resolved_sampling(task, settings)
    masks, tokens = _recorded(task.name, model, directory, FAILED if settings.retry_failed else ())
    recorded = {place: masks.get(problem.key, 0) for place, problem in enumerate(problems)}
    missing = count_missing(len(problems), n, recorded)
    done = sum(mask.bit_count() for mask in masks.values())
    measured = done > 0 and tokens != (0, 0)
    given: int | None = None
    if measured:
        taken, given = round(missing * tokens[0] / done), round(missing * tokens[1] / done)
    else:
        characters = sum(len(_prompt(problem)) for problem in problems) / max(1, len(problems))
        taken = round(missing * characters / _CHARACTERS)
        given = None if sampling.max_tokens is None else missing * sampling.max_tokens
    return TaskPlan(
        task=task.name,
        problems=len(problems),
        n=n,
        missing=missing,
        prompt_tokens=taken,
        completion_tokens=given,
        is_measured=measured,
        sampling=asdict(sampling),
        first_prompt=_prompt(problems[0]) if problems else "",
    )


def _rate(directory: Path) -> float | None:
    if is_run_directory(directory):
        with suppress(EmptyStore), Trials(directory) as trials:
            return trials.rate()
    return None


def _recorded(
    task: str, model: str, directory: Path, without: Sequence[Status]
) -> tuple[dict[str, int], tuple[int, int]]:
    """Return the recorded trials of each problem, by its key, and the tokens of all."""
    if is_run_directory(directory):
        with suppress(EmptyStore), Trials(directory) as trials:
            for run in trials.runs():
                if (run.task, run.model) == (task, model):
                    masks = trials.recorded(run.number, without)
                    keys = trials.numbers(run.number).items()
                    return (
                        {key: masks.get(number, 0) for key, number in keys},
                        trials.tokens(run.number),
                    )
    return {}, (0, 0)


def _prompt(problem: Problem) -> str:
    return "\n\n".join(message.content for message in problem.messages)


def _lines(task: TaskPlan) -> list[str]:
    limit = "no limit" if task.completion_tokens is None else f"{task.completion_tokens} out"
    least = "measured" if task.is_measured else f"{_CHARACTERS} characters a token, answers at most"
    said = {name: value for name, value in task.sampling.items() if value or value == 0}
    chosen = [f"{name} {value}" for name, value in said.items()]
    prompt = task.first_prompt.splitlines() or [""]
    return [
        f"task      {task.task}: {task.problems} problems x {task.n}, {task.missing} missing",
        f"tokens    about {task.prompt_tokens} in, {limit} ({least})",
        f"sampling  {', '.join(chosen) or 'as the model does by itself'}",
        f"prompt    {prompt[0]}",
        *(f"          {line}" for line in prompt[1:20]),
    ]
