"""Iterate over the trials of a run with their problems and failures; count what a format loses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from passband.trials import ProblemRecord, RunRecord, ScoreRow, TrialRow, Trials


class Losses:
    """Counts trials and scores that a format cannot hold."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def add(self, sentence: str, count: int = 1) -> None:
        """Count one more loss; `{}` in the sentence becomes the number."""
        self._counts[sentence] += count

    def lines(self) -> list[str]:
        """Return the sentences with their numbers.

        >>> losses = Losses()
        >>> losses.add("{} trials refused", 2)
        >>> losses.lines()
        ['2 trials refused']
        """
        return [sentence.format(count) for sentence, count in self._counts.items() if count]


class TrialOf(NamedTuple):
    """A trial, its problem, its scores by the names of scorers, and the message of an error."""

    problem: ProblemRecord
    row: TrialRow
    scores: dict[str, ScoreRow]
    error: str | None


@dataclass(frozen=True)
class RunRows:
    """One run of an open trials table."""

    trials: Trials
    run: RunRecord

    @cached_property
    def problems(self) -> list[ProblemRecord]:
        """The problems in the order of the data."""
        return list(self.trials.problems(self.run.number))

    def __iter__(self) -> Iterator[TrialOf]:
        names = {scorer.number: scorer.name for scorer in self.run.scorers}
        problems = {problem.number: problem for problem in self.problems}
        messages = {
            (row.problem, row.trial): row.detail
            for row in self.trials.attempt_rows(self.run.number)
        }
        for row in self.trials.trials(self.run):
            scores = {names[score.scorer]: score for score in row.scores}
            error = messages.get((row.problem, row.trial))
            yield TrialOf(problems[row.problem], row, scores, error)


def clean(value: Any) -> Any:
    """Return a JSON value without half characters and zero bytes, which other tools cannot read.

    >>> clean(["a\\ud800", {"b": "\\0"}])
    ['a\\\\ud800', {'b': '\\\\x00'}]
    """
    if isinstance(value, str):
        text = value.replace("\0", "\\x00")
        return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, (list, tuple)):
        return [clean(part) for part in value]
    if isinstance(value, dict):
        return {clean(str(name)): clean(part) for name, part in value.items()}
    return value
