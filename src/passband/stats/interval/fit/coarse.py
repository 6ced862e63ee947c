"""Counts with very many numbers of trials, moved to a few of them.

The tables of a fit have a column for every pair (n, c) that could have been observed: half a
million if n runs from 1 to 1024. Numbers of trials that are nearly the same are as good as the
same. Each is replaced by a representative, at most a given ratio away, and a problem's successes by
the same share of it: split between the two nearest whole numbers, so that the mean of c/n stays.
"""

from __future__ import annotations

import numpy as np

from passband.stats.data.counts import Histogram
from passband.types import Floats, Ints

__all__ = ["coarsened", "is_coarsened", "is_too_large"]

_ENOUGH_PAIRS = 8_192  # tables of 16 MB, made in a quarter of a second
_MOST_PAIRS = 200_000  # about a gigabyte
_RATIOS = (1.02, 1.05, 1.1, 1.2, 1.4, 2.0, 4.0)


def is_coarsened(histogram: Histogram) -> bool:
    """Return whether the numbers of trials are too many to be told apart."""
    return len(histogram.ns) > 1 and _pairs(histogram.ns) > _ENOUGH_PAIRS


def is_too_large(histogram: Histogram) -> bool:
    """Return whether the tables of a fit would not fit into memory, however coarse."""
    if _pairs(histogram.ns) <= _MOST_PAIRS:
        return False
    return _pairs(tuple(np.unique(_representatives(histogram)).tolist())) > _MOST_PAIRS


def coarsened(histogram: Histogram) -> Histogram:
    """Return the pairs with representative numbers of trials; problems may be fractions then."""
    if not is_coarsened(histogram):
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
    total = np.bincount(at, weights)
    return pairs[total > 0.0], total[total > 0.0]


def _representatives(histogram: Histogram) -> Ints:
    """Return for each pair the mean number of trials of its bin, by the finest ratio to do."""
    for ratio in _RATIOS:
        bins = np.floor(np.log(histogram.trials) / np.log(ratio)).astype(np.int64)
        _, at = np.unique(bins, return_inverse=True)
        problems = np.bincount(at, histogram.problems)
        mean = np.bincount(at, histogram.problems * histogram.trials) / problems
        found: Ints = np.rint(mean).astype(np.int64)
        if _pairs(tuple(np.unique(found).tolist())) <= _ENOUGH_PAIRS:
            break
    return found[at]


def _pairs(ns: tuple[int, ...]) -> int:
    return sum(ns) + len(ns)
