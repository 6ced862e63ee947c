"""Components of metrics: one value per problem, from its own trials alone.

Each kind of value answers the same questions: its value for c of n successes, for graded scores,
at a success probability p, and along a whole curve of k. A new kind is a subclass of
`ProblemValue`; a question that it does not answer raises an error, and is never approximated.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from passband.errors import InvalidInput
from passband.stats.data.graded import GradedScores, best_weights
from passband.stats.data.outcomes import Outcomes
from passband.stats.data.spending import SPENT
from passband.stats.metric.credits import (
    all_of,
    at_least,
    expected_credit,
    none_of_first,
    products,
    share,
    subset_histograms,
)
from passband.stats.metric.pmf import binomial_pmf
from passband.types import Floats, Ints

if TYPE_CHECKING:
    from typing_extensions import Self


_TABLE = 1 << 20  # entries of a table that is made at once
_FEW_STEPS = 4


def latent_credit(credit: Floats, p: Floats) -> Floats:
    """Return ``g(p) = sum_j s_j Binomial(j; k, p)`` for a credit vector s_0 .. s_k.

    Summed over the steps of s where they are few, as they are for pass@k and its like.

    >>> latent_credit(np.array([0.0, 1.0, 1.0]), np.array([0.0, 0.5, 1.0])).tolist()
    [0.0, 0.75, 1.0]
    """
    steps = np.diff(credit)
    (jumps,) = steps.nonzero()
    if len(jumps) > _FEW_STEPS:
        return _by_terms(credit, p)
    value = np.full(p.shape, credit[0])
    for jump in jumps.tolist():
        value += steps[jump] * _reaches(jump + 1, len(steps), p)
    return value


def _reaches(j: int, k: int, p: Floats) -> Floats:
    """Return P(at least j of k succeed)."""
    from passband.stats.special import betainc, xlog1py

    if j == 1:
        reached: Floats = -np.expm1(xlog1py(k, -p))
    else:
        reached = p**k if j == k else betainc(j, k - j + 1, p)
    return reached


def _by_terms(credit: Floats, p: Floats) -> Floats:
    """Return g(p) as the sum of all its terms, in blocks of p."""
    k = len(credit) - 1
    j = np.arange(k + 1)
    flat = p.ravel()[:, None]
    value = np.empty(len(flat))
    rows = max(1, _TABLE // (k + 1))
    for start in range(0, len(flat), rows):
        some = slice(start, start + rows)
        value[some] = binomial_pmf(k, j, flat[some]) @ credit
    return value.reshape(p.shape)


_NO_NOISE = "the sampling noise of this metric is known only for scores of 0 or 1."


@dataclass(frozen=True, eq=False)
class Values:
    """A value per group of like problems, and how many problems there are in each."""

    values: Floats
    problems: Ints

    @property
    def n_problems(self) -> int:
        return int(self.problems.sum())

    def mean(self) -> float:
        return float(self.problems @ self.values) / self.n_problems


class ProblemValue(ABC):
    """Define one value per problem from its trials."""

    needs_binary = True  #: whether it is defined for scores of 0 and 1 alone
    is_posterior = False  #: whether a prior is part of the value
    is_score = False  #: whether it is on the scale of the scores
    needs_answers = False  #: whether it depends on the answers, not on the scores alone
    is_spent = False  #: whether it is of what trials took, and not of their scores

    @property
    def bounds(self) -> tuple[float, float]:
        """The smallest and largest value there can be for scores of 0 and 1."""
        return 0.0, 1.0

    @abstractmethod
    def at(self, trials: Ints, successes: Ints, k: int) -> Floats:
        """Return the value of problems with these counts."""

    @abstractmethod
    def latent(self, p: Floats, k: int) -> Floats:
        """Return the value after endless trials of problems with success probabilities p."""

    def square_at(self, trials: Ints, successes: Ints, k: int) -> Floats | None:
        """Return an unbiased estimate of the squared latent value; None if there is none."""
        return None

    def of_graded(self, graded: GradedScores, k: int) -> Floats:
        """Return the value of each problem with k trials or more, in the order of the groups."""
        raise InvalidInput("this metric needs scores of 0 or 1.")

    def of_answers(self, outcomes: Outcomes, k: int) -> Floats:
        """Return the value of each problem with k trials or more, where it needs answers."""
        raise InvalidInput("this metric does not use answers.")

    def as_scores(self, outcomes: Outcomes, k: int, over: str) -> Outcomes | None:
        """Return outcomes whose mean score is the metric with the same noise, or None.

        `over` is the target of an interval: "problems" or "trials".
        """
        return None

    @classmethod
    def of_ordered(cls, values: Sequence[Self], ordered: Floats, ks: Sequence[int]) -> Floats:
        """Return values by k (columns); rows are a problem's sorted scores.

        ``values[i]`` is the value at ``ks[i]``; no k is larger than the number of scores.
        """
        n = ordered.shape[1]
        graded = GradedScores(ordered.ravel(), np.arange(len(ordered) + 1) * n)
        columns = [value.of_graded(graded, k) for value, k in zip(values, ks, strict=True)]
        return np.stack(columns, axis=1)

    def trials_for_noise(self, k: int) -> int:
        """Return the fewest graded trials that show a value's sampling noise."""
        raise InvalidInput(_NO_NOISE)

    def pseudo_values(self, ordered: Floats, k: int) -> Floats:
        """Return the jackknife's pseudo-values of the trials of each problem, its scores in order.

        Their variance over the number of trials is the variance of the problem's value. They need
        `trials_for_noise` trials.
        """
        raise InvalidInput(_NO_NOISE)

    @classmethod
    def curve(cls, values: Sequence[Self], outcomes: Outcomes) -> Floats:
        """Return the mean over problems for k = 1, 2, ...; ``values[k-1]`` is the value at k."""
        return np.array([values_of(v, outcomes, k).mean() for k, v in enumerate(values, 1)])


