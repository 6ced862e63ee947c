"""Judges before the first request: made, checked against the problems, and given a seat."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from passband.generate import Connection, Problem
from passband.run.budget import Budget
from passband.run.judge.choice import JudgeChoice
from passband.run.judge.judges import JudgedRun, Judges, check_rubrics
from passband.run.problems import LazyProblems
from passband.run.progress import Watcher
from passband.run.settings import Settings
from passband.run.task_run import TaskRun
from passband.score import is_kin
from passband.tasks import Task
from passband.trials import EmptyStore, Store, Trials, is_run_directory


def make_judges(
    choice: JudgeChoice | None, budget: Budget, settings: Settings, connection: Connection
) -> Judges:
    """Return the judges of a run, none so far."""
    return Judges(choice or JudgeChoice(), budget, settings.patience, connection.timeout)


def check_judges(
    judges: Judges,
    directory: Path,
    tasks: Sequence[Task],
    problems: Sequence[Sequence[Problem]],
    model: str,
    settings: Settings,
    watcher: Watcher,
) -> None:
    """Refuse what only judging would show: variables without a value, another server."""
    for task, chosen in zip(tasks, problems, strict=True):
        if not isinstance(chosen, LazyProblems):
            check_rubrics(task.scorers, chosen)
    if is_run_directory(directory):
        with suppress(EmptyStore), Trials(directory, trusted=True) as trials:
            runs = [run for run in trials.runs() if run.model == model]
            for task in tasks:
                own = [run for run in runs if run.task == task.name]
                judges.refuse_moved(own, task.scorers, is_allowed=settings.moved_server)
    for judge in judges:
        if is_kin(judge.name, model):
            watcher.note(kinship(judge.name, model))


def kinship(judge: str, model: str) -> str:
    """Return the note on a judge of the same family as the model that it judges."""
    if judge == model:
        return f"{model} judges its own answers, and may like them for being its own"
    return (
        f"the judge {judge} and the model {model} share a name: a difference judged by it may be "
        "its taste"
    )


def seated(judges: Judges, store: Store, run: TaskRun) -> TaskRun:
    """Return a task whose judges can ask about its trials."""
    if not judges:
        return run
    judged = JudgedRun(run.number, run.task.name, run.seed, run.problems, run.numbers)
    return replace(run, grader=judges.grader(store, run.grader, judged))
