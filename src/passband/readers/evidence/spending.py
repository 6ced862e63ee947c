"""Cost, tokens and time of the trials of a stored run, read when a metric asks for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from passband.readers.groups import Remark
from passband.stats.data import SpentColumn, SpentTrials
from passband.trials import RunRecord, Trials


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


def cost_remarks(trials: Trials, runs: Iterable[RunRecord]) -> Iterator[Remark]:
    """Yield a remark on what the trials of each task and model cost, where that is recorded."""
    parts = []
    for run in runs:
        if trials.is_priced(run.number):
            lacking = trials.costs(run.number).unpriced
            without = f" without {lacking:,} of its answers, whose cost is unknown" * bool(lacking)
            source = run.config.get("price", {}).get("source")
            where = f" (prices of {source})" if source else ""
            parts.append(
                f"{run.task} by {run.label} {trials.cost(run.number):.12g}{without}{where}"
            )
    if parts:
        yield Remark(f"cost: {', '.join(parts)}")
