"""The cost of a run: prices of models, and when to stop requesting."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from passband.errors import InvalidInput, PassbandError, nearest
from passband.generate import is_local
from passband.run.genai_prices import GENAI, genai_price
from passband.run.task_run import Price, TaskRun, fits
from passband.trials import FAILED, CallRow, CallTotals, TrialRow

Verdict = Literal["go", "wait", "stop"]
_FREE = Price(0.0, 0.0)

_FORM = "a price is {input: 0.15, output: 0.60}, per million tokens"
_KEYS = (("prompt", "completion"), ("input", "output"))


class NoTokenCounts(PassbandError):
    """The server reports no token counts, so --max-cost cannot be kept."""


@dataclass
class CallCosts:
    """The cost of a judge's calls so far."""

    price: Price | None
    per_trial: int = 1  # calls that a trial takes
    cost: float = 0.0
    most: float = 0.0  # of one call
    replies: int = 0
    unpriced: int = 0  # replies that cost nobody knows what
    is_counted: bool = True

    def begin(self, totals: CallTotals, unpriced: Iterable[CallRow] = ()) -> None:
        """Start from the calls that are recorded already; those without a cost get today's."""
        costs = [self.price_of(row) for row in unpriced]
        self.cost += totals.cost + sum(cost for cost in costs if cost is not None)
        self.unpriced += sum(cost is None for cost in costs)
        self.replies += totals.calls - totals.failed - totals.cached

    def add(self, row: TrialRow) -> None:
        """Count a reply as it comes."""
        cost = self.price_of(row)
        self.cost += cost or 0.0
        self.most = max(self.most, cost or 0.0)
        self.replies += row.text is not None
        self.unpriced += cost is None and row.text is not None
        if row.status == "ok" and row.cost is row.prompt_tokens is row.completion_tokens is None:
            self.is_counted = False

    def price_of(self, row: TrialRow | CallRow) -> float | None:
        """Return what a reply cost; None where neither server nor price and tokens say it."""
        prompt, completion = row.prompt_tokens, row.completion_tokens
        if row.cost is not None or self.price is None:
            return row.cost
        if prompt is completion is None and self.price != _FREE:
            return None
        return self.price.of(prompt or 0, completion or 0)

    @property
    def is_free(self) -> bool:
        """Whether its calls cost nothing."""
        return self.price == _FREE and not self.cost

    @property
    def is_known(self) -> bool:
        """Whether the cost is all that was spent."""
        return not self.unpriced

    @property
    def next(self) -> float:
        """The cost of one more call: the most that one has cost so far."""
        return max(self.most, self.cost / self.replies if self.replies else 0.0)


class Budget:
    """The cost of all tasks of a run so far, and whether there is room for more.

    The limit of a shard that `may_grow` is a lease, 0 at first: where it is spent, the shard waits
    for the next one instead of stopping.
    """

    def __init__(self, price: Price | None, limit: float | None, *, may_grow: bool = False) -> None:
        if limit is not None and not (limit > 0 or may_grow):
            raise InvalidInput(f"--max-cost must be more than 0; got {limit:g}.")
        if limit is not None and price is None:
            places = " or ".join(map(str, price_files()))
            raise InvalidInput(
                f"--max-cost needs the price of the model. Put it into {places} (or into --prices "
                f"FILE) as NAME: {{input: 0.15, output: 0.60}}, per million tokens, or give it as "
                f"--price 0.15,0.60."
            )
        self.price = price
        self.limit = limit
        self.may_grow = may_grow
        self.wanted = 0.0  # what a new lease has to add for the next request; 0 if it fits
        self.judges: list[CallCosts] = []
        self._cost = self._most = 0.0  # in total, and of one trial at most
        self._known = 0.0  # what a trial costs elsewhere in the run, if that is known
        self._drawn = 0
        self._is_counted = True

    def grant(self, limit: float, *, may_grow: bool, known: float = 0.0) -> None:
        """Replace the limit; without `may_grow` it is the last one.

        `known` is what a trial costs elsewhere in the run, 0 if nobody knows yet.
        """
        self.limit, self.may_grow, self.wanted = limit, may_grow, 0.0
        self._known = max(self._known, known)

    @property
    def trial(self) -> float:
        """The cost of one more trial with its verdicts, by the most so far; 0 if not known."""
        own = max(self._most, self._cost / max(1, self._drawn))
        own += sum(judge.per_trial * judge.next for judge in self.judges)
        return max(own, self._known)

    @property
    def total(self) -> float:
        """The cost of trials and judges so far, those included that are not recorded yet."""
        return self._cost + sum(judge.cost for judge in self.judges)

    def _first(self, under_way: int) -> Verdict:
        """Let one request go alone while no cost is known: of shards, only the one with a lease."""
        if self.limit == 0:
            return self._spent_up(under_way, sys.float_info.epsilon)
        return "wait" if under_way else "go"

    def _spent_up(self, under_way: int, needed: float) -> Verdict:
        """Return what to do where no more fits: wait for those in flight, or for a new lease."""
        if under_way:
            return "wait"
        self.wanted = needed - (self.limit or 0.0)
        return "wait" if self.may_grow else "stop"

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

    def judge_by(self, model: str, price: Price | None, per_trial: int) -> CallCosts:
        """Count the calls of a judge too; refuse a limit on calls whose price is not known."""
        if self.limit is not None and price is None:
            raise InvalidInput(
                f"--max-cost needs the price of the judge {model} too, in the same file as that of "
                "the model."
            )
        self.judges.append(CallCosts(price, per_trial))
        return self.judges[-1]

    @property
    def judging(self) -> float | None:
        """The cost of all calls of judges; None if some of it needs a price."""
        costs = [judge.cost for judge in self.judges if judge.is_known]
        return sum(costs) if len(costs) == len(self.judges) else None

    def call_verdict(self, judge: CallCosts, under_way: int) -> Verdict:
        """Decide whether one more call of a judge fits, given those in flight."""
        if self.limit is None or judge.is_free:
            return "go"
        if not judge.is_counted:
            raise NoTokenCounts(
                "the judge's server does not say how many tokens a reply took, so --max-cost "
                "cannot be kept. No further request is sent."
            )
        if not judge.replies and not self._known:
            return self._first(under_way)
        needed = self.total + (under_way + 1) * (judge.next or self._known)
        return "go" if fits(needed, self.limit) else self._spent_up(under_way, needed)

    def verdict(self, under_way: int, wanted: int) -> Verdict:
        """Decide whether `wanted` more trials fit the budget, given those in flight.

        Every trial in flight counts as much as the most expensive so far. Where that does not
        fit, the worker waits for those in flight; where it still does not fit, it stops. Before
        the cost of any answer is known, one request goes alone.
        """
        is_free = self.price == _FREE and not self._cost
        if self.limit is None or (is_free and all(judge.is_free for judge in self.judges)):
            return "go"
        if not self._is_counted:
            raise NoTokenCounts(
                "the server does not say how many tokens an answer took, so --max-cost cannot be "
                "kept. No further request is sent."
            )
        if not self._drawn and not is_free and not self._known:
            return self._first(under_way)
        needed = self.total + (under_way + wanted) * self.trial
        return "go" if fits(needed, self.limit) else self._spent_up(under_way, needed)


