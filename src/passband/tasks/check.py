"""Find every mistake in a task before any model is asked.

What scorers find in the rows themselves, checked before a model is asked: the tests of code.

A test that cannot be read would be a 0 for every model, or no score at all once all are paid for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from passband.errors import InvalidInput, Place
from passband.generate import Problem
from passband.score import Scorer
from passband.tasks.data.local_data import LocalData
from passband.tasks.diagnostics import Diagnostic
from passband.tasks.entry import TaskEntry
from passband.tasks.file.loader import read_task
from passband.tasks.task import Task


def check_keys(task: Task, problems: Sequence[Problem]) -> None:
    """Raise `InvalidInput` if a problem has tests that can score nothing."""
    faults = list(_faults(task, problems))
    if faults:
        key, fault = faults[0]
        more = len(faults) - 1
        others = f" Nor can {more} more problem{'s' * (more > 1)}." if more else ""
        raise InvalidInput(f"{task.name}: problem {key!r} cannot be scored: {fault}{others}")


def key_diagnostics(task: Task, path: Path, limit: int | None) -> Iterator[Diagnostic]:
    """Yield what is wrong with the tests of the first problems, and with their solutions.

    A reference solution that fails its own tests is a warning: it may need a package that the
    sandbox lacks. Without a sandbox none is run, and a warning says so.
    """
    place = Place(path, 1)
    checkers = [scorer for scorer in task.scorers if scorer.runs_tests]
    if not checkers:
        return
    problems = task.load(limit)
    bad = set()
    for key, fault in _faults(task, problems):
        bad.add(key)
        yield Diagnostic.at(place, f"problem {key!r} cannot be scored: {fault}")
    good = [problem for problem in problems if problem.key not in bad]
    for scorer in checkers:
        yield from _solutions(scorer, good, place)


def _faults(task: Task, problems: Sequence[Problem]) -> Iterator[tuple[str, str]]:
    checkers = [scorer for scorer in task.scorers if scorer.runs_tests]
    for problem in problems if checkers else ():
        for scorer in checkers:
            fault = scorer.fault_of(problem.reference)
            if fault is not None:
                yield problem.key, fault


def _solutions(scorer: Scorer, problems: Sequence[Problem], place: Place) -> Iterator[Diagnostic]:
    try:
        scorer.prepare()
    except InvalidInput as refused:
        yield Diagnostic.at(place, f"reference solutions are not run: {refused}", "warning")
        return
    try:
        for problem in problems:
            if (fault := scorer.solution_fault(problem.reference)) is not None:
                message = f"the solution of problem {problem.key!r} does not pass: {fault}"
                yield Diagnostic.at(place, message, "warning")
    finally:
        scorer.close()


def check_task(
    task: str | Path | TaskEntry,
    *,
    trust: bool = False,
    limit: int | None = 5,
    data: LocalData | None = None,
) -> list[Diagnostic]:
    """Check a task file, its data, and the prompts of the first `limit` problems, or of all.

    Mistakes are returned and not raised, those of the file itself first, in the order of the
    lines. Without an error among them the task can be run.
    """
    path = task.path if isinstance(task, TaskEntry) else Path(task)
    reading = read_task(task, trust=trust, data=data)
    diagnostics = list(reading.diagnostics)
    if reading.problem_set is not None and reading.task is not None:
        errors = reading.problem_set.errors(limit)
        diagnostics += [Diagnostic.of(error, path) for error in errors]
        if not errors:
            place = reading.problem_set.places["known_bad"]
            diagnostics += key_diagnostics(reading.task, path, limit)
            diagnostics += [
                Diagnostic.at(place, f"known_bad: problem {bad.key!r}: {bad.reason}", "warning")
                for bad in reading.problem_set.known_bad(limit)
            ]
    return sorted(dict.fromkeys(diagnostics), key=lambda d: (d.file != path, d.file, d.line))
