"""Remark on differences between compared models: scorers, sandboxes, scales, targets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from passband.readers import Groups, Remark
from passband.stats.data import Finding, Outcomes

_ALLOWED = 0.05  # share of problems whose targets may differ before a comparison means nothing


def different_scorers(
    readings: Sequence[Groups], tasks: Sequence[str | None]
) -> dict[str | None, list[str]]:
    """Return the scorers of tasks whose scores on the two sides come from different ones."""
    scorers: dict[str | None, dict[str, None]] = {}
    for group in (group for reading in readings for group in reading.groups):
        task = None if None in tasks else group.task
        if task in tasks and group.tally is not None:
            scorers.setdefault(task, {})[group.tally.scorer] = None
    return {task: list(names) for task, names in scorers.items() if len(names) > 1}


def scorer_remarks(readings: Sequence[Groups], tasks: Sequence[str | None]) -> list[Remark]:
    """Return remarks on tasks whose scores on the two sides come from different scorers."""
    text = "scored by {}, which may differ in scale; choose one scorer for all with --score"
    return [
        Remark((f"{task}: " if task else "") + text.format(" and ".join(names)), important=True)
        for task, names in different_scorers(readings, tasks).items()
    ]


def sandbox_remarks(readings: Sequence[Groups], tasks: Sequence[str | None]) -> list[Remark]:
    """Return remarks on tasks whose programs ran in different sandboxes on the two sides."""
    sandboxes: dict[str | None, dict[tuple[str, ...], None]] = {}
    for group in (group for reading in readings for group in reading.groups):
        task = None if None in tasks else group.task
        if task in tasks and group.tally is not None and group.tally.sandboxes:
            sandboxes.setdefault(task, {})[tuple(sorted(group.tally.sandboxes))] = None
    return [
        Remark(
            f"{f'{task}: ' if task else ''}programs ran in different sandboxes, which need not "
            f"agree on a program: {' | '.join(map('; '.join, found))}",
            important=True,
        )
        for task, found in sandboxes.items()
        if len(found) > 1
    ]


class _DifferentTargets(NamedTuple):
    """The problems of a task that have one id and different targets on the two sides."""

    unlike: int
    problems: int  #: of the task
    first: str

    def __str__(self) -> str:
        return (
            f"{self.unlike} of {self.problems} problems have one id but different targets (the "
            f"first is {self.first!r:.60})"
        )


def _different_targets(
    readings: Sequence[Groups], tasks: Sequence[str | None]
) -> dict[str | None, _DifferentTargets]:
    """Return how many problems have the same ids, but different targets, by task."""
    first: dict[str | None, dict[str, tuple[str, ...]]] = {}
    other: dict[str | None, dict[str, None]] = {}
    for group in (group for reading in readings for group in reading.groups):
        task = None if None in tasks else group.task
        known = first.setdefault(task, {})
        for key, targets in group.targets.items():
            if targets and task in tasks and known.setdefault(key, targets) != targets:
                other.setdefault(task, {})[key] = None
    return {
        task: _DifferentTargets(len(keys), len(first[task]), next(iter(keys)))
        for task, keys in other.items()
    }


def target_findings(
    readings: Sequence[Groups], tasks: Sequence[str | None], allowed: float = _ALLOWED
) -> dict[str | None, tuple[Finding, ...]]:
    """Return findings on tasks whose problems have the same ids, but different targets.

    Beyond the share `allowed` of a task's problems a comparison means nothing.
    """
    return {
        task: (
            Finding(
                "different-targets",
                "invalid" if different.unlike > allowed * different.problems else "weak",
                f"{different}: if they are different problems, pairing them is wrong",
                numbers={"unlike": different.unlike, "problems": different.problems},
            ),
        )
        for task, different in _different_targets(readings, tasks).items()
    }


def scale_remarks(models: Mapping[str | None, Mapping[str, Outcomes]]) -> list[Remark]:
    """Return remarks on tasks where only some models have all their scores between 0 and 1."""
    remarks = []
    for task, of_task in models.items():
        beyond = [name for name, outcomes in of_task.items() if not outcomes.is_share]
        if 0 < len(beyond) < len(of_task):
            text = (
                f"scores of {' and '.join(beyond)} go beyond 0 to 1, and those of the others do "
                "not; on different scales a difference means nothing"
            )
            remarks.append(Remark((f"{task}: " if task else "") + text, important=True))
    return remarks
