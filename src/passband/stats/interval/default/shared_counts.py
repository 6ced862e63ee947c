"""Graded scores between 0 and 1, shared out among the counts of successes that are nearest.

Four trials that score 0.7 in all count as 0.3 problems without a success and 0.7 problems with one:
the mean is kept, the spread grows a little. Scores that come ever closer to 0 and 1 come ever
closer to their own counts, so whatever is worked out from the shares agrees with the intervals of
scores of 0 and 1 where the two kinds meet.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from passband.stats.data.graded import ScoreGroup
from passband.stats.interval.fit.count_grid import grid_for
from passband.stats.interval.fit.mixture import Mixture, fit_mixture
from passband.stats.tolerance import ROUNDING_DIGITS
from passband.types import Floats, Ints

__all__ = ["SharedCounts", "share_out"]

_MOST_PAIRS = 600  # beyond, numbers of trials that are within a fifth of each other are joined
_MOST_TRIALS = 2_000  # beyond, no shares are made: the scores speak for themselves
_STEP = 1.2

ValuesAt = Callable[[Ints, Ints], Floats]


@dataclass(frozen=True, eq=False)
class SharedCounts:
    """The fit to shares of problems at each pair (n, c), and the value of a problem there."""

    mixture: Mixture
    values: Floats

    def variance(self, mean: float) -> float:
        """Return the mean squared distance of the shares from the mean."""
        counts = self.mixture.counts
        return float(counts @ (self.values - mean) ** 2 / counts.sum())

    def expected_variance(self, mean: float) -> float:
        """Return the expected squared distance from the mean of one further problem."""
        return float(self.mixture.predictive @ (self.values - mean) ** 2)


def share_out(
    groups: Sequence[ScoreGroup], values: Floats, values_at: ValuesAt
) -> SharedCounts | None:
    """Share out problems, in the order of the groups, by their values on the scale of [0, 1].

    None where problems have too many trials for the tables of a fit.
    """
    if groups[-1].n > _MOST_TRIALS:
        return None
    grid = grid_for(_joined_trials([group.n for group in groups]))
    at_pairs = values_at(grid.trials, grid.successes)
    counts, start = np.zeros(len(grid.trials)), 0
    for group in groups:
        place = int(np.searchsorted(grid.ns, group.n, side="right")) - 1
        n, first = grid.ns[place], int(grid.starts[place])
        cells = slice(first, first + n + 1)
        sums = group.ordered.mean(axis=1) * n
        part = values[start : start + len(sums)]
        counts[cells] += _shares(part, sums, np.maximum.accumulate(at_pairs[cells]))
        start += len(sums)
    return SharedCounts(fit_mixture(grid, counts), at_pairs)


def _joined_trials(ns: Sequence[int]) -> tuple[int, ...]:
    """Return the numbers of trials; of very many different ones, some that are near to all."""
    if sum(ns) + len(ns) <= _MOST_PAIRS:
        return tuple(ns)
    kept = [ns[0]]
    for n in ns[1:]:
        if n >= _STEP * kept[-1]:
            kept.append(n)
    return tuple(kept)


def _shares(values: Floats, sums: Floats, at_counts: Floats) -> Floats:
    """Return how many problems fall to each count of successes, by linear interpolation.

    Several counts may have the largest value, such as all but 0 for the best of n. Which of them a
    problem falls to is decided by the sum of its scores.
    """
    n = len(at_counts) - 1
    level, first = np.unique(np.round(at_counts, ROUNDING_DIGITS), return_index=True)
    if len(level) == 1:
        return _between_counts(np.clip(sums, 0.0, n), np.ones(len(values)), n)
    above = np.clip(np.searchsorted(level, values), 1, len(level) - 1)
    step = level[above] - level[above - 1]
    up = np.clip((values - level[above - 1]) / step, 0.0, 1.0)
    shares = np.bincount(first[above - 1], weights=1.0 - up, minlength=n + 1)
    top = above == len(level) - 1
    shares += np.bincount(first[above[~top]], weights=up[~top], minlength=n + 1)
    return shares + _between_counts(np.clip(sums[top], first[-1], n), up[top], n)


def _between_counts(sums: Floats, weights: Floats, n: int) -> Floats:
    """Share out problems between the two whole numbers of successes next to their sums."""
    below = np.minimum(sums.astype(np.int64), max(n - 1, 0))
    up = sums - below
    shares: Floats = np.bincount(below, weights=weights * (1.0 - up), minlength=n + 1).astype(float)
    return shares + np.bincount(below + 1, weights=weights * up, minlength=n + 1)[: n + 1]
