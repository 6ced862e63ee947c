"""The first scores of a run: it stops early where the scorers of a task fail on every answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from passband.errors import PassbandError
from passband.run.task_run import TaskRun
from passband.score import JudgeScorer, NeedsWorker, Scorer, quickly
from passband.trials import TrialRow

_FAILURES = ("error", "timeout", "no_verdict")


class ScorersFailed(PassbandError):
    """The scorers of a task fail on every answer, so that asking on would be for nothing."""


@dataclass
class _Unscored:
    """The answers of a task that no scorer could score, before any that one could."""

    count: int = 0
    first: str | None = None  # what went wrong


def _fails(run: TaskRun, row: TrialRow) -> bool:
    """Return whether the quick scorers all fail on a row."""
    try:
        scores = quickly(run.quick.grade, row)
    except NeedsWorker:
        return False
    return bool(scores) and all(score.status in _FAILURES for score in scores)


def _is_doubtful(scorer: Scorer) -> bool:
    return isinstance(scorer, JudgeScorer) or scorer.spec is None


class FirstScores:
    """Looks at the answers of tasks until one is scored, or too many are not."""

    def __init__(self, runs: Sequence[TaskRun], directory: Path, most: int) -> None:
        self._directory = directory
        self._most = most
        self._unscored = {run: _Unscored() for run in runs if not run.counters.has_scores}
        self.is_doubtful = False  # whether the first answers may all be such that none is scored

    def suspect(self, run: TaskRun, rows: Sequence[TrialRow]) -> None:
        """Look at the first rows before they are recorded: one request may do to see a failure.

        Scorers that may take their time, and are the task's own code or a judge, are doubtful by
        themselves.
        """
        if run in self._unscored and not self._unscored[run].count:
            is_slow = any(_is_doubtful(scorer) for _, scorer in run.slow.scorers)
            self.is_doubtful = is_slow or any(map(partial(_fails, run), rows[:1]))

    def wait_no_longer(self) -> None:
        """Go on where scoring takes its time and nothing has failed."""
        self.is_doubtful = any(unscored.count for unscored in self._unscored.values())

    def look(self, run: TaskRun, rows: Sequence[TrialRow]) -> ScorersFailed | None:
        """Look at rows with all their scores; return the error that ends the run, if it is time."""
        unscored = self._unscored.get(run)
        if unscored is None:
            return None
        for row in rows:
            if any(score.status not in _FAILURES for score in row.scores):
                del self._unscored[run]
                self.wait_no_longer()
                return None
            if row.scores:  # else there was no answer to score
                unscored.count += 1
                unscored.first = unscored.first or row.scores[0].detail
        return self._error(run, unscored) if unscored.count >= self._most else None

    def _error(self, run: TaskRun, unscored: _Unscored) -> ScorersFailed:
        names = ", ".join(scorer.name for _, scorer in run.grader.scorers) or "the model itself"
        first = f" The first: {unscored.first.rstrip('.')}." if unscored.first else ""
        where = self._directory
        return ScorersFailed(
            f"{run.task.name}: scoring by {names} failed on all of the first {unscored.count} "
            f"answers, so no more are asked.{first} The answers are kept in {where}; "
            f"passband score {where} --scorer NAME scores them by another scorer."
        )
