"""Decide which block of trials is requested next, from the rows that are committed.

"Every problem n times" is one schedule; adaptive selection, allocation by variance and sequential
stopping are others. A schedule sees only rows that are on disk, with all their scores, so that a
resumed run decides from what an uninterrupted one had decided from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from passband.run.schedule.blocks import Block, has_missing, missing_blocks
from passband.run.task_run import TaskRun
from passband.trials import TrialRow


class Schedule(Protocol):
    """The order in which the trials of one task are requested, and when there are enough.

    A trial may be chosen once. What it was chosen for is up to the schedule; if the choice has a
    reason, the block carries it, and it is stored with the trial.
    """

    def next(self) -> Block | None:
        """Return the next block, or None: finished, or waiting for a commit."""
        ...

    @property
    def is_finished(self) -> bool:
        """Whether `next` will return no further block, whatever is committed."""
        ...

    def committed(self, rows: Sequence[TrialRow]) -> None:
        """Take note of rows that are on disk, failed ones included."""
        ...


ScheduleFactory = Callable[[TaskRun, int, Iterable[TrialRow]], Schedule]
"""Makes the schedule of a task: its run, the most trials of a block, and the recorded rows.

Recorded rows are read as the factory iterates over them; those that are to be replaced
(`--retry-failed`) are not among them. A factory that knows how many trials it will ask for sets
`counters.planned` of the task's run.
"""


class EveryProblem:
    """Ask problems n times in the order given, every problem's first trials first.

    >>> schedule = EveryProblem([1, 0], 2, {0: 0b01}, 1)
    >>> while (block := schedule.next()) is not None:
    ...     print(block.problem, list(block.trials), schedule.is_finished)
    1 [0] False
    1 [1] False
    0 [1] True
    """

    def __init__(
        self, problems: Sequence[int], n: int, recorded: Mapping[int, int], size: int
    ) -> None:
        self._blocks = missing_blocks(problems, n, recorded, size)
        self._upcoming = next(self._blocks, None)

    def next(self) -> Block | None:
        """Return the next block that is missing."""
        block, self._upcoming = self._upcoming, next(self._blocks, None)
        return block

    @property
    def is_finished(self) -> bool:
        return self._upcoming is None

    def committed(self, rows: Sequence[TrialRow]) -> None:
        """Do nothing: which trials are missing does not depend on answers."""


def every_problem(run: TaskRun, size: int, rows: Iterable[TrialRow]) -> Schedule:
    """Return the schedule "every problem n times", or a shard's part of it."""
    is_asking = has_missing(len(run.problems), run.n, run.taken)
    return EveryProblem(run.order if is_asking else (), run.n, run.taken, size)


def nothing_more(run: TaskRun, size: int, rows: Iterable[TrialRow]) -> Schedule:
    """Return a schedule that asks for nothing."""
    return EveryProblem((), 0, {}, size)
