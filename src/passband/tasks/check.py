"""Everything that is wrong with a task, found before any model is asked."""

from __future__ import annotations

import re
from pathlib import Path

from passband.tasks.diagnostics import Diagnostic
from passband.tasks.loader import read_task

__all__ = ["check_task"]

_PLACE = re.compile(r"(?P<file>[^\n]+?):(?P<line>[0-9]+): (?P<message>.+)", re.DOTALL)


def check_task(path: str | Path, *, trust: bool = False, limit: int | None = 5) -> list[Diagnostic]:
    """Check a task file, its data, and the prompts of the first so many problems, or of all.

    Nothing is raised for what is wrong with the task: all of it comes back, in the order of the
    lines. An empty list means that the task can be run.
    """
    outcome = read_task(Path(path), trust=trust)
    problems = list(outcome.problems)
    if outcome.problem_set is not None and outcome.task is not None:
        complaints = outcome.problem_set.complaints(limit)
        problems += [_located(complaint, Path(path)) for complaint in complaints]
    return sorted(dict.fromkeys(problems), key=lambda p: (p.file != Path(path), p.file, p.line))


def _located(complaint: str, path: Path) -> Diagnostic:
    """Take the place off the front of a message, where it has one."""
    found = _PLACE.fullmatch(complaint)
    if found is None:
        return Diagnostic(path, 1, complaint)
    return Diagnostic(Path(found["file"]), int(found["line"]), found["message"])