@dataclass(frozen=True, eq=False)
class Credit(ProblemValue):
    """The expected credit of k draws from the recorded trials."""

    credit: Floats

    @property
    def bounds(self) -> tuple[float, float]:
        return float(self.credit.min()), float(self.credit.max())

    def at(self, trials: Ints, successes: Ints, k: int) -> Floats:
        return expected_credit(trials, successes, self.credit)

    def latent(self, p: Floats, k: int) -> Floats:
        return latent_credit(self.credit, p)

    def square_at(self, trials: Ints, successes: Ints, k: int) -> Floats | None:
        return _square_of(self.credit, trials, successes)

    @classmethod
    def curve(cls, values: Sequence[Self], outcomes: Outcomes) -> Floats:
        return _credit_curve([value.credit for value in values], outcomes)


@dataclass(frozen=True)
class GeometricBlend(ProblemValue):
    """Pass@k to one power times pass^k to another, taken within each problem."""

    powers: tuple[float, float]

    def at(self, trials: Ints, successes: Ints, k: int) -> Floats:
        both = (at_least(k, 1), all_of(k))
        earned = [expected_credit(trials, successes, credit) for credit in both]
        return blend(np.stack(earned, axis=-1), self.powers)

    def latent(self, p: Floats, k: int) -> Floats:
        both = [latent_credit(credit, p) for credit in (at_least(k, 1), all_of(k))]
        return blend(np.stack(both, axis=-1), self.powers)

    @classmethod
    def curve(cls, values: Sequence[Self], outcomes: Outcomes) -> Floats:
        if len({value.powers for value in values}) > 1:
            return super().curve(values, outcomes)
        return values[0]._curve(outcomes)

    def _curve(self, outcomes: Outcomes) -> Floats:
        """Return the mean at every k at once, from running products."""
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
class MeanScore(ProblemValue):
    """The mean score of the trials."""

    needs_binary = False
    is_score = True

    def at(self, trials: Ints, successes: Ints, k: int) -> Floats:
        return expected_credit(trials, successes, share(1))

    def latent(self, p: Floats, k: int) -> Floats:
        return p

    def square_at(self, trials: Ints, successes: Ints, k: int) -> Floats | None:
        return _square_of(share(1), trials, successes)

    def of_graded(self, graded: GradedScores, k: int) -> Floats:
        return graded.means(k)

    def trials_for_noise(self, k: int) -> int:
        return max(2, k)

    def pseudo_values(self, ordered: Floats, k: int) -> Floats:
        """Return the scores: the variance of their mean is s^2 / n."""
        return ordered

    def as_scores(self, outcomes: Outcomes, k: int, over: str) -> Outcomes | None:
        return outcomes.take(np.flatnonzero(outcomes.trials >= k)) if k > 1 else None


class SpentMean(MeanScore):
    """Mean cost, tokens or seconds of the trials."""

    is_spent = True


@dataclass(frozen=True)
class BestScore(ProblemValue):
    """The expected best score among k of the recorded trials."""

    needs_binary = False
    is_score = True

    def at(self, trials: Ints, successes: Ints, k: int) -> Floats:
        return expected_credit(trials, successes, at_least(k, 1))

    def latent(self, p: Floats, k: int) -> Floats:
        return latent_credit(at_least(k, 1), p)

    def square_at(self, trials: Ints, successes: Ints, k: int) -> Floats | None:
        return _square_of(at_least(k, 1), trials, successes)

    def of_graded(self, graded: GradedScores, k: int) -> Floats:
        return graded.best_of(k)

    @classmethod
    def of_ordered(cls, values: Sequence[Self], ordered: Floats, ks: Sequence[int]) -> Floats:
        weights = np.stack([best_weights(ordered.shape[1], k) for k in ks], axis=1)
        result: Floats = ordered @ weights
        return result

    def trials_for_noise(self, k: int) -> int:
        return k + 1

    def pseudo_values(self, ordered: Floats, k: int) -> Floats:
        n = ordered.shape[1]
        whole = ordered @ best_weights(n, k)
        pseudo: Floats = n * whole[:, None] - (n - 1) * _best_without_each(ordered, k)
        return pseudo

    @classmethod
    def curve(cls, values: Sequence[Self], outcomes: Outcomes) -> Floats:
        if outcomes.is_binary:
            return _credit_curve([at_least(k, 1) for k in range(1, len(values) + 1)], outcomes)
        means = np.empty(len(values))
        for k, total, problems in outcomes.required_graded().best_curve():
            means[k - 1] = total / problems
        return means


