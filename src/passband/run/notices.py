"""What the user should know while a run goes on, beyond its progress."""

from __future__ import annotations

from collections.abc import Sequence

from passband.run.task_run import TaskRun

__all__ = ["identical_answers", "notes_of"]


def identical_answers(run: TaskRun, least: int, checked: int) -> str | None:
    """Return a warning if most problems got the same answer in all of `least` or more trials.

    It takes at least `checked` such problems.
    """
    if run.sampling.temperature == 0:
        return None
    same, total = run.counters.identical(least)
    # A letter or a number may well be the same each time: then only all of many will do.
    if run.counters.has_short_answers:
        is_odd = total >= max(checked, 10) and same == total
    else:
        is_odd = total >= checked and 2 * same > total
    if not is_odd:
        return None
    return (
        f"{run.task.name}: {same} of {total} problems got IDENTICAL answers in all their trials. "
        f"Either the task is easy, or the server ignores the temperature or the seeds; n trials "
        f"are then worth one, and intervals over trials are too narrow."
    )


def notes_of(runs: Sequence[TaskRun]) -> list[str]:
    """Return what the subjects of a run have to say about their requests."""
    subjects = {id(run.subject): run.subject for run in runs}.values()
    return [text for subject in subjects for text in getattr(subject, "notes", [])]
