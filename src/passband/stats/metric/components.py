"""What a metric averages over problems: one value per problem, from its own trials alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from passband.errors import InvalidInput
from passband.stats.data.graded import GradedScores
from passband.stats.data.outcomes import Outcomes
from passband.stats.metric.credits import all_of, at_least, share
from passband.stats.metric.kernel import expected_credit, none_of_first, products
from passband.types import Floats, Ints

__all__ = [
    "BestScore",
    "Credit",
    "GeometricBlend",
    "MeanScore",
    "PosteriorMean",
    "ProblemValue",
    "Values",
    "blend",
    "values_by_problem",
    "values_of",
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


class ProblemValue(Protocol):
    """One value per problem."""

    @property
    def bounds(self) -> tuple[float, float]:
        """The smallest and largest value there can be for scores of 0 and 1."""
        ...

    def at(self, trials: Ints, successes: Ints, k: int) -> Floats:
        """Return the value of problems with these counts."""
        ...

    def square_at(self, trials: Ints, successes: Ints, k: int) -> Floats | None:
        """Return an unbiased estimate of the squared latent value; None if there is none."""
        ...

    def of_graded(self, graded: GradedScores, k: int) -> Floats:
        """Return the value of each problem with k trials or more, in the order of the groups."""
        ...


def values_of(part: ProblemValue, outcomes: Outcomes, k: int) -> Values:
    """Return the values of the problems with at least k trials."""
    if outcomes.graded is not None and not isinstance(part, _NeedsBinary):
        found = part.of_graded(outcomes.graded, k)
        return Values(found, np.ones(len(found), dtype=np.int64))
    pairs = outcomes.histogram.at_least(k)
    return Values(part.at(pairs.trials, pairs.successes, k), pairs.problems)


def values_by_problem(part: ProblemValue, outcomes: Outcomes, k: int) -> Floats:
    """Return the value of each problem with at least k trials, in the order of the problems."""
    if outcomes.graded is not None and not isinstance(part, _NeedsBinary):
        problems = [group.problem for group in outcomes.graded.groups if group.n >= k]
        found: Floats = part.of_graded(outcomes.graded, k)[np.concatenate(problems).argsort()]
        return found
    successes = outcomes.required_successes()
    enough = outcomes.trials >= max(k, 1)
    width = outcomes.most_trials() + 1
    pair = outcomes.trials[enough].astype(np.int64) * width + successes[enough]
    seen, at = np.unique(pair, return_inverse=True)
    return part.at(seen // width, seen % width, k)[at]


class _NeedsBinary:
    """A part that is defined for scores of 0 and 1 alone."""

    bounds = (0.0, 1.0)

    def square_at(self, trials: Ints, successes: Ints, k: int) -> Floats | None:
        return None

    def of_graded(self, graded: GradedScores, k: int) -> Floats:
        raise InvalidInput("this metric needs scores of 0 or 1.")


@dataclass(frozen=True, eq=False)
class Credit(_NeedsBinary):
    """The expected credit of k draws from the recorded trials."""

    credit: Floats

    @property
    def bounds(self) -> tuple[float, float]:  # type: ignore[override]
        return float(self.credit.min()), float(self.credit.max())

    def at(self, trials: Ints, successes: Ints, k: int) -> Floats:
        return expected_credit(trials, successes, self.credit)

    def square_at(self, trials: Ints, successes: Ints, k: int) -> Floats | None:
        return _square_of(self.credit, trials, successes)


@dataclass(frozen=True)
class GeometricBlend(_NeedsBinary):
    """Pass@k to one power times pass^k to another, taken within each problem."""

    powers: tuple[float, float]

    def at(self, trials: Ints, successes: Ints, k: int) -> Floats:
        both = (at_least(k, 1), all_of(k))
        earned = [expected_credit(trials, successes, credit) for credit in both]
        return blend(np.stack(earned, axis=-1), self.powers)

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
class MeanScore:
    """The mean score of the trials."""

    bounds = (0.0, 1.0)

    def at(self, trials: Ints, successes: Ints, k: int) -> Floats:
        return expected_credit(trials, successes, share(1))

    def square_at(self, trials: Ints, successes: Ints, k: int) -> Floats | None:
        return _square_of(share(1), trials, successes)

    def of_graded(self, graded: GradedScores, k: int) -> Floats:
        return graded.means()


@dataclass(frozen=True)
class BestScore:
    """The expected best score among k of the recorded trials."""

    bounds = (0.0, 1.0)

    def at(self, trials: Ints, successes: Ints, k: int) -> Floats:
        return expected_credit(trials, successes, at_least(k, 1))

    def square_at(self, trials: Ints, successes: Ints, k: int) -> Floats | None:
        return _square_of(at_least(k, 1), trials, successes)

    def of_graded(self, graded: GradedScores, k: int) -> Floats:
        return graded.best_of(k)


@dataclass(frozen=True)
class PosteriorMean(_NeedsBinary):
    """The mean of the posterior of the success probability under a uniform prior."""

    def at(self, trials: Ints, successes: Ints, k: int) -> Floats:
        mean: Floats = (successes + 1.0) / (trials + 2.0)
        return mean


def _square_of(credit: Floats, trials: Ints, successes: Ints) -> Floats | None:
    """Return the mean product of the credits of two disjoint sets of k trials, if they fit in n."""
    if 2 * (len(credit) - 1) > trials.min():
        return None
    _, squares = products(credit[:, None])
    return expected_credit(trials, successes, squares[:, 0, 0])


def blend(values: Floats, powers: Sequence[float]) -> Floats:
    """Return the product of powers along the last axis; 0 to a negative power is refused."""
    exponents = np.asarray(powers, dtype=np.float64)
    if ((values == 0) & (exponents < 0)).any():
        raise InvalidInput(f"powers must not be negative where a value is 0; got {list(powers)}.")
    with np.errstate(over="ignore", invalid="ignore"):
        result: Floats = np.prod(values**exponents, axis=-1)
    if not np.isfinite(result).all():
        raise InvalidInput(f"powers must not be so large; got {list(powers)}.")
    return result


def _row_blocks(rows: int, columns: int) -> Iterator[slice]:
    step = max(1, (1 << 21) // columns)
    return (slice(start, start + step) for start in range(0, rows, step))
