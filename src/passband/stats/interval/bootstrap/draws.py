"""Resampling by drawing, where the distribution of the estimate has no closed form.

Which problems a replicate contains matters only through how often each distinct value comes up,
and those counts are multinomial. A replicate of a hundred thousand problems with 64 trials each
costs 65 random numbers, not a hundred thousand, and the counts are drawn in blocks, so that memory
does not grow with the number of replicates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from passband.stats.checks import ROUNDING
from passband.stats.data.graded import GradedScores, ScoreGroup
from passband.stats.data.values import frozen
from passband.stats.interval.bootstrap.exact import SLACK
from passband.stats.metric.metric import Metric
from passband.types import Floats, Ints

REPLICATES = 10_000
_BLOCK = 1 << 18  # random numbers held at a time


@dataclass(frozen=True, eq=False)
class Replicates:
    """The values of the replicates, as an empirical distribution."""

    values: Floats

    @cached_property
    def _ordered(self) -> Floats:
        return np.sort(self.values)

    @property
    def sd(self) -> float:
        """The standard deviation of a replicate; more replicates make it surer, not smaller."""
        return float(self.values.std(ddof=1))

    def lower(self, tail: float) -> float:
        """Return the smallest replicate that a share `tail` of them does not exceed."""
        return float(self._ordered[self._rank(tail)])

    def upper(self, tail: float) -> float:
        """Return the largest replicate that a share `tail` of them reaches."""
        return float(self._ordered[-1 - self._rank(tail)])

    def below(self, value: float) -> float:
        """Return the share of replicates below `value`, those equal to it counting half."""
        near = ROUNDING * max(1.0, abs(value))
        start, end = np.searchsorted(self._ordered, [value - near, value + near])
        return float(start + end) / 2 / len(self.values)

    def _rank(self, tail: float) -> int:
        rank = int(np.ceil(len(self.values) * (tail - SLACK))) - 1
        return min(max(rank, 0), len(self.values) - 1)


def bootstrap_means(values: Floats, problems: Ints, size: int, rng: np.random.Generator) -> Floats:
    """Return the means of `size` resamples of problems, `problems` of them having each value.

    Distributed as if the problems were drawn one by one. For a plain mean `bootstrap_distribution`
    computes that without drawing; this is for checking it, and for metrics of several means.

    >>> rng = np.random.default_rng(7)
    >>> bootstrap_means(np.array([0.0, 0.5, 1.0]), np.array([2, 1, 3]), 3, rng).round(3).tolist()
    [0.667, 0.417, 0.75]
    """
    total = int(problems.sum())
    totals = bootstrap_totals(values[:, None], problems / total, total, size, rng)
    totals /= total
    return totals[:, 0]


def bootstrap_totals(
    rows: Floats, shares: Floats, draws: int, size: int, rng: np.random.Generator
) -> Floats:
    """Return, for each of `size` replicates, the sum of `draws` rows drawn with these shares.

    Draws counts per row, or single rows where there are few draws for each: the result has the
    same distribution.
    """
    totals = np.empty((size, rows.shape[1]))
    if draws < 3 * len(rows):
        edges = np.cumsum(shares)[:-1]
        for block in blocks(size, draws):
            drawn = np.searchsorted(edges, rng.random((len(totals[block]), draws)), side="right")
            totals[block] = np.stack([column[drawn].sum(axis=1) for column in rows.T], axis=1)
        return totals
    for block in blocks(size, len(rows)):
        totals[block] = rng.multinomial(draws, shares, size=len(totals[block])) @ rows
    return totals


def graded_totals(
    graded: GradedScores,
    metric: Metric,
    size: int,
    rng: np.random.Generator,
    *,
    problems_too: bool,
) -> Floats:
    """Return sums over problems of each part of a metric, the scores of a problem being redrawn.

    With `problems_too` the problems are drawn as well, before their scores. A row per replicate.
    """
    groups = [group for group in graded.groups if group.n >= metric.k]
    sizes = np.array([len(group.problem) for group in groups])
    problems = int(sizes.sum())
    totals = np.zeros((size, len(metric.parts)))
    for block in blocks(size, sum(group.ordered.size for group in groups)):
        here = len(totals[block])
        counts = np.tile(sizes, (here, 1))
        if problems_too:
            counts = rng.multinomial(problems, sizes / problems, size=here)
        for group, count in zip(groups, counts.T, strict=True):
            problem = (
                rng.integers(0, len(group.problem), count.sum())
                if problems_too
                else np.tile(np.arange(len(group.problem)), here)
            )
            totals[block] += _sums(_redrawn(group, problem, metric, rng), count)
    return totals


def _redrawn(group: ScoreGroup, problem: Ints, metric: Metric, rng: np.random.Generator) -> Floats:
    """Return the parts of a metric for problems of a group with redrawn scores."""
    if not len(problem):
        return np.zeros((0, len(metric.parts)))
    trial = rng.integers(0, group.n, (len(problem), group.n), dtype=np.int32)
    scores = group.ordered[problem[:, None], trial].ravel()
    fresh = GradedScores(frozen(scores), frozen(np.arange(len(problem) + 1) * group.n))
    return np.stack([part.of_graded(fresh, metric.k) for part in metric.parts], axis=1)


def _sums(values: Floats, count: Ints) -> Floats:
    """Add up consecutive rows, `count` of them to a replicate."""
    replicate = np.repeat(np.arange(len(count)), count)
    sums = [np.bincount(replicate, column, len(count)) for column in values.T]
    return np.stack(sums, axis=1)


def blocks(size: int, width: int) -> Iterator[slice]:
    """Cut `size` replicates of `width` random numbers each into blocks of a bounded size."""
    step = max(1, _BLOCK // max(1, width))
    return (slice(start, start + step) for start in range(0, size, step))
