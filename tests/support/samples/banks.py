"""Banks for tests: items whose answers are known, and respondents of a known ability."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from passband.adaptive.bank import Bank
from passband.adaptive.item import BankItem
from passband.adaptive.test import AdaptiveTest
from passband.stats.irt.items import Items

SCORER = {"name": "exact_match", "steps": [{"function": "extract", "rules": ["last_number"]}]}
LEVELS = ("easy", "middle", "hard")


def bank(n: int = 60, *, splits: tuple[str, ...] = ("test",), seed: int = 0) -> Bank:
    """Sums with 2pl parameters, three content areas, the splits in turn."""
    random = np.random.default_rng(seed)
    parameters = Items("2pl", random.lognormal(0.3, 0.3, n), np.linspace(-2.5, 2.5, n))
    items = [
        BankItem(
            f"i{at:03}", splits[at % len(splits)], f"{at}+{at}=", (str(2 * at),),
            content=LEVELS[3 * at // n],
        )
        for at in range(n)
    ]  # fmt: skip
    return Bank("sums", tuple(items), parameters, scorer=SCORER, sampling={"temperature": 1.0})


def of_parameters(parameters: Items, **changes: object) -> Bank:
    """A bank of one split with these parameters."""
    items = tuple(BankItem(f"i{at}", "test", "?", ("x",)) for at in range(len(parameters)))
    return replace(Bank("any", items, parameters), **changes)  # type: ignore[arg-type]


def respondent(bank: Bank, theta: float, seed: int = 0) -> Callable[[str], float]:
    """Answers of a model of that ability, one for each item whatever is asked before."""
    chances = bank.parameters.expected(theta)
    luck = np.random.default_rng(seed).random(len(bank.items))
    right = luck < chances
    return lambda key: float(right[bank.position[key]])


def complete(test: AdaptiveTest, answer: Callable[[str], float | None]) -> AdaptiveTest:
    """Answer until the test is over."""
    while choices := test.next():
        for choice in choices:
            test.answer(choice.key, answer(choice.key))
    return test
