"""The cost of a run: prices of models, and when to stop requesting."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from passband.errors import InvalidInput, PassbandError, nearest
from passband.generate.providers import is_local
from passband.run.counters import Price
from passband.run.task_run import TaskRun
from passband.trials.rows import FAILED, TrialRow

__all__ = ["Budget", "NoTokenCounts", "Verdict", "find_price", "price_files"]

Verdict = Literal["go", "wait", "stop"]

_FORM = "a price is NAME: {prompt: 0.15, completion: 0.60}, per million tokens"


class NoTokenCounts(PassbandError):
    """The server reports no token counts, so --max-cost cannot be kept."""


class Budget:
    """The cost of all tasks of a run so far, and whether there is room for more."""

    def __init__(self, price: Price | None, limit: float | None) -> None:
        if limit is not None and not limit > 0:
            raise InvalidInput(f"--max-cost must be more than 0; got {limit:g}.")
        if limit is not None and price is None:
            places = " or ".join(map(str, price_files()))
            raise InvalidInput(
                f"--max-cost needs the price of the model. Put it into {places} (or into --prices "
                f"FILE) as NAME: {{prompt: 0.15, completion: 0.60}}, per million tokens."
            )
        self.price = price
        self.limit = limit
        self._cost = self._most = 0.0  # in total, and of one trial at most
        self._drawn = 0
        self._is_counted = True

    def spent(self, task_runs: Sequence[TaskRun]) -> float | None:
        """Return the cost of the recorded trials; None if some of it needs a price."""
        costs = [run.counters.cost(self.price) for run in task_runs]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if len(known) == len(costs) else None

    def begin(self, task_runs: Sequence[TaskRun]) -> None:
        """Start from the trials that are recorded already."""
        self._cost = self.spent(task_runs) or 0.0
        failed = sum(run.counters.statuses[s] for run in task_runs for s in ("refused", *FAILED))
        self._drawn = sum(run.counters.done for run in task_runs) - failed

    def add(self, rows: Sequence[TrialRow]) -> None:
        """Count rows as they come, which is some time before they are recorded."""
        if self.price is None:
            return
        for row in rows:
            prompt, completion = row.prompt_tokens, row.completion_tokens
            cost = self.price.of(prompt or 0, completion or 0) if row.cost is None else row.cost
            self._cost += cost
            self._most = max(self._most, cost)
            self._drawn += cost > 0  # a failed or refused trial tells nothing of the price
            if row.status == "ok" and row.cost is prompt is completion is None:
                self._is_counted = False

    def verdict(self, under_way: int, wanted: int) -> Verdict:
        """Decide whether `wanted` more trials fit the budget, given those in flight.

        Every trial in flight counts as much as the most expensive so far. Where that does not
        fit, the worker waits for those in flight; where it still does not fit, it stops. Before
        the cost of any answer is known, one request goes alone.
        """
        if self.limit is None or (self.price == Price(0.0, 0.0) and not self._cost):
            return "go"
        if not self._is_counted:
            raise NoTokenCounts(
                "the server does not say how many tokens an answer took, so --max-cost cannot be "
                "kept. No further request is sent."
            )
        if not self._drawn:
            return "wait" if under_way else "go"
        trial = max(self._most, self._cost / self._drawn)
        if self._cost + (under_way + wanted) * trial <= self.limit:
            return "go"
        return "wait" if under_way else "stop"


def price_files() -> list[Path]:
    """Return the files that prices are read from, in the order of search."""
    home = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    file = os.environ.get("PASSBAND_PRICES")
    return [Path(file)] if file else [Path("prices.yaml"), home / "passband" / "prices.yaml"]


def find_price(model: str, file: Path | None = None) -> Price | None:
    """Return the price of a model; None if no file has one. Models in this process are free."""
    name = model.partition(":")[2]
    if is_local(model):
        return Price(0.0, 0.0)
    for path in [file] if file else price_files():
        if file is None and not path.is_file():
            continue
        prices = _read(path)
        for known in (model, name, model.rpartition("/")[2]):
            if known and known in prices:
                return prices[known]
        if file is not None:
            raise InvalidInput(f"{file} has no price for {name or model!r}.{nearest(name, prices)}")
    return None


def _read(path: Path) -> dict[str, Price]:
    from passband.tasks.yaml_file import read_yaml

    if path.is_file() and path.stat().st_size == 0:
        return {}
    file = read_yaml(path)
    if file.diagnostics:
        raise InvalidInput(f"{path}: {file.diagnostics[0].message.rstrip('.')}; {_FORM}.")
    try:
        return {
            name: Price(float(entry["prompt"]), float(entry["completion"]))
            for name, entry in file.values.items()
        }
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
        raise InvalidInput(f"{path}: {_FORM}; got {type(error).__name__}: {error}.") from None
