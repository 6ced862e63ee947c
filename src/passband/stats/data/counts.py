"""The histogram of (n, c) pairs, from a matrix of 0/1 outcomes in one pass over the data.

Every pass-like metric depends on a problem only through n, its number of trials, and c, its
number of successes. A million problems with 16 trials each have at most 17 distinct pairs, and
everything after this module works on those.

Rows of bytes are added as 64-bit words, eight trials to an addition: a byte lane counts up to
255 without carrying into its neighbour.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from passband.stats.data.values import ArrayValue
from passband.types import Bools, Floats, Ints

_LANES_OF_ONE = np.uint64(0x0101010101010101)
_NOT_BINARY = np.uint64(0xFEFEFEFEFEFEFEFE)
_EVEN_LANES = np.uint64(0x00FF00FF00FF00FF)
_PAIRS_OF_ONE = np.uint64(0x0001000100010001)
_BLOCK_BYTES = 1 << 19  # rows are taken in blocks that stay in the cache
_MOST_WORDS = 255  # a lane would overflow beyond
_LARGEST_TALLY = 1 << 22  # entries


@dataclass(frozen=True, eq=False)
class Histogram(ArrayValue):
    """Distinct (n, c) pairs, and how many problems have each."""

    trials: Ints
    successes: Ints
    problems: Ints

    @staticmethod
    def of_counts(trials: Ints, successes: Ints) -> Histogram:
        """Collect the pairs of every problem."""
        high = int(trials.max(initial=0))
        width = high + 1
        if len(trials) and trials.min() == high and width <= _LARGEST_TALLY:
            return Histogram.of_tally(high, np.bincount(successes))
        codes = trials.astype(np.int64) * width + successes
        if width * width <= _LARGEST_TALLY:
            tally = np.bincount(codes)
            (pairs,) = tally.nonzero()
            return Histogram(pairs // width, pairs % width, tally[pairs])
        pairs, problems = np.unique(codes, return_counts=True)
        return Histogram(pairs // width, pairs % width, problems)

    @staticmethod
    def of_tally(n: int, tally: Ints) -> Histogram:
        """Take ``tally[c]`` problems with c successes in n trials."""
        (counts,) = tally.nonzero()
        return Histogram(np.full(len(counts), n), counts, tally[counts])

    @property
    def n_problems(self) -> int:
        return int(self.problems.sum())

    @property
    def n_trials(self) -> int:
        return int(self.problems @ self.trials)

    @cached_property
    def ns(self) -> tuple[int, ...]:
        """The different numbers of trials, fewest first."""
        return tuple(np.unique(self.trials).tolist())

    def where(self, keep: Bools) -> Histogram:
        """Return the pairs for which `keep` is true."""
        return Histogram(self.trials[keep], self.successes[keep], self.problems[keep])

    def at_least(self, k: int) -> Histogram:
        """Return the problems with k trials or more."""
        return self if len(self.trials) and self.trials.min() >= k else self.where(self.trials >= k)

    def mean(self, values: Floats) -> float:
        """Average a value per pair over the problems."""
        return float(self.problems @ values) / self.n_problems


def binary_row_sums(scores: NDArray[np.generic]) -> Ints | None:
    """Add up each row of a 2-D numeric array of 0 and 1; None if any entry is something else."""
    sums = np.empty(len(scores), dtype=np.int64)
    done = 0
    for block in _blocks(scores):
        words = _binary_words(block)
        if words is None:
            return None
        sums[done : done + len(block)] = _lane_sums(words)
        done += len(block)
    return sums


def binary_tally(scores: NDArray[np.generic]) -> Ints | None:
    """Count the rows of a 2-D array of 0 and 1 by their sums; None if any entry is neither."""
    tally = np.zeros(scores.shape[1] + 1, dtype=np.int64)
    for block in _blocks(scores):
        words = _binary_words(block)
        if words is None:
            return None
        tally += np.bincount(_lane_sums(words), minlength=len(tally))
    return tally


def byte_row_sums(bits: NDArray[np.bool_]) -> Ints:
    """Add up each row of a 2-D boolean array."""
    sums = binary_row_sums(bits)
    assert sums is not None
    return sums


def _blocks(scores: NDArray[np.generic]) -> Iterator[NDArray[np.generic]]:
    rows = max(1, _BLOCK_BYTES // max(1, scores.shape[1] * scores.itemsize))
    for start in range(0, len(scores), rows):
        yield scores[start : start + rows]


def _binary_words(block: NDArray[np.generic]) -> NDArray[np.uint64] | None:
    """Return the rows as words whose bytes are 0 or 1, or None if the block holds anything else."""
    kind = block.dtype.kind
    if kind == "b":
        words = _as_words(block.view(np.uint8))
        clean = not np.bitwise_or.reduce(words, axis=None) & _NOT_BINARY
        return words if clean else _as_words((block != 0).view(np.uint8))  # bytes not from numpy
    if kind in "iu" and block.itemsize == 1:
        words = _as_words(block.view(np.uint8))
        return None if np.bitwise_or.reduce(words, axis=None) & _NOT_BINARY else words
    if kind in "iu":
        stray = np.bitwise_or.reduce(block, axis=None) >> block.dtype.type(1)
        return None if stray else _as_words(block.astype(np.uint8))
    ones = block == 1
    return _as_words(ones.view(np.uint8)) if np.logical_or(ones, block == 0).all() else None


def _as_words(bits: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """View rows of bytes as 64-bit words, padded with zeros to a whole number of words."""
    rows, n = bits.shape
    if n % 8 or not bits.flags.c_contiguous:
        padded = np.zeros((rows, n + -n % 8), dtype=np.uint8)
        padded[:, :n] = bits
        bits = padded
    return bits.view(np.uint64)


def _lane_sums(words: NDArray[np.uint64]) -> Ints:
    """Add up the bytes of each row of words, all of them 0 or 1."""
    if words.shape[1] > _MOST_WORDS:
        starts = range(0, words.shape[1], _MOST_WORDS)
        total_of_parts: Ints = np.sum(
            [_lane_sums(words[:, start : start + _MOST_WORDS]) for start in starts], axis=0
        )
        return total_of_parts
    total = _add_columns(words)
    if words.shape[1] < 32:  # the eight lanes add up to less than 256, so one byte can hold it
        total *= _LANES_OF_ONE
        total >>= np.uint64(56)
    else:
        pairs = np.bitwise_and(total, _EVEN_LANES)
        total >>= np.uint64(8)
        total &= _EVEN_LANES
        total += pairs
        total *= _PAIRS_OF_ONE
        total >>= np.uint64(48)
    return total.view(np.int64)


def _add_columns(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Add up each row of words; column by column where the rows are short, which is faster."""
    if words.shape[1] > 16:
        wide: NDArray[np.uint64] = np.add.reduce(words, axis=1, dtype=np.uint64)
        return wide
    total = words[:, 0].copy()
    for column in range(1, words.shape[1]):
        total += words[:, column]
    return total
