"""Every mistake in a task, found before any model is asked."""

from __future__ import annotations

from pathlib import Path

from passband.tasks.diagnostics import Diagnostic
from passband.tasks.find import TaskEntry
from passband.tasks.key_check import key_diagnostics
from passband.tasks.loader import read_task
from passband.tasks.local_data import LocalData

__all__ = ["check_task"]


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
