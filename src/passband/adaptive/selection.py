"""Choosing the next item: most information, KL information, randomesque, or at random."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from passband.adaptive.bank import Bank
from passband.adaptive.design import Design
from passband.errors import InvalidInput
from passband.stats.irt import Grid, Items, information, kl_information
from passband.types import Bools

_KL_WIDTH = 3.0  # Chang and Ying (1996): abilities within 3 / sqrt(n) of the present estimate


class Pick(NamedTuple):
    """The position of an item, and why it was chosen."""

    position: int
    reason: str


def generator(seed: str, *words: object) -> np.random.Generator:
    """Return a random generator for one decision of a test: the same for the same words."""
    key = "\0".join((seed, *map(str, words))).encode("utf-8", "surrogatepass")
    return np.random.default_rng(np.frombuffer(hashlib.sha256(key).digest(), "<u4"))


class Selector:
    """Picks items of a bank by the rules of a design; it remembers nothing of the answers."""

    def __init__(self, bank: Bank, design: Design, seed: str, grid: Grid) -> None:
        self._grid, self._design, self._seed = grid, design, seed
        self.stratum = self._draw_stratum(len(bank.items))
        self._areas = self._content_areas(bank)
        self.open: Bools = self._open_items(len(bank.items))

    def pick(self, theta: float, taken: Bools, asked: Sequence[int]) -> Pick | None:
        """Return the best item that is open and not taken; None if there is none.

        `asked` are the positions of the items so far, those of an unfinished batch included.
        """
        candidates = self.open & ~taken
        words = ""
        if self._areas:
            area = self._due_area(candidates, asked)
            if area is None:
                return None
            candidates = candidates & self._areas[area]
            done = int(self._areas[area][list(asked)].sum())
            words = f", for content {area!r} ({done} of {len(asked)} so far)"
        pick = self._picked(theta, candidates, len(asked))
        return None if pick is None else Pick(pick.position, pick.reason + words)

    def is_random(self, position: int) -> bool:
        return position in self._in_stratum

    # -- rules -----------------------------------------------------------------------------

    def _picked(self, theta: float, candidates: Bools, number: int) -> Pick | None:
        design = self._design
        if number < design.start_items:
            if design.start == "random":
                return self._at_random(candidates, number, "first items are drawn at random")
            if not isinstance(design.start, str):
                theta = design.start
        if design.selection == "random":
            return self._at_random(candidates, number, "drawn at random")
        if design.selection == "kl":
            return self._most_divergent(theta, candidates, number)
        count = design.randomesque if design.selection == "randomesque" else 1
        best = self._grid.best(theta, candidates, count)
        if not len(best):
            return None
        drawn = generator(self._seed, "randomesque", number).integers(len(best)) if count > 1 else 0
        among = f"drawn from the {len(best)} items with " if count > 1 else ""
        return Pick(int(best[drawn]), f"{among}most information at theta {theta:+.2f}")

    def _most_divergent(self, theta: float, candidates: Bools, number: int) -> Pick | None:
        delta = _KL_WIDTH / np.sqrt(number + 1)
        worth = np.where(candidates, kl_information(self._grid.items, theta, delta), -1.0)
        best = int(np.argmax(worth))
        if not candidates[best]:
            return None
        return Pick(best, f"most KL information within {delta:.2f} of theta {theta:+.2f}")

    def _at_random(self, candidates: Bools, number: int, why: str) -> Pick | None:
        places = np.flatnonzero(candidates)
        if not len(places):
            return None
        drawn = generator(self._seed, "random", number).integers(len(places))
        return Pick(int(places[drawn]), why)

    # -- what restricts them ---------------------------------------------------------------

    def _draw_stratum(self, n: int) -> tuple[int, ...]:
        """Draw the items of the random stratum, in the order in which they are asked."""
        size = int(np.ceil(self._design.random_share * most_items(self._design, n) - 1e-9))
        drawn = generator(self._seed, "stratum").permutation(n)[:size]
        stratum = tuple(int(place) for place in drawn)
        self._in_stratum = frozenset(stratum)
        return stratum

    def _open_items(self, n: int) -> Bools:
        """Draw the items that this test may use, each with the probability of the exposure cap."""
        if self._design.exposure is None:
            return np.ones(n, dtype=bool)
        drawn = generator(self._seed, "exposure").random(n) < self._design.exposure
        if not drawn.any():
            raise InvalidInput(
                f"an exposure of {self._design.exposure:g} leaves this test none of {n} items; "
                "raise it, or use a larger bank."
            )
        return drawn

    def _content_areas(self, bank: Bank) -> Mapping[str, Bools]:
        held = np.array([item.content or "" for item in bank.items])
        areas = {area: held == area for area in self._design.content or ()}
        for area, members in areas.items():
            if not members.any():
                known = ", ".join(sorted(set(held[held != ""]))) or "none"
                raise InvalidInput(f"no item has the content {area!r}; the bank has {known}.")
        return areas

    def _due_area(self, candidates: Bools, asked: Sequence[int]) -> str | None:
        """Return the content area with items left that lags furthest behind its share."""
        shares = self._design.content or {}
        lag = {
            area: share * (len(asked) + 1) - int(self._areas[area][list(asked)].sum())
            for area, share in shares.items()
            if (candidates & self._areas[area]).any()
        }
        return max(lag, key=lag.__getitem__) if lag else None


def item_information(items: Items, place: int, theta: float) -> float:
    """Return the information of one item per trial; as `information`, without making arrays.

    >>> item_information(Items("2pl", a=[1.0, 2.0], b=[0.0, 0.0]), 1, 0.0)
    1.0
    """
    if items.steps is not None:
        return float(information(items.take([place]), theta)[0])
    a, b, c = items.a.item(place), items.b.item(place), items.c.item(place)
    known = 1.0 / (1.0 + math.exp(min(a * (b - theta), 700.0)))
    right = c + (1.0 - c) * known
    if not 0.0 < right < 1.0:
        return 0.0
    slope = a * (1.0 - c) * known * (1.0 - known)
    return slope * slope / (right * (1.0 - right)) / items.phi.item(place)


def most_items(design: Design, n: int) -> int:
    """Return how many items a test of a bank of n items can have at most.

    >>> most_items(Design(max_items=30, max_trials=40, trials=2), 100)
    20
    """
    limits = [n]
    if design.max_items is not None:
        limits.append(design.max_items)
    if design.max_trials is not None:
        limits.append(design.max_trials // design.trials)
    return min(limits)
