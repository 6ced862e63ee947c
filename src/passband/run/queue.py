"""Who is asked next: the questions of every task, and those that have to be asked again singly."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice

from passband.generate.provider import Request
from passband.run.ask import PendingBatch
from passband.run.blocks import Block, missing_blocks, trial_seed
from passband.run.task_run import TaskRun

__all__ = ["Queue"]

_AHEAD = 64  # questions made in one go: among requests, each would take several times as long


class Queue:
    """Questions, task after task; each is handed out once."""

    def __init__(self, parts: Sequence[TaskRun], batch: int) -> None:
        self._batch = batch
        self._next: deque[tuple[TaskRun, PendingBatch]] = deque()
        self._blocks = _blocks(parts, batch)

    @property
    def batch(self) -> int:
        return self._batch

    def take(self) -> tuple[TaskRun, PendingBatch] | None:
        """Return the next question, or None if there is none now."""
        if not self._next:
            self._next.extend((p, _question(p, b)) for p, b in islice(self._blocks, _AHEAD))
            if not self._next:
                return None
        part, question = self._next.popleft()
        if len(question.trials) <= self._batch or len(question.trials) == 1:
            return part, question
        self.put_back(part, question.problem, question.trials)
        return self._next.popleft()

    def ask_singly(self) -> None:
        """Ask for one completion at a time from now on."""
        self._batch = 1

    def put_back(self, part: TaskRun, problem: int, trials: Sequence[int]) -> None:
        """Ask for these trials next, one by one."""
        blocks = [Block(problem, range(trial, trial + 1)) for trial in trials]
        self._next.extendleft((part, _question(part, block)) for block in reversed(blocks))


def _blocks(parts: Sequence[TaskRun], size: int) -> Iterator[tuple[TaskRun, Block]]:
    for part in parts:
        for block in missing_blocks(len(part.problems), part.n, part.recorded, size):
            yield part, block


def _question(part: TaskRun, block: Block) -> PendingBatch:
    problem = part.problems[block.problem]
    seeds: tuple[int | None, ...] = (None,) * len(block.trials)
    if part.seed is not None:
        named = part.seed, part.task.name, problem.key
        seeds = tuple([trial_seed(*named, trial) for trial in block.trials])
    return PendingBatch(
        problem=block.problem,
        trials=block.trials,
        request=Request(problem.messages, part.sampling, seeds),
        attempts=part.attempts.get((block.problem, block.trials[0]), 0),
    )
