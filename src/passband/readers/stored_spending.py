"""What the trials of a stored run took, read from its rows when a metric asks for it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from passband.stats.data.spending import SpentColumn, SpentTrials
from passband.trials.reader import Trials

__all__ = ["StoredSpending"]


@dataclass(frozen=True)
class StoredSpending:
    """The cost, tokens and seconds of a run's trials; the store is opened again for them."""

    directory: Path
    run: int
    first: int | None = None  #: so many first trials of each problem

    def of(self, column: SpentColumn) -> SpentTrials:
        """Return a column, by problem."""
        with Trials(self.directory, trusted=True) as trials:
            keys = {number: key for key, number in trials.numbers(self.run).items()}
            taken: SpentTrials = {}
            for problem, trial, value in trials.taken(self.run, column):
                if self.first is None or trial < self.first:
                    taken.setdefault(keys[problem], []).append(value)
        return taken
