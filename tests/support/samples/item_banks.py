"""Banks of items for tests: four choices, of which "B" is right, or a text, which is "42"."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from passband.adaptive.bank import Bank, write_bank
from passband.adaptive.item import BankItem, Option
from passband.stats.irt.items import Items

CHOICES = tuple(Option(letter, f"option {letter}") for letter in "ABCD")


def make_bank(
    name: str, splits: Sequence[str] = ("validation", "test"), *, n: int = 30, is_open: bool = False
) -> Bank:
    """Return a bank of splits that each have n items of rising difficulty."""
    items = [
        BankItem(
            f"{split}_{place}",
            split,
            f"What is asked by {split}_{place}?",
            ("42",) if is_open else ("B",),
            None if is_open else CHOICES,
        )
        for split in splits
        for place in range(n)
    ]
    b = np.tile(np.linspace(-2, 2, n), len(splits))
    return Bank(name, tuple(items), Items("2pl", np.full(len(b), 2.0), b))


def write_banks(folder: Path, splits: Mapping[str, Sequence[str]], **options: Any) -> None:
    """Write a bank for each name into the folder that banks are found in."""
    (folder / "banks").mkdir(exist_ok=True)
    for name, of_bank in splits.items():
        write_bank(make_bank(name, of_bank, **options), folder / "banks" / f"{name}.jsonl")


def place_of(item: Mapping[str, Any]) -> int:
    """Return the number of an item within its split."""
    return int(re.sub(r"\D", "", item["id"]))


def solve(inputs: Sequence[Mapping[str, Any]], skill: int = 15) -> list[str]:
    """Answer the easier items rightly: those with a place below `skill`."""
    return [
        (("B" if "choices" in item else "42") if place_of(item) < skill else "C") for item in inputs
    ]
