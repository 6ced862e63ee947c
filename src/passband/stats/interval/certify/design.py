"""The design that is simulated: how many problems have each number of trials."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from passband.stats.data.counts import Histogram
from passband.types import Ints

__all__ = ["Design"]

_MOST_NS = 8  # different numbers of trials that are simulated
_MOST_TRIALS = 256  # of a problem, unless 2k is more
_PAIRS = 200  # pairs (n, c) up to which all data sets are simulated


@dataclass(frozen=True)
class Design:
    """Numbers of trials, fewest first, and how many problems have each."""

    ns: tuple[int, ...]
    problems: tuple[int, ...]

    @staticmethod
    def of(histogram: Histogram, k: int) -> Design:
        """Return the design of some outcomes, similar numbers of trials taken together if many.

        Numbers below 2k are never joined with others: the default rule treats them differently.

        >>> pairs = Histogram.of_counts(np.arange(2, 40), np.ones(38, dtype=int))
        >>> Design.of(pairs, 1)
        Design(ns=(4, 8, 13, 18, 23, 28, 32, 37), problems=(5, 4, 5, 5, 5, 4, 5, 5))
        """
        ns, place = np.unique(histogram.trials, return_inverse=True)
        problems = np.bincount(place, histogram.problems).astype(np.int64)
        least = np.minimum(ns, max(_MOST_TRIALS, 2 * k))
        if len(ns) > _MOST_NS:
            least = _joined(least, problems, 2 * k)
        kept, place = np.unique(least, return_inverse=True)
        counts = np.bincount(place, problems).astype(np.int64)
        return Design(tuple(kept.tolist()), tuple(counts.tolist()))

    @property
    def n_problems(self) -> int:
        return sum(self.problems)

    @property
    def n_pairs(self) -> int:
        return sum(self.ns) + len(self.ns)

    def affordable(self, sets: int) -> int:
        """Return how many of so many data sets to simulate, fewer where there are many pairs."""
        return max(min(sets, sets * _PAIRS // self.n_pairs), min(sets, 100))

    def nearest(self, trials: Ints) -> Ints:
        """Return for each number of trials the nearest one of the design."""
        ns = np.array(self.ns)
        middle = (ns[1:] + ns[:-1]) / 2
        result: Ints = ns[np.searchsorted(middle, trials)]
        return result

    def trials(self) -> Ints:
        """Return the number of trials of each problem, fewest first."""
        return np.repeat(self.ns, self.problems)


def _joined(ns: Ints, problems: Ints, border: int) -> Ints:
    """Return a number of trials for each: the mean of a group with about as many problems."""
    result = ns.copy()
    sides = [side for side in (ns < border, ns >= border) if side.any()]
    for side in sides:
        groups = min(_MOST_NS // len(sides), int(side.sum()))
        behind = np.cumsum(problems[side]) - problems[side] / 2
        group = np.minimum(groups * behind / problems[side].sum(), groups - 1).astype(np.int64)
        total = np.bincount(group, problems[side], groups)
        mean = np.bincount(group, problems[side] * ns[side], groups) / np.maximum(total, 1.0)
        result[side] = np.clip(np.round(mean).astype(ns.dtype)[group], *_ends(ns[side]))
    return result


def _ends(ns: Ints) -> tuple[int, int]:
    return int(ns.min()), int(ns.max())
