"""The units that a bootstrap resamples: problems, clusters, or trials within problems.

Every unit is a row: the sum of each part of the metric over the unit's problems, and the number of
its problems, which is 1 for a problem by itself. The estimate is a ratio of sums over units (or a
blend of such ratios), so resampling units means adding up other rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement
from math import comb

import numpy as np

from passband.stats.checks import ROUNDING
from passband.stats.data.counts import Histogram
from passband.stats.interval.bootstrap.draws import bootstrap_totals, graded_totals
from passband.stats.interval.bootstrap.exact import TrialGroup, ValuePool
from passband.stats.interval.request import IntervalRequest
from passband.stats.interval.seeds import seed_of_data
from passband.stats.metric.components import values_of
from passband.stats.metric.metric import Metric
from passband.stats.metric.pmf import binomial_pmf
from passband.types import Floats, Ints

_LEVELS = 256
_MOST_RESAMPLES = 10_000  # of 8 units there are 6,435


@dataclass(frozen=True, eq=False)
class Units:
    """Distinct units with the share of each, and how many are drawn for one replicate."""

    metric: Metric
    rows: Floats  # (distinct, parts + 1); the last column is the number of problems
    shares: Floats
    draws: int

    @cached_property
    def is_mean(self) -> bool:
        """Whether the estimate is a plain mean over units: one part, units of one size."""
        return self.metric.is_mean and bool((self.rows[:, -1] == self.rows[0, -1]).all())

    @cached_property
    def totals(self) -> Floats:
        """The sums over the units that were observed."""
        sums: Floats = self.draws * self.shares @ self.rows
        return sums

    def pool(self) -> ValuePool:
        """Return the values of the units, where the estimate is their mean."""
        return ValuePool(self.rows[:, 0] / self.rows[:, -1], self.shares, self.draws)

    def seed(self, seed: int | None) -> int:
        """Return the seed, or one made from the data if it is None."""
        if seed is not None:
            return seed
        return data_seed(self.metric, self.rows, self.shares * self.draws)

    def statistic(self, totals: Floats) -> Floats:
        """Return the estimate for rows of sums over units."""
        return estimates(self.metric, totals)

    def replicates(self, size: int, rng: np.random.Generator) -> Floats:
        """Return the estimates from `size` resamples of the units."""
        return self.statistic(bootstrap_totals(self.rows, self.shares, self.draws, size, rng))

    @property
    def is_enumerable(self) -> bool:
        """Whether distinct resamples are few enough to enumerate."""
        kinds = len(self.rows)
        return self.draws <= _MOST_RESAMPLES and (
            comb(self.draws + kinds - 1, kinds - 1) <= _MOST_RESAMPLES
        )

    def every_resample(self) -> tuple[Floats, Floats]:
        """Return the estimate from every resample that can be drawn, and its probability."""
        from passband.stats.special import gammaln

        kinds = len(self.rows)
        picks = combinations_with_replacement(range(kinds), self.draws)
        counts = np.array([np.bincount(pick, minlength=kinds) for pick in picks])
        ways = gammaln(self.draws + 1) - gammaln(counts + 1).sum(axis=1)
        masses = np.exp(ways + counts @ np.log(self.shares))
        return self.statistic(counts @ self.rows), masses / masses.sum()

    def left_out(self) -> Floats:
        """Return the estimate without one unit of each kind."""
        return self.statistic(self.totals - self.rows)

    def gathered(self) -> Units:
        """Return the units with their values moved to 256 levels, where they are many more.

        A value is split between the two nearest levels, so that the mean stays; the variance
        changes by less than a ten-thousandth of what it is for values all over the range.
        """
        if not self.is_mean or len(self.rows) <= 2 * _LEVELS or self.draws < 3 * _LEVELS:
            return self
        values, size = self.rows[:, 0], self.rows[0, -1]
        levels = np.linspace(values.min(), values.max(), _LEVELS)
        place = np.clip((values - levels[0]) / (levels[1] - levels[0]), 0.0, _LEVELS - 1.0)
        lower = np.minimum(place.astype(np.int64), _LEVELS - 2)
        upper = (place - lower) * self.shares
        shares = np.bincount(lower, self.shares - upper, _LEVELS)
        shares += np.bincount(lower + 1, upper, _LEVELS)
        kept = shares > 0.0
        rows = np.stack([levels, np.full(_LEVELS, size)], axis=1)
        return Units(self.metric, rows[kept], shares[kept] / shares.sum(), self.draws)

    # -- standard errors, from sums and sums of squares over units -----------------------------

    @cached_property
    def with_squares(self) -> Floats:
        """Rows, followed by all products of two of their entries."""
        products = self.rows[:, :, None] * self.rows[:, None, :]
        return np.concatenate([self.rows, products.reshape(len(self.rows), -1)], axis=1)

    def standard_error(self, sums: Floats) -> Floats:
        """Return the standard error for rows of sums over `with_squares`.

        To first order a unit with row r moves the estimate by g.r, g being the gradient at the
        totals; these contributions add up to zero, and U units give a variance of
        U/(U-1) sum (g.r)^2. For a mean of problems that is the textbook s / sqrt(M), for
        clusters the sum of squared cluster residuals with its usual correction.
        """
        width = self.rows.shape[1]
        totals, squares = sums[..., :width], sums[..., width:]
        gradient = self.metric.gradient(totals)
        outer = gradient[..., :, None] * gradient[..., None, :]
        terms = outer.reshape(squares.shape) * squares
        variance = terms.sum(axis=-1)
        # What rounding leaves of a sum that cancels is no variance.
        variance = np.where(variance < ROUNDING * np.abs(terms).sum(axis=-1), 0.0, variance)
        return np.sqrt(variance * self.draws / (self.draws - 1.0))


def estimates(metric: Metric, totals: Floats) -> Floats:
    """Return the metric from sums of its parts over problems, the last column being their number.

    >>> from passband.stats.metric.registry import parse_metric
    >>> estimates(parse_metric("geom-ds@2"), np.array([[4.0, 1.0, 8.0]])).round(4).tolist()
    [0.25]
    """
    return metric.combined(totals[..., :-1] / totals[..., -1:])


# -- units over problems -----------------------------------------------------------------------


def units_of(request: IntervalRequest) -> Units:
    """Return the clusters of problems if there are any, else the problems."""
    if request.outcomes.is_clustered:
        rows = _cluster_rows(request)
        counts: Ints = np.ones(len(rows), dtype=np.int64)
    else:
        parts = [values_of(part, request.outcomes, request.k) for part in request.metric.parts]
        counts = parts[0].problems
        rows = np.stack([*(part.values for part in parts), np.ones(len(counts))], axis=1)
    rows, counts = _distinct(rows, counts)
    units = int(counts.sum())
    return Units(request.metric, rows, counts / units, units)


def _cluster_rows(request: IntervalRequest) -> Floats:
    """Return a row per cluster: sums of the parts over its problems, and their number."""
    outcomes = request.outcomes
    cluster = outcomes.cluster_codes(outcomes.trials >= request.k)
    sums = [np.bincount(cluster, values) for values in request.metric.by_problem(outcomes).T]
    return np.stack([*sums, np.bincount(cluster)], axis=1).astype(np.float64)


def _distinct(rows: Floats, counts: Ints) -> tuple[Floats, Ints]:
    """Collect equal rows, in rising order."""
    order = np.lexsort(rows.T[::-1])
    rows, counts = rows[order], counts[order]
    starts = np.flatnonzero(np.r_[True, (rows[1:] != rows[:-1]).any(axis=1)])
    return rows[starts], np.add.reduceat(counts, starts)


def two_level_units(request: IntervalRequest) -> Units:
    """Return the units of a two-level bootstrap: a problem is drawn, then its trials are redrawn.

    A problem with c of n successes turns into one with Binomial(n, c/n) successes.
    """
    pairs = request.outcomes.histogram.at_least(request.k)
    rows, shares = [], []
    for n in np.unique(pairs.trials).tolist():
        here = pairs.where(pairs.trials == n)
        rows.append(_rows_of_trials(request, n))
        shares.append(here.problems @ np.stack([_binomial(n, c) for c in here.successes]))
    weight = np.concatenate(shares) / pairs.n_problems
    kept = weight > 0.0
    return Units(request.metric, np.concatenate(rows)[kept], weight[kept], pairs.n_problems)


# -- trials within problems --------------------------------------------------------------------


def trial_pools(request: IntervalRequest) -> list[ValuePool]:
    """Return, for each distinct (n, c), the values that Binomial(n, c/n) successes would give."""
    pools = []
    for n, c, problems in _each(request.outcomes.histogram.at_least(request.k)):
        distribution = _binomial(n, c)
        kept = distribution > 0.0
        pools.append(ValuePool(_rows_of_trials(request, n)[kept, 0], distribution[kept], problems))
    return pools


def trial_groups(request: IntervalRequest) -> Iterator[TrialGroup]:
    """Yield the same by n: the values of Binomial(n, c/n) successes, for every c that occurs."""
    pairs = request.outcomes.histogram.at_least(request.k)
    for n in pairs.ns:
        here = pairs.where(pairs.trials == n)
        shares = binomial_pmf(n, np.arange(n + 1), (here.successes / n)[:, None])
        shares = shares / shares.sum(axis=1, keepdims=True)
        yield TrialGroup(_rows_of_trials(request, n)[:, 0], shares, here.problems)


def redrawn_trials(request: IntervalRequest, size: int, rng: np.random.Generator) -> Floats:
    """Return estimates in which every problem with c of n successes got Binomial(n, c/n)."""
    totals = np.zeros((size, len(request.metric.parts) + 1))
    pairs = request.outcomes.histogram.at_least(request.k)
    for n, c, problems in _each(pairs):
        rows = _rows_of_trials(request, n)
        if 0 < c < n:
            totals += bootstrap_totals(rows, _binomial(n, c), problems, size, rng)
        else:
            totals += problems * rows[c]
    return estimates(request.metric, totals)


def redrawn_graded(
    request: IntervalRequest, size: int, rng: np.random.Generator, *, problems_too: bool
) -> Floats:
    """Return estimates in which the scores of every problem are drawn from its own."""
    graded = request.outcomes.required_graded()
    sums = graded_totals(graded, request.metric, size, rng, problems_too=problems_too)
    problems = np.full((size, 1), int((request.outcomes.trials >= request.k).sum()))
    totals = np.concatenate([sums, problems], axis=1)
    return estimates(request.metric, totals)


def _each(pairs: Histogram) -> list[tuple[int, ...]]:
    columns = (pairs.trials.tolist(), pairs.successes.tolist(), pairs.problems.tolist())
    return list(zip(*columns, strict=True))


def _rows_of_trials(request: IntervalRequest, n: int) -> Floats:
    """Return the row of a problem with 0, 1, ..., n successes in n trials."""
    trials, successes = np.full(n + 1, n), np.arange(n + 1)
    parts = [part.at(trials, successes, request.k) for part in request.metric.parts]
    return np.stack([*parts, np.ones(n + 1)], axis=1)


def _binomial(n: int, c: int) -> Floats:
    """Return the distribution of Binomial(n, c/n)."""
    weights = binomial_pmf(n, np.arange(n + 1), c / n)
    shares: Floats = weights / weights.sum()
    return shares


# -- seeds -------------------------------------------------------------------------------------


def data_seed(metric: Metric, *arrays: Floats | Ints) -> int:
    """Return a seed that depends on the data and on the metric's name alone."""
    return seed_of_data(metric.name, *arrays)
