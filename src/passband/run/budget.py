"""Money: what tokens cost, and when to stop asking."""

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


class NoTokenCounts(PassbandError):
    """The server does not say how many tokens it took, so that no limit can be kept."""


class Budget:
    """What has been spent on all tasks of a run, and whether more may be."""

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
        self._cost = self._dearest = 0.0
        self._drawn = 0
        self._is_counted = True

    def spent(self, parts: Sequence[TaskRun]) -> float | None:
        """Return the cost of what is recorded; None if there is no price."""
        if self.price is None:
            return None
        return sum(
            self.price.of(part.counters.prompt_tokens, part.counters.completion_tokens)
            for part in parts
        )

    def begin(self, parts: Sequence[TaskRun]) -> None:
        """Take over what is recorded already."""
        self._cost = self.spent(parts) or 0.0
        failed = sum(p.counters.statuses[s] for p in parts for s in ("refused", *FAILED))
        self._drawn = sum(part.counters.done for part in parts) - failed

    def add(self, rows: Sequence[TrialRow]) -> None:
        """Count what has come, which is some time before it is recorded."""
        if self.price is None:
            return
        for row in rows:
            taken, given = row.prompt_tokens, row.completion_tokens
            cost = self.price.of(taken or 0, given or 0)
            self._cost += cost
            self._dearest = max(self._dearest, cost)
            self._drawn += cost > 0  # what failed or was refused tells nothing of the price
            if row.status == "ok" and taken is None and given is None:
                self._is_counted = False

    def verdict(self, under_way: int, wanted: int) -> Verdict:
        """Tell whether so many more trials may be asked for, while others are under way.

        Every trial that has not come back yet counts as much as the dearest so far. Where that
        does not fit, those under way are waited for; where it still does not, that was all.
        Before anything is known of the price of an answer, one request goes alone.
        """
        if self.limit is None or self.price == Price(0.0, 0.0):
            return "go"
        if not self._is_counted:
            raise NoTokenCounts(
                "the server does not say how many tokens an answer took, so --max-cost cannot be "
                "kept. Nothing more is asked."
            )
        if not self._drawn:
            return "wait" if under_way else "go"
        each = max(self._dearest, self._cost / self._drawn)
        if self._cost + (under_way + wanted) * each <= self.limit:
            return "go"
        return "wait" if under_way else "stop"


def price_files() -> list[Path]:
    """Return where prices are looked for, the first found first."""
    home = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    given = os.environ.get("PASSBAND_PRICES")
    return [Path(given)] if given else [Path("prices.yaml"), home / "passband" / "prices.yaml"]


def find_price(model: str, file: Path | None = None) -> Price | None:
    """Return the price of a model; None if no file has one. What runs here costs nothing."""
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
    import yaml

    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
        return {
            str(name): Price(float(entry["prompt"]), float(entry["completion"]))
            for name, entry in found.items()
        }
    except OSError as error:
        raise InvalidInput(f"{path}: {error.strerror}.") from None
    except (yaml.YAMLError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise InvalidInput(
            f"{path}: a price is NAME: {{prompt: 0.15, completion: 0.60}}, per million tokens; "
            f"got {type(error).__name__}: {error}."
        ) from None
