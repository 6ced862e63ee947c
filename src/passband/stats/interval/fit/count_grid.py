"""The grid of every (n, c) that could have been observed, with its probability tables.

The fit of the problems' success probabilities, and every interval made from it, work on counts H
over the pairs (n, 0), (n, 1), ..., (n, n) of each n that occurs. H may have leading axes, one
entry per data set, so that a coverage study runs the same code as a user's estimate.

Very many numbers of trials are moved to a few (`binned_counts`). The tables of a fit have a column
for every pair (n, c) that could have been observed: half a million if n runs from 1 to 1024.
Numbers of trials that are nearly the same are as good as the same. Each is replaced by a
representative, at most a given ratio away, and a problem's successes by the same share of it: split
between the two nearest whole numbers, so that the mean of c/n stays.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from passband.stats.data.counts import Histogram
from passband.stats.metric.pmf import binomial_pmf, log_choose
from passband.types import Floats, Ints

GRID_POINTS = 60  # success probabilities sin(pi j / 120)^2 for j = 0..60: denser near 0 and 1
_MEANS = 24
_MOST_PAIRS_KEPT = 1_024  # 4 MB of tables
_ROOT_CORRELATIONS = np.concatenate([[0.003], np.linspace(0.04, 0.98, 9)])


@dataclass(frozen=True, eq=False)
class CountGrid:
    """All pairs (n, c) for some numbers of trials n, in order of n and then of c."""

    ns: tuple[int, ...]
    whole: CountGrid | None = None  # a grid that this is a part of, whose tables are shared
    first: int = 0  # position of the first n in the whole grid

    def part(self, ns: slice) -> CountGrid:
        """Return the grid of neighbouring n, with the tables of this one."""
        return CountGrid(self.ns[ns], self, ns.start)

    @cached_property
    def cells(self) -> slice:
        """The positions of the pairs in the whole grid."""
        start = 0 if self.whole is None else int(self.whole.starts[self.first])
        return slice(start, start + len(self.trials))

    @cached_property
    def trials(self) -> Ints:
        return np.repeat(self.ns, np.array(self.ns) + 1)

    @cached_property
    def successes(self) -> Ints:
        return np.concatenate([np.arange(n + 1) for n in self.ns])

    @cached_property
    def starts(self) -> Ints:
        """The positions at which the pairs of each n begin."""
        return np.concatenate([[0], np.cumsum(np.array(self.ns) + 1)[:-1]])

    @cached_property
    def log_beta_binomial(self) -> Floats:
        """Log-probability of each pair under each Beta of the grid, given n: (Betas, pairs)."""
        if self.whole is not None:
            return self.whole.log_beta_binomial[:, self.cells]
        from passband.stats.special import betaln

        alpha, beta = (parameter[:, None] for parameter in beta_grid())
        n, c = self.trials, self.successes
        table: Floats = log_choose(n, c) + betaln(alpha + c, beta + n - c) - betaln(alpha, beta)
        return table

    @cached_property
    def beta_binomial(self) -> Floats:
        if self.whole is not None:
            return self.whole.beta_binomial[:, self.cells]
        return np.exp(self.log_beta_binomial)

    @cached_property
    def binomial(self) -> Floats:
        """Probability of each pair at each success probability, given n: (points, pairs)."""
        if self.whole is not None:
            return self.whole.binomial[:, self.cells]
        return binomial_pmf(self.trials, self.successes, points()[:, None])

    def counts(self, histogram: Histogram) -> Floats:
        """Return the number of problems with each pair."""
        counts = np.zeros(len(self.trials))
        counts[self.places(histogram.trials, histogram.successes)] = histogram.problems
        return counts

    def places(self, trials: Ints, successes: Ints) -> Ints:
        """Return the position of each pair, or of one nearby where its n is not in the grid."""
        ns = np.array(self.ns)
        index = np.minimum(np.searchsorted(ns, trials), len(ns) - 1)
        before = np.maximum(index - 1, 0)
        index = np.where(trials - ns[before] < ns[index] - trials, before, index)
        shared = np.rint(successes * (ns[index] / trials)).astype(np.int64)
        result: Ints = self.starts[index] + np.where(ns[index] == trials, successes, shared)
        return result

    def per_n(self, values: Floats) -> Floats:
        """Add up the last axis over the pairs of each n."""
        if len(self.ns) == 1:
            total: Floats = values.sum(axis=-1, keepdims=True)
            return total
        return np.add.reduceat(values, self.starts, axis=-1)

    def spread(self, values: Floats) -> Floats:
        """Repeat a value per n for each of its pairs, along the last axis."""
        return np.repeat(values, np.array(self.ns) + 1, axis=-1)


_kept_grid = lru_cache(maxsize=32)(CountGrid)


def grid_of(histogram: Histogram, whole: CountGrid | None = None) -> CountGrid:
    """Return the grid of the numbers of trials that occur, with its tables kept if small.

    If it is the end of a `whole` grid, as where k grows, it is a part of that.
    """
    ns = histogram.ns
    if whole is not None and whole.ns != ns and whole.ns[-len(ns) :] == ns:
        return whole.part(slice(len(whole.ns) - len(ns), len(whole.ns)))
    return grid_for(ns)


def grid_for(ns: tuple[int, ...]) -> CountGrid:
    """Return the grid of some numbers of trials, with its tables kept if small."""
    return _kept_grid(ns) if sum(ns) + len(ns) <= _MOST_PAIRS_KEPT else CountGrid(ns)


@lru_cache(maxsize=1)
def points() -> Floats:
    """Success probabilities on which a distribution over problems is described."""
    p: Floats = np.sin(np.pi * np.arange(GRID_POINTS + 1) / (2 * GRID_POINTS)) ** 2
    return p


@lru_cache(maxsize=1)
def beta_grid() -> tuple[Floats, Floats]:
    """Parameters of 240 Beta distributions that cover means and spreads evenly."""
    means = np.sin(np.pi * (np.arange(_MEANS) + 0.5) / (2 * _MEANS)) ** 2
    mean, root = np.meshgrid(means, _ROOT_CORRELATIONS, indexing="ij")
    size = 1.0 / root**2 - 1.0
    return (mean * size).ravel(), ((1.0 - mean) * size).ravel()


@lru_cache(maxsize=1)
def beta_masses() -> Floats:
    """Probability of the cell around each point under each Beta of the grid: (Betas, points)."""
    from passband.stats.special import betainc

    middle = np.clip(np.arange(GRID_POINTS + 2) - 0.5, 0, GRID_POINTS)
    edges = np.sin(np.pi * middle / (2 * GRID_POINTS)) ** 2
    alpha, beta = beta_grid()
    masses: Floats = np.diff(betainc(alpha[:, None], beta[:, None], edges), axis=1)
    return masses


_ENOUGH_PAIRS = 8_192  # tables of 16 MB, made in a quarter of a second
_MOST_PAIRS = 200_000  # about a gigabyte
_RATIOS = (1.02, 1.05, 1.1, 1.2, 1.4, 2.0, 4.0)


def needs_bins(histogram: Histogram) -> bool:
    """Return whether there are too many distinct numbers of trials."""
    return len(histogram.ns) > 1 and _pairs(histogram.ns) > _ENOUGH_PAIRS


def is_too_large(histogram: Histogram) -> bool:
    """Return whether the tables of a fit would not fit into memory, however coarse."""
    if _pairs(histogram.ns) <= _MOST_PAIRS:
        return False
    return _pairs(tuple(np.unique(_representatives(histogram)).tolist())) > _MOST_PAIRS


def binned_counts(histogram: Histogram) -> Histogram:
    """Return the pairs with representative numbers of trials; problems may be fractions then."""
    if not needs_bins(histogram):
        return histogram
    n = _representatives(histogram)
    width = int(n.max()) + 1
    exact = histogram.successes * (n / histogram.trials)
    lower = np.minimum(np.floor(exact), n - 1).astype(np.int64)
    upper = (exact - lower) * histogram.problems
    pairs, problems = _collected(
        np.concatenate([n, n]) * width + np.concatenate([lower, lower + 1]),
        np.concatenate([histogram.problems - upper, upper]),
    )
    return Histogram(pairs // width, pairs % width, problems)  # type: ignore[arg-type]


def _collected(codes: Ints, weights: Floats) -> tuple[Ints, Floats]:
    pairs, at = np.unique(codes, return_inverse=True)
    total: Floats = np.bincount(at, weights).astype(np.float64)
    return pairs[total > 0.0], total[total > 0.0]


def _representatives(histogram: Histogram) -> Ints:
    """Return for each pair the mean number of trials of its bin, by the finest ratio to do."""
    for ratio in _RATIOS:
        bins = np.floor(np.log(histogram.trials) / np.log(ratio)).astype(np.int64)
        _, bin_of = np.unique(bins, return_inverse=True)
        problems = np.bincount(bin_of, histogram.problems)
        mean = np.bincount(bin_of, histogram.problems * histogram.trials) / problems
        found: Ints = np.rint(mean).astype(np.int64)
        if _pairs(tuple(np.unique(found).tolist())) <= _ENOUGH_PAIRS:
            break
    return found[bin_of]


def _pairs(ns: tuple[int, ...]) -> int:
    return sum(ns) + len(ns)