def price_files() -> list[Path]:
    """Return the files that prices are read from, in the order of search."""
    home = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    file = os.environ.get("PASSBAND_PRICES")
    return [Path(file)] if file else [Path("prices.yaml"), home / "passband" / "prices.yaml"]


def find_price(model: str, file: Path | None = None, urls: Sequence[str] = ()) -> Price | None:
    """Return the price of a model; None if no file has one.

    The file `genai` is the package genai-prices, where prices go by the addresses `urls`.

    Models in this process are free, unless a file is given that has a price for them.
    """
    name = model.partition(":")[2]
    if file is not None and str(file) == GENAI and not is_local(model):
        return genai_price(model, urls)
    for path in [file] if file else price_files():
        if str(path) == GENAI or (file is None and (is_local(model) or not path.is_file())):
            continue
        prices = _read(path)
        for known in (model, name, model.rpartition("/")[2]):
            if known and known in prices:
                return prices[known]
        if file is not None and not is_local(model):
            raise InvalidInput(f"{file} has no price for {name or model!r}.{nearest(name, prices)}")
    return Price(0.0, 0.0, is_stated=False) if is_local(model) else None


def _read(path: Path) -> dict[str, Price]:
    from passband.tasks import read_yaml

    if path.is_file() and path.stat().st_size == 0:
        return {}
    file = read_yaml(path)
    if file.diagnostics:
        raise InvalidInput(f"{path}: {file.diagnostics[0].message.rstrip('.')}; {_FORM}.")
    prices = {}
    for name, entry in file.values.items():
        try:
            prices[name] = read_price(entry)
        except InvalidInput as error:
            raise InvalidInput(f"{path}: {name}: {error}") from None
    return prices


def read_price(entry: object) -> Price:
    """Return a price that is written as a mapping, of prompt and completion or input and output.

    >>> read_price({"input": 2, "output": 8}) == read_price({"prompt": 2, "completion": 8})
    True
    """
    found = entry if isinstance(entry, dict) else {}
    for keys in _KEYS:
        if {*found} == {*keys}:
            return _price(*(found[key] for key in keys))
    raise InvalidInput(f"{_FORM} (or prompt and completion); got {entry!r:.60}.")


def parse_price(text: str) -> Price:
    """Return a price that is written in a shell.

    >>> parse_price("0.15,0.60")
    Price(prompt=0.15, completion=0.6, is_stated=True, source='')
    """
    try:
        prompt, completion = (float(part) for part in text.split(","))
    except ValueError:
        raise InvalidInput(
            f"--price is IN,OUT per million tokens, for example 0.15,0.60; got {text!r:.60}."
        ) from None
    return _price(prompt, completion)


def _price(*numbers: object) -> Price:
    for number in numbers:
        if isinstance(number, bool) or not isinstance(number, (int, float)):
            raise InvalidInput(f"{_FORM}; got {number!r:.60}.")
        if not 0 <= number < math.inf:
            raise InvalidInput(f"a price must be at least 0; got {number:g}.")
    prompt, completion = (float(str(number)) for number in numbers)
    return Price(prompt, completion)
