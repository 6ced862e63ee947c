"""Read the prices of a label, a vote, a trial and a problem."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from passband.errors import InvalidInput, UnknownName, nearest

if TYPE_CHECKING:
    from passband.stats.judged import Prices


_KINDS = ("label", "vote", "trial", "problem")


def read_prices(prices: Prices | Mapping[str, float] | None) -> Prices | None:
    """Return prices, checked.

    >>> read_prices({"label": 0.5, "trial": 0.01})
    Prices(label=0.5, vote=None, trial=0.01, problem=None)
    """
    if prices is None:
        return None
    from passband.stats.judged import Prices

    if isinstance(prices, Prices):
        return prices
    for name, price in prices.items():
        if name not in _KINDS:
            hint = nearest(name, _KINDS) or f" There are {', '.join(_KINDS)}."
            raise UnknownName(f"prices: nothing is called {name!r}.{hint}")
        if not (math.isfinite(price) and price >= 0):
            raise InvalidInput(f"prices: that of a {name} must be at least 0; got {price!r:.60}.")
    return Prices(**{name: float(price) for name, price in prices.items()})


def parse_prices(text: str) -> Prices | None:
    """Return prices as they are written in a shell.

    >>> parse_prices("label=0.5, trial=0.01")
    Prices(label=0.5, vote=None, trial=0.01, problem=None)
    """
    prices: dict[str, float] = {}
    for pair in filter(None, (pair.strip() for pair in text.split(","))):
        name, _, price = (word.strip() for word in pair.partition("="))
        try:
            prices[name] = float(price)
        except ValueError:
            raise InvalidInput(
                f"prices are written as label=0.50,vote=0.002,trial=0.01; got {pair!r:.60}."
            ) from None
    return read_prices(prices)
