"""The data sets of a server: its banks, their splits, and what the protocol tells of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property

from passband.adaptive.bank import Bank
from passband.adaptive.dataset import ADAPTIVE, parse_dataset
from passband.adaptive.design import Design
from passband.adaptive.item import BankItem
from passband.adaptive.server.body import invalid, unknown
from passband.adaptive.test import grid_of
from passband.errors import InvalidInput, nearest
from passband.generate import JsonMapping, JsonObject
from passband.score import Scorer, make_scorer, scorers
from passband.stats.irt import Grid


class Split:
    """The items of one split, and the tables that all its test runs share."""

    def __init__(self, bank: Bank, design: Design, scorer: Scorer | None) -> None:
        self.bank, self.scorer = bank, scorer  # a scorer where there are items without choices
        self._design = design

    @cached_property
    def grid(self) -> Grid:
        """The tables of the bank under the prior of the design."""
        return grid_of(self.bank, self._design)


class Dataset:
    """A bank as a data set of the protocol."""

    def __init__(self, bank: Bank, design: Design) -> None:
        self.bank = bank
        self.id = f"{bank.name}:{ADAPTIVE}"
        self._scorer = _scorer(bank) if any(item.choices is None for item in bank.items) else None
        self._splits = {
            name: Split(bank.of_split(name), design, self._scorer) for name in bank.splits
        }

    def close(self) -> None:
        """End what the scorer has started."""
        if self._scorer is not None:
            self._scorer.close()

    def split(self, name: str) -> Split:
        """Return a split by its name; refuse one that is not there."""
        if name not in self._splits:
            raise invalid(
                f"Data set {self.id!r} has no split {name!r:.100}.{nearest(name, self._splits)} "
                f"It has {', '.join(self._splits)}."
            )
        return self._splits[name]

    def entry(self) -> JsonObject:
        """Return what the list of data sets says of it."""
        name = _text(self.bank.provenance, "name") or self.bank.name
        return {"id": self.id, "name": name, "isAdaptive": True, "splits": list(self._splits)}

    def info(self) -> JsonObject:
        """Return its entry with a datacard, where clients need every field to be present."""
        return {**self.entry(), "datacard": self._datacard()}

    def _datacard(self) -> JsonObject:
        told = self.bank.provenance
        year, month = _date(_text(told, "created"))
        return {
            "task": _text(told, "task"),
            "license": _text(told, "license"),
            "version": {"year": year, "month": month, "revision": 0},
            "datasetHf": "",
            "languages": told["languages"] if isinstance(told.get("languages"), list) else [],
            "datasetUrl": _text(told, "url"),
            "itemsCount": len(self.bank.items),
            "splitsUsed": list(self._splits),
            "datasetName": self.bank.name,
            "description": _text(told, "description"),
            "exampleItem": self.bank.items[0].question,
            "originalReadmeUrl": "",
            "originalReadmeDownloadedAt": "",
            "originalItemCount": len(self.bank.items),
            "difficultyEstimators": [self.bank.model],
            "hash": self.bank.hash,
        }


class Catalogue:
    """Data sets by name; two banks of one name are refused."""

    def __init__(self, banks: Iterable[Bank], design: Design) -> None:
        self.design = design
        self._datasets: dict[str, Dataset] = {}
        for bank in banks:
            if bank.name in self._datasets:
                raise InvalidInput(f"two banks are named {bank.name!r}; serve one of them.")
            self._datasets[bank.name] = Dataset(bank, design)
        if not self._datasets:
            raise InvalidInput("a server needs at least one bank.")

    def __iter__(self) -> Iterator[Dataset]:
        return iter(self._datasets.values())

    def close(self) -> None:
        """End what the scorers have started."""
        for dataset in self:
            dataset.close()

    def find(self, name: str) -> Dataset | None:
        """Return the data set of a bank, by the name of the bank."""
        return self._datasets.get(name)

    def dataset(self, text: str) -> Dataset:
        """Return the data set that a client names: `NAME:adaptive`, or only `NAME`."""
        try:
            name = parse_dataset(text)
        except InvalidInput as error:
            raise invalid(str(error)[:300]) from None
        if name.split is not None:
            raise invalid(f"Give the split of {text!r:.100} in the field for it.")
        found = self._datasets.get(name.id)
        if found is None:
            hint = nearest(name.id, self._datasets)
            raise unknown(f"There is no data set {text!r:.100}.{hint}")
        return found


def item_json(item: BankItem) -> JsonObject:
    """Return an item as a client is shown it: never with its targets."""
    choices = item.choices
    shown = None if choices is None else [{"id": c.id, "value": c.text} for c in choices]
    return {"id": item.key, "question": item.question, "choices": shown}


def _scorer(bank: Bank) -> Scorer:
    """Return the scorer of a bank, whose scores must be from 0 to 1, and best at 1."""
    spec = bank.scorer_spec
    scorer = make_scorer(**spec)
    function = scorers.get(spec.get("function") or spec["name"])
    low, high = function.bounds or (0.0, 1.0)
    if low is None or high is None or low < 0 or high > 1 or function.lower_is_better:
        raise InvalidInput(
            f"bank {bank.name!r}: the scores of {scorer.name!r} are from {low} to {high}, best at "
            f"{function.best:g}; a test needs scores from 0 to 1, best at 1."
        )
    return scorer


def _text(values: JsonMapping, name: str) -> str:
    value = values.get(name)
    return value if isinstance(value, str) else ""


def _date(text: str) -> tuple[int, int]:
    found = re.match(r"(\d{4})-(\d{2})", text)
    return (int(found[1]), int(found[2])) if found else (0, 0)
