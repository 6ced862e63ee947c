"""The adaptive schedule: the next items of a bank, chosen from the answers that are on disk."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from passband.adaptive import AdaptiveTask, AdaptiveTest, Choice, most_items
from passband.run.schedule.blocks import Block, missing_blocks
from passband.run.task_run import TaskRun
from passband.trials import TrialRow


class AdaptiveSchedule:
    """Asks what an adaptive test chooses, every trial of a batch before the next batch.

    The rows decide all: those of an earlier process are replayed, and lead to where it was.
    """

    def __init__(
        self, test: AdaptiveTest, scorer: int | None, size: int, rows: Iterable[TrialRow]
    ) -> None:
        self.test, self._scorer, self._size = test, scorer, size
        self._trials = test.design.trials
        self._scores: dict[int, dict[int, float | None]] = {}
        self._blocks: deque[Block] = deque()
        self._number = 0  # of items chosen
        self._note(rows)
        self._go_on()

    def next(self) -> Block | None:
        """Return the next block; None while a batch is incomplete, or the test is over."""
        return self._blocks.popleft() if self._blocks else None

    @property
    def is_finished(self) -> bool:
        return self.test.stop is not None and not self._blocks

    def committed(self, rows: Sequence[TrialRow]) -> None:
        """Take note of scores; once a batch is complete, choose the next."""
        self._note(rows)
        self._go_on()

    def _note(self, rows: Iterable[TrialRow]) -> None:
        for row in rows:
            values = [score.value for score in row.scores if score.scorer == self._scorer]
            self._scores.setdefault(row.problem, {})[row.trial] = values[0] if values else None

    def _go_on(self) -> None:
        """Answer what is complete, and choose what comes next, until something is missing."""
        while True:
            self._answer()
            if self.test.outstanding:
                return
            choices = self.test.next()
            if not choices:
                return
            for choice in choices:
                self._ask(choice)

    def _answer(self) -> None:
        for choice in self.test.outstanding:
            seen = self._scores.get(self.test.bank.position[choice.key], {})
            if len(seen) >= self._trials:
                scores = [score for _, score in sorted(seen.items()) if score is not None]
                self.test.answer(choice.key, scores or None, self._trials)

    def _ask(self, choice: Choice) -> None:
        """Queue the trials of an item that no row records."""
        self._number += 1
        position = self.test.bank.position[choice.key]
        recorded = sum(1 << trial for trial in self._scores.get(position, ()))
        reason = f"item {self._number}: {choice.reason}"
        for block in missing_blocks((0,), self._trials, {0: recorded}, self._size):
            self._blocks.append(Block(position, block.trials, reason))


def most_trials(run: TaskRun) -> int:
    """Return how many trials an adaptive test asks at most."""
    assert isinstance(run.task, AdaptiveTask)
    design = run.task.design
    return most_items(design, len(run.task.bank.items)) * design.trials


def adaptive_schedule(run: TaskRun, size: int, rows: Iterable[TrialRow]) -> AdaptiveSchedule:
    """Return the schedule of an adaptive task; its path is seeded as its trials are."""
    task = run.task
    assert isinstance(task, AdaptiveTask)
    test = AdaptiveTest(task.bank, task.design, run.seed or "")
    schedule = AdaptiveSchedule(test, run.counters.main, size, rows)
    run.counters.planned = most_trials(run)
    run.counters.is_chosen = True
    return schedule
