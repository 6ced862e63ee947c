"""One task's part in a run: its problems, its scorers, where its rows go, and how far it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from passband.generate.provider import Sampling
from passband.run.counters import Counters
from passband.run.grade import Grader
from passband.tasks.task import Problem, Task

__all__ = ["TaskRun"]


@dataclass(frozen=True, eq=False)
class TaskRun:
    """A task that is being run."""

    task: Task
    number: int  # of its run in the store
    problems: Sequence[Problem]
    sampling: Sampling
    seed: str | None  # what its trials' seeds are derived from
    n: int
    grader: Grader
    counters: Counters
    retries_failed: bool = False  # whether failed trials are asked again, and then replaced
    recorded: Mapping[int, int] = field(default_factory=dict)  # trials there before, as bits
    attempts: Mapping[tuple[int, int], int] = field(default_factory=dict)  # failed before
    numbers: Sequence[int] = ()  # of its problems in the store

    @cached_property
    def is_in_order(self) -> bool:
        """Whether problems are numbered in the store as they are here."""
        return list(self.numbers) == list(range(len(self.problems)))

    @cached_property
    def quick(self) -> Grader:
        """The scorers that take no time worth mentioning."""
        return self.grader.quick()

    @cached_property
    def slow(self) -> Grader:
        """The scorers that must not hold up the run."""
        return self.grader.slow()
