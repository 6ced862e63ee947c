"""The first problems of a task, where a share of them is asked for."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from passband.generate.problem import Problem
from passband.tasks.task import Task

__all__ = ["FirstProblems", "first_share"]


@dataclass(frozen=True)
class FirstProblems:
    """Loads the first problems of a task, and never more than a number of them."""

    load: Callable[[int | None], Sequence[Problem]]
    number: int

    def __call__(self, limit: int | None = None) -> Sequence[Problem]:
        return self.load(self.number if limit is None else min(limit, self.number))


def first_share(task: Task, share: float) -> Task:
    """Return a task of the first problems, so many that they are at least a share of all."""
    number = math.ceil(len(task.load(None)) * share)
    return replace(task, load=FirstProblems(task.load, number))
