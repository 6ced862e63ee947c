"""Prices for trials that are recorded already, as `passband score --prices` gives them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput
from passband.run.budget import find_price
from passband.run.task_run import Price
from passband.trials import RunRecord, Store, Trials

PRICE = "price"  # an entry of a run's config


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
    prices = {run.model: price or _found(run, file) for run in runs}
    with closing(Store(directory)) as store:
        added = [store.price_trials(run.number, prices[run.model].of) for run in runs]
        for run in runs:
            record_price(store, run.number, run.config, prices[run.model])
    with Trials(directory) as trials:
        return [_priced(trials, run, count) for run, count in zip(runs, added, strict=True)]


def record_price(store: Store, number: int, config: Mapping[str, Any], price: Price) -> None:
    """Record the source of a price with a run, where it is not from the caller."""
    if price.source:
        entry = {"input": price.prompt, "output": price.completion, "source": price.source}
        store.set_config(number, {**config, PRICE: entry})


def _found(run: RunRecord, file: Path | None) -> Price:
    price = find_price(run.model, file, run.addresses)
    if price is None or not price.is_stated:
        raise InvalidInput(f"{file} has no price for {run.model!r}.")
    return price


def _priced(trials: Trials, run: RunRecord, added: int) -> PricedRun:
    costs = trials.costs(run.number)
    return PricedRun(run.task, run.label, added, costs.unpriced, trials.cost(run.number))
