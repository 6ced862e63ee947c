"""Link a calibration on its own scale to the scale of an existing bank.

Two calibrations that share items differ by a line, θ' = A θ + B: then a' = a / A and b' = A b + B.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from passband.errors import InvalidInput, NotEnoughData, UnknownName, nearest
from passband.stats.irt.curves import expected_scores
from passband.stats.irt.items import Items
from passband.types import Floats

__all__ = ["Link", "LinkMethod", "link_items"]

LinkMethod = Literal["mean-sigma", "stocking-lord"]


class Link(NamedTuple):
    """The line from one scale to another."""

    slope: float
    intercept: float

    def of_theta(self, theta: Floats) -> Floats:
        """Return abilities on the other scale."""
        return self.slope * theta + self.intercept

    def of_items(self, items: Items) -> Items:
        """Return items on the other scale.

        >>> Link(2.0, 1.0).of_items(Items("2pl", a=[1.0], b=[0.5])).b.tolist()
        [2.0]
        """
        steps = None if items.steps is None else self.of_theta(items.steps)
        a, b = items.a / self.slope, self.of_theta(items.b)
        return Items(items.model, a, b, items.c, steps, items.phi)


def link_items(items: Items, bank: Items, *, method: LinkMethod = "stocking-lord") -> Link:
    """Return the line that takes `items` to the scale of the same items in a bank.

    "mean-sigma" matches mean and spread of the difficulties. "stocking-lord" makes the expected
    total scores agree over abilities that are standard normal on the bank's scale (Stocking and
    Lord 1983, Applied Psychological Measurement 7), which is steadier, as badly known
    difficulties of extreme items weigh little.

    >>> bank = Items("2pl", a=[1.0, 2.0, 1.5], b=[-1.0, 0.0, 1.0])
    >>> link = link_items(Link(0.5, 0.25).of_items(bank), bank)
    >>> round(link.slope, 6), round(link.intercept, 6)
    (2.0, -0.5)
    """
    if items.model != bank.model or len(items) != len(bank):
        raise InvalidInput(
            f"linking takes the same items twice; got {len(items)} {items.model!r} and "
            f"{len(bank)} {bank.model!r} items."
        )
    if len(items) < 2:
        raise NotEnoughData("linking takes at least two shared items, and should have ten.")
    if method not in ("mean-sigma", "stocking-lord"):
        hint = nearest(str(method), ("mean-sigma", "stocking-lord"))
        raise UnknownName(f"method must be 'mean-sigma' or 'stocking-lord'; got {method!r}.{hint}")
    start = _mean_sigma(items, bank)
    return start if method == "mean-sigma" else _stocking_lord(items, bank, start)


def _mean_sigma(items: Items, bank: Items) -> Link:
    spread = float(items.b.std())
    if spread == 0.0:
        slope = float(np.exp(np.mean(np.log(items.a) - np.log(bank.a))))
    else:
        slope = float(bank.b.std()) / spread
    return Link(slope, float(bank.b.mean()) - slope * float(items.b.mean()))


def _stocking_lord(items: Items, bank: Items, start: Link) -> Link:
    """Minimise the squared difference of expected totals, by Gauss and Newton."""
    nodes = np.linspace(-4.0, 4.0, 41)
    weight = np.exp(-0.25 * nodes * nodes)  # the root of a normal density
    target = weight * expected_scores(bank, nodes).sum(axis=0)

    def residual(x: Floats) -> Floats:
        moved = Link(float(np.exp(x[0])), float(x[1])).of_items(items)
        result: Floats = weight * expected_scores(moved, nodes).sum(axis=0) - target
        return result

    x = np.array([np.log(start.slope) if start.slope > 0.0 else 0.0, start.intercept])
    now = residual(x)
    for _ in range(100):
        step = 1e-6
        slopes = [(residual(x + step * unit) - now) / step for unit in np.eye(2)]
        change, *_ = np.linalg.lstsq(np.array(slopes).T, -now, rcond=None)
        while np.abs(change).max() > 1e-12:
            then = residual(x + change)
            if then @ then <= now @ now:
                break
            change = change / 2.0
        x, now = x + change, residual(x + change)
        if np.abs(change).max() < 1e-10:
            break
    return Link(float(np.exp(x[0])), float(x[1]))
