"""Prices for trials that are recorded already, as `passband score --prices` gives them."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from passband.errors import InvalidInput
from passband.run.budget import find_price
from passband.run.counters import Price
from passband.trials.reader import RunRecord, Trials
from passband.trials.store import Store

__all__ = ["PricedRun", "price_run"]


@dataclass(frozen=True)
class PricedRun:
    """What the trials of one task and model cost."""

    task: str
    model: str
    added: int  #: trials that got their cost now
    unpriced: int  #: answers that still have none, as their tokens were not counted
    cost: float

    def row(self) -> dict[str, str | int | float]:
        """Return it as a row of a table."""
        return {
            "task": self.task,
            "model": self.model,
            "cost": self.cost,
            "priced": self.added,
            "without a cost": self.unpriced,
        }


def price_run(
    directory: Path, file: Path | None = None, price: Price | None = None
) -> list[PricedRun]:
    """Give the trials of a run directory that have no cost the one of their tokens.

    Costs that are recorded stay. A price is for one model; a file must have one for each.
    """
    with Trials(directory) as trials:
        runs = trials.runs()
    if not runs:
        raise InvalidInput(f"{directory} holds no trials yet.")
    models = list(dict.fromkeys(run.model for run in runs))
    if price is not None and (file is not None or len(models) > 1):
        raise InvalidInput(
            f"--price is for one model, without --prices; {directory} holds {', '.join(models)}."
        )
    prices = {model: price or _found(model, file) for model in models}
    with closing(Store(directory)) as store:
        added = [store.price_trials(run.number, prices[run.model].of) for run in runs]
    with Trials(directory) as trials:
        return [_priced(trials, run, count) for run, count in zip(runs, added, strict=True)]


def _found(model: str, file: Path | None) -> Price:
    price = find_price(model, file)
    if price is None or not price.is_stated:
        raise InvalidInput(f"{file} has no price for {model!r}.")
    return price


def _priced(trials: Trials, run: RunRecord, added: int) -> PricedRun:
    costs = trials.costs(run.number)
    return PricedRun(run.task, run.label, added, costs.unpriced, trials.cost(run.number))
