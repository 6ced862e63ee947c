"""Graded scores, which are not 0 or 1: kept per trial, and used by their order statistics."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from passband.stats.data.values import ArrayValue, frozen, owned
from passband.types import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class ScoreGroup(ArrayValue):
    """The problems that have the same number of trials, each with its scores in rising order."""

    problem: Ints  # positions among all problems
    ordered: Floats  # (problems, n)

    @property
    def n(self) -> int:
        return int(self.ordered.shape[1])


@dataclass(frozen=True, eq=False)
class GradedScores(ArrayValue):
    """The scores of all trials, problem after problem; problem i has ``values[o[i]:o[i+1]]``."""

    values: Floats
    offsets: Ints

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", owned(self.values))
        object.__setattr__(self, "offsets", owned(self.offsets))

    @staticmethod
    def of_rows(values: Floats, present: Bools) -> GradedScores:
        """Keep the present entries of a matrix."""
        offsets = np.concatenate([[0], np.cumsum(present.sum(axis=1))])
        kept = np.asarray(values[present], dtype=np.float64)
        return GradedScores(frozen(kept), frozen(offsets))

    @staticmethod
    def of_counts(trials: Ints, successes: Ints) -> GradedScores:
        """Return scores of 1 and 0 from their numbers."""
        values = np.tile([1.0, 0.0], len(trials)).repeat(
            np.stack([successes, trials - successes], axis=1).ravel()
        )
        return GradedScores(frozen(values), frozen(np.concatenate([[0], np.cumsum(trials)])))

    def take(self, positions: Ints) -> GradedScores:
        """Return the scores of the problems at these positions."""
        rows = np.split(self.values, self.offsets[1:-1])
        offsets = np.concatenate([[0], np.cumsum(np.diff(self.offsets)[positions])])
        return GradedScores(np.concatenate([rows[i] for i in positions]), offsets)

    def padded(self, more: Ints, score: float = 0.0) -> GradedScores:
        """Return the scores with further trials of each problem, of the same score."""
        values = np.insert(self.values, np.repeat(self.offsets[1:], more), score)
        return GradedScores(values, self.offsets + np.r_[0, np.cumsum(more)])

    def mapped(self, change: Callable[[Floats], Floats]) -> GradedScores:
        """Return the scores with each changed alike, as by mirroring them on their scale."""
        return GradedScores(change(self.values), self.offsets)

    def place_of(self, score: float) -> tuple[int, int]:
        """Return the first problem with a trial of this score, and the number of that trial."""
        place = int((self.values == score).argmax())
        problem = int(np.searchsorted(self.offsets, place, side="right")) - 1
        return problem, place - int(self.offsets[problem])

    @cached_property
    def groups(self) -> list[ScoreGroup]:
        """Problems by their number of trials, fewest first; those without any are left out."""
        trials = np.diff(self.offsets)
        groups = []
        for n in np.unique(trials[trials > 0]):
            (problem,) = (trials == n).nonzero()
            rows = self.values[self.offsets[problem][:, None] + np.arange(n)]
            groups.append(ScoreGroup(problem, np.sort(rows, axis=1)))
        return groups

    @cached_property
    def extremes(self) -> tuple[float, float]:
        """The smallest and the largest score; 0 and 0 if there is none."""
        if len(self.values) == 0:
            return 0.0, 0.0
        return float(self.values.min()), float(self.values.max())

    @cached_property
    def coin_share(self) -> float:
        """Variance of all scores relative to a coin with the same mean.

        For scores within [0, 1] it is 1 if none lies between 0 and 1, and else less.
        """
        mean = float(self.values.mean())
        coin = mean * (1.0 - mean)
        if coin <= 0.0:
            return 0.0
        return max(1.0 - float((self.values * (1.0 - self.values)).mean()) / coin, 0.0)

    def means(self, k: int = 1) -> Floats:
        """Return the mean score of each problem that has k trials, in the order of `groups`."""
        return np.concatenate([group.ordered.mean(axis=1) for group in self.groups if group.n >= k])

    def best_of(self, k: int) -> Floats:
        """Return the expected best of k trials of each problem that has k, in group order."""
        return np.concatenate(
            [group.ordered @ best_weights(group.n, k) for group in self.groups if group.n >= k]
        )

    def best_curve(self) -> Iterator[tuple[int, float, int]]:
        """Yield (k, sum over problems of the expected best of k, problems), largest k first.

        Leaving one trial out at random turns the order statistics of k+1 trials into those of k:
        the i-th of k is the i-th of k+1 with probability 1 - i/(k+1), else the next one.
        """
        groups = {group.n: group for group in self.groups}
        longest = max(groups, default=0)
        totals: Floats = np.zeros(longest + 1)
        problems = 0
        for k in range(longest, 0, -1):
            rank = np.arange(1, k + 1)
            totals = totals[:-1] * ((k + 1 - rank) / (k + 1)) + totals[1:] * (rank / (k + 1))
            if k in groups:
                totals = totals + groups[k].ordered.sum(axis=0)
                problems += len(groups[k].problem)
            yield k, float(totals[-1]), problems


@lru_cache(maxsize=4096)
def best_weights(n: int, k: int) -> Floats:
    """Return P(the i-th smallest of n is the largest of a random k) = C(i-1, k-1) / C(n, k).

    >>> best_weights(4, 2).round(4).tolist()
    [0.0, 0.1667, 0.3333, 0.5]
    """
    rank = np.arange(n, 1, -1)
    ratios = np.maximum(rank - k, 0) / (rank - 1)
    return frozen(np.cumprod(np.concatenate([[k / n], ratios]))[::-1])
