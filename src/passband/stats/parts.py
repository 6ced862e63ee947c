"""What a metric averages over problems: one value per problem, from its own trials alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from passband.errors import InvalidInput
from passband.stats.credits import all_of, at_least, share
from passband.stats.kernel import expected_credit, none_of_first
from passband.stats.outcomes import Outcomes
from passband.types import Floats, Ints

__all__ = [
    "BestReward",
    "Credit",
    "GeometricBlend",
    "MeanReward",
    "Part",
    "PosteriorMean",
    "Values",
    "blend",
]


@dataclass(frozen=True)
class Values:
    """A value per group of like problems, and how many problems there are in each."""

    values: Floats
    problems: Ints

    @property
    def n_problems(self) -> int:
        return int(self.problems.sum())

    def mean(self) -> float:
        return float(self.problems @ self.values) / self.n_problems


class Part(Protocol):
    """One value per problem."""

    def values(self, outcomes: Outcomes, k: int) -> Values:
        """Return the values of the problems with at least k trials."""
        ...


@dataclass(frozen=True, eq=False)
class Credit:
    """The expected credit of k draws from the recorded trials."""

    credit: Floats

    def values(self, outcomes: Outcomes, k: int) -> Values:
        pairs = outcomes.histogram.at_least(k)
        return Values(expected_credit(pairs.trials, pairs.successes, self.credit), pairs.problems)


@dataclass(frozen=True)
class GeometricBlend:
    """Pass@k to one power times pass^k to another, taken within each problem."""

    powers: tuple[float, float]

    def values(self, outcomes: Outcomes, k: int) -> Values:
        pairs = outcomes.histogram.at_least(k)
        earned = [
            expected_credit(pairs.trials, pairs.successes, credit)
            for credit in (at_least(k, 1), all_of(k))
        ]
        return Values(blend(np.stack(earned, axis=-1), self.powers), pairs.problems)

    def curve(self, outcomes: Outcomes) -> Floats:
        """Return the mean for k = 1, 2, ...: every k at once, from running products."""
        pairs = outcomes.histogram
        longest = int(pairs.trials.max())
        totals = np.zeros(longest)
        for rows in _row_blocks(len(pairs.trials), longest):
            n, c = pairs.trials[rows], pairs.successes[rows]
            earned = np.stack([1.0 - none_of_first(n, c), none_of_first(n, n - c)], axis=-1)
            enough = n[:, None] >= np.arange(1, longest + 1)
            totals += pairs.problems[rows] @ np.where(enough, blend(earned, self.powers), 0.0)
        means: Floats = totals / [pairs.at_least(k).n_problems for k in range(1, longest + 1)]
        return means


@dataclass(frozen=True)
class MeanReward:
    """The mean score of the trials."""

    def values(self, outcomes: Outcomes, k: int) -> Values:
        if outcomes.rewards is None:
            return Credit(share(1)).values(outcomes, 1)
        means = outcomes.rewards.means()
        return Values(means, np.ones(len(means), dtype=np.int64))


@dataclass(frozen=True)
class BestReward:
    """The expected best score among k of the recorded trials."""

    def values(self, outcomes: Outcomes, k: int) -> Values:
        if outcomes.rewards is None:
            return Credit(at_least(k, 1)).values(outcomes, k)
        best = outcomes.rewards.best_of(k)
        return Values(best, np.ones(len(best), dtype=np.int64))


@dataclass(frozen=True)
class PosteriorMean:
    """The mean of the posterior of the success probability under a uniform prior."""

    def values(self, outcomes: Outcomes, k: int) -> Values:
        pairs = outcomes.histogram
        return Values((pairs.successes + 1.0) / (pairs.trials + 2.0), pairs.problems)


def blend(values: Floats, powers: Sequence[float]) -> Floats:
    """Return the product of powers along the last axis; 0 to a negative power is refused."""
    exponents = np.asarray(powers, dtype=np.float64)
    if ((values == 0) & (exponents < 0)).any():
        raise InvalidInput(f"powers must not be negative where a value is 0; got {list(powers)}.")
    result: Floats = np.prod(values**exponents, axis=-1)
    return result


def _row_blocks(rows: int, columns: int) -> Iterator[slice]:
    step = max(1, (1 << 21) // columns)
    return (slice(start, start + step) for start in range(0, rows, step))
