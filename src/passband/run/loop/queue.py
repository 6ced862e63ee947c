"""Hand out batches from every task's schedule, and single trials to request again."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice

from passband.log import event
from passband.run.loop.attempts import PendingBatch
from passband.run.schedule.blocks import Block, trial_seed
from passband.run.schedule.schedule import Schedule
from passband.run.task_run import TaskRun
from passband.trials import TrialRow

_AHEAD = 64  # batches made in one go: among requests, each would take several times as long


class Queue:
    """Batches of trials, task after task; each is handed out once."""

    def __init__(self, schedules: Sequence[tuple[TaskRun, Schedule]]) -> None:
        self._schedules = dict(schedules)
        self._batch = {run: run.batch for run in self._schedules}
        self._next: deque[tuple[TaskRun, PendingBatch]] = deque()

    @property
    def batch(self) -> int:
        """Completions that one request asks for, at most."""
        return max(self._batch.values(), default=1)

    @property
    def wanted(self) -> int:
        """Completions that the next batch asks for; 0 if there is none now."""
        if not self._next:
            blocks = islice(_blocks(self._schedules), _AHEAD)
            self._next.extend((run, self._made(run, block)) for run, block in blocks)
        if not self._next:
            return 0
        run, batch = self._next[0]
        size = len(batch.trials)
        return size if size <= self._batch[run] else 1

    @property
    def is_finished(self) -> bool:
        """Whether there is nothing to hand out, now or after any commit."""
        return not self._next and all(s.is_finished for s in self._schedules.values())

    @property
    def waiting(self) -> list[str]:
        """Names of the tasks whose schedules are not finished."""
        return [run.task.name for run, s in self._schedules.items() if not s.is_finished]

    def take(self) -> tuple[TaskRun, PendingBatch] | None:
        """Return the next batch, or None if there is none now."""
        if (wanted := self.wanted) == 0:
            return None
        run, batch = self._next.popleft()
        if len(batch.trials) == wanted:
            return run, batch
        self.put_back(run, batch, batch.trials)
        return self._next.popleft()

    def ask_one_by_one(self, run: TaskRun) -> None:
        """Request one completion at a time from now on, also for other tasks of the subject."""
        self._batch |= {other: 1 for other in self._batch if other.subject is run.subject}

    def is_exhausted(self, run: TaskRun) -> bool:
        """Return whether there is nothing to hand out of a task, now or after any commit."""
        return self._schedules[run].is_finished and all(run is not other for other, _ in self._next)

    def put_back(self, run: TaskRun, batch: PendingBatch, trials: Sequence[int]) -> None:
        """Hand out these trials of a batch next, one by one; its first keeps its attempts."""
        blocks = [Block(batch.problem, range(t, t + 1), batch.reason) for t in trials]
        singles = [self._made(run, block) for block in blocks]
        if singles and singles[0].trials[0] == batch.trials[0]:  # whose attempts the batch has
            singles[0].attempts, singles[0].limited = batch.attempts, batch.limited
        self._next.extendleft((run, single) for single in reversed(singles))

    def committed(self, run: TaskRun, rows: Sequence[TrialRow]) -> None:
        """Pass rows that are on disk to the task's schedule."""
        self._schedules[run].committed(rows)

    def _made(self, run: TaskRun, block: Block) -> PendingBatch:
        problem, trials = run.problems[block.problem], block.trials
        seeds: list[int | None] = [None] * len(trials)
        if run.seed is not None:
            place = run.seed, run.task.name, problem.key
            for index, trial in enumerate(trials[:1] if run.has_one_seed else trials):
                seeds[index] = trial_seed(*place, trial)
        first = block.problem, trials[0]
        event(
            "block",
            task=run.task.name,
            problem=block.problem,
            trial=trials[0],
            n=len(trials),
            reason=block.reason,
        )
        return PendingBatch(
            block.problem,
            trials,
            problem,
            run.sampling,
            tuple(seeds),
            block.reason,
            run.attempts.get(first, 0),
            limited=run.turned_away.get(first, 0),
        )


def _blocks(schedules: dict[TaskRun, Schedule]) -> Iterator[tuple[TaskRun, Block]]:
    for run, schedule in schedules.items():
        while (block := schedule.next()) is not None:
            yield run, block