@dataclass(frozen=True)
class PosteriorMean(ProblemValue):
    """The mean of the posterior of the success probability under a uniform prior."""

    is_posterior = True

    def at(self, trials: Ints, successes: Ints, k: int) -> Floats:
        mean: Floats = (successes + 1.0) / (trials + 2.0)
        return mean

    def latent(self, p: Floats, k: int) -> Floats:
        return p


# -- values of a whole data set ----------------------------------------------------------------


def values_of(part: ProblemValue, outcomes: Outcomes, k: int) -> Values:
    """Return the values of the problems with at least k trials, like problems together."""
    _require_spent(part, outcomes)
    if part.needs_answers:
        values = part.of_answers(outcomes, k)
        return Values(values, np.ones(len(values), dtype=np.int64))
    if outcomes.is_binary or part.needs_binary:
        pairs = outcomes.histogram.at_least(k)
        return Values(part.at(pairs.trials, pairs.successes, k), pairs.problems)
    values = part.of_graded(outcomes.required_graded(), k)
    return Values(values, np.ones(len(values), dtype=np.int64))


def _require_spent(part: ProblemValue, outcomes: Outcomes) -> None:
    """Refuse scores where costs, tokens or seconds are needed."""
    if part.is_spent and outcomes.scale not in (SPENT, SPENT.upright):
        raise InvalidInput("this metric is of what trials took, which is not known here.")


def values_by_problem(part: ProblemValue, outcomes: Outcomes, k: int) -> Floats:
    """Return the value of each problem with at least k trials, in the order of the problems."""
    _require_spent(part, outcomes)
    if part.needs_answers:
        return part.of_answers(outcomes, k)
    if not (outcomes.is_binary or part.needs_binary):
        graded = outcomes.required_graded()
        problems = [group.problem for group in graded.groups if group.n >= k]
        ordered: Floats = part.of_graded(graded, k)[np.concatenate(problems).argsort()]
        return ordered
    successes = outcomes.required_successes()
    enough = outcomes.trials >= max(k, 1)
    width = outcomes.most_trials() + 1
    pair = outcomes.trials[enough].astype(np.int64) * width + successes[enough]
    seen, place = np.unique(pair, return_inverse=True)
    return part.at(seen // width, seen % width, k)[place]


def mean_curve(values: Sequence[ProblemValue], outcomes: Outcomes) -> Floats:
    """Return the mean over problems for k = 1, 2, ...; ``values[k-1]`` is the value at k."""
    kind = type(values[0])
    if all(type(value) is kind for value in values):
        return kind.curve(values, outcomes)
    return ProblemValue.curve(values, outcomes)


# -- arithmetic --------------------------------------------------------------------------------


def blend(values: Floats, powers: Sequence[float]) -> Floats:
    """Return the product of powers along the last axis; 0 to a negative power is refused."""
    exponents = np.asarray(powers, dtype=np.float64)
    if ((values == 0) & (exponents < 0)).any():
        raise InvalidInput(f"powers must not be negative where a value is 0; got {list(powers)}.")
    with np.errstate(over="ignore", invalid="ignore"):
        result: Floats = np.prod(values**exponents, axis=-1)
    if not np.isfinite(result).all():
        raise InvalidInput(f"powers are too large: the result overflows; got {list(powers)}.")
    return result


def _credit_curve(credits: Sequence[Floats], outcomes: Outcomes) -> Floats:
    """Return the mean credit for k = 1, 2, ..., ``credits[k-1]`` being the credit of k draws."""
    means = np.empty(len(credits))
    for k, totals, problems in subset_histograms(outcomes.histogram):
        credit = credits[k - 1]
        means[k - 1] = np.clip(totals @ credit / problems, credit.min(), credit.max())
    return means


def _square_of(credit: Floats, trials: Ints, successes: Ints) -> Floats | None:
    """Return the mean product of the credits of two disjoint sets of k trials, if they fit in n."""
    if 2 * (len(credit) - 1) > trials.min():
        return None
    _, squares = products(credit[:, None])
    return expected_credit(trials, successes, squares[:, 0, 0])


def _best_without_each(ordered: Floats, k: int) -> Floats:
    """Return the expected best of k with each trial left out in turn, per problem."""
    n = ordered.shape[1]
    weights = best_weights(n - 1, k)
    below = np.concatenate([[0.0], weights])  # weight of a score when one above it is left out
    rising = np.cumsum(ordered * np.append(weights, 0.0), axis=1)
    falling = np.cumsum((ordered * below)[:, ::-1], axis=1)[:, ::-1]
    left_out = np.concatenate([np.zeros((len(ordered), 1)), rising[:, :-1]], axis=1)
    left_out[:, :-1] += falling[:, 1:]
    return left_out


def _row_blocks(rows: int, columns: int) -> Iterator[slice]:
    step = max(1, (1 << 21) // columns)
    return (slice(start, start + step) for start in range(0, rows, step))
