"""Who is asked next: the blocks of every task, and those that have to be asked again singly."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence

from passband.run.blocks import Block, missing_blocks
from passband.run.part import Part

__all__ = ["Queue"]


class Queue:
    """Blocks, task after task; a block is handed out once."""

    def __init__(self, parts: Sequence[Part], batch: int) -> None:
        self._batch = batch
        self._again: deque[tuple[Part, Block]] = deque()
        self._fresh = self._blocks(parts)

    @property
    def batch(self) -> int:
        return self._batch

    def take(self) -> tuple[Part, Block] | None:
        """Return the next block, or None if there is none now."""
        if self._again:
            return self._again.popleft()
        found = next(self._fresh, None)
        if found is None or len(found[1].trials) <= self._batch:
            return found
        part, block = found
        self.put_back(part, block.problem, block.trials)
        return self._again.popleft()

    def ask_singly(self) -> None:
        """Ask for one completion at a time from now on."""
        self._batch = 1

    def put_back(self, part: Part, problem: int, trials: Sequence[int]) -> None:
        """Ask for these trials again, one by one."""
        self._again += [(part, Block(problem, range(trial, trial + 1))) for trial in trials]

    def _blocks(self, parts: Sequence[Part]) -> Iterator[tuple[Part, Block]]:
        size = self._batch
        for part in parts:
            for block in missing_blocks(len(part.problems), part.n, part.recorded, size):
                yield part, block
