"""The answers of another run, that a pairwise judge compares with."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from passband.errors import InvalidInput
from passband.trials import RunRecord, Trials, is_run_directory


class OtherRun:
    """Answers of another run by problem and trial, read when the first is needed."""

    def __init__(self, directory: str, task: str) -> None:
        self._directory, self._task = Path(directory), task
        self._run = self._find()

    def __call__(self, problem: str, trial: int) -> str | None:
        return self._answers.get((problem, trial))

    def _find(self) -> RunRecord:
        """Return the one run of the task there; refuse none and several."""
        if not is_run_directory(self._directory):
            raise InvalidInput(f"--against: {self._directory} is no run directory.")
        with Trials(self._directory) as trials:
            runs = [run for run in trials.runs() if run.task == self._task]
        if len(runs) != 1:
            number = len(runs) or "no"
            raise InvalidInput(
                f"--against: {self._directory} has {number} runs of {self._task}; it takes one."
            )
        return runs[0]

    @cached_property
    def _answers(self) -> dict[tuple[str, int], str]:
        with Trials(self._directory) as trials:
            keys = {record.number: record.key for record in trials.problems(self._run.number)}
            return {
                (keys[row.problem], row.trial): row.text
                for row in trials.trials(self._run)
                if row.status == "ok" and row.text is not None
            }
