"""What the user should know while a run goes on, beyond its progress."""

from __future__ import annotations

from collections.abc import Sequence

from passband.run.task_run import TaskRun

__all__ = ["notes_of"]


def notes_of(runs: Sequence[TaskRun]) -> list[str]:
    """Return what the subjects of a run have to say about their requests."""
    subjects = {id(run.subject): run.subject for run in runs}.values()
    return [text for subject in subjects for text in getattr(subject, "notes", [])]
