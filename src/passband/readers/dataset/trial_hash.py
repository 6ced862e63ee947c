"""Hashes of trial numbers, whose sum over the trials of a problem is a fingerprint of them.

Sums are taken modulo 2**64. That of trials 0 to n - 1 is known beforehand, so a problem whose sum
is that one has each of these trials once; another set has the same sum with probability 2**-64.
Sums over files, and over machines, add up.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from passband.errors import InvalidInput
from passband.readers.dataset.arrow_arrays import flags, numbers
from passband.readers.dataset.coder import IntegerCoder, LabelCoder
from passband.types import Ints

__all__ = ["NULL_HASH", "LabelHash", "NumberHash", "TableHash", "TrialHash", "hash_for", "mixed"]

LARGEST_TABLE = 1 << 22
MOST_LABELS = 5_000_000
NULL_HASH = np.uint64(0x9E3779B97F4A7C15)


def mixed(values: Any) -> Any:
    """Return integers as random ones: the finalizer of SplitMix64, which is one to one.

    >>> len(set(mixed(np.arange(1000)).tolist()))
    1000
    """
    z = np.asarray(values).astype(np.uint64) + NULL_HASH
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


class TableHash:
    """Hashes of integers in a small range, from a table."""

    def __init__(self, low: int, high: int) -> None:
        self.low, self.count = low, high - low + 1
        self._places = IntegerCoder(low, high)
        table = mixed(np.arange(self.count, dtype=np.uint64) + np.uint64(low % 2**64))
        self._table = np.append(table, NULL_HASH)
        self.sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(table, dtype=np.uint64)])

    def places(self, array: Any) -> Ints:
        """Return each trial's number above the least; that of null is one more than any."""
        return self._places.look_up(array)

    def at(self, places: Ints) -> Any:
        """Return the hashes of trials by their places."""
        return self._table[places]

    def hashes(self, array: Any) -> Any:
        return self.at(self.places(array))


class NumberHash:
    """Hashes of integers of any size."""

    def hashes(self, array: Any) -> Any:
        import pyarrow as pa

        if pa.types.is_null(array.type):
            return np.full(len(array), NULL_HASH)
        if pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        hashes = mixed(numbers(array.fill_null(0)))
        if array.null_count:
            hashes[flags(array.is_null())] = NULL_HASH
        return hashes


class LabelHash:
    """Hashes of trials that are text, or anything else that has a label."""

    def __init__(self) -> None:
        self._coder = LabelCoder()
        self._table = np.zeros(0, dtype=np.uint64)

    def hashes(self, array: Any) -> Any:
        codes = self._coder.complete(array, self._coder.look_up(array), self._grow)
        return self._table[codes]

    def _grow(self, labels: list[str], rows: Ints) -> None:
        if len(self._coder) > MOST_LABELS:
            raise InvalidInput(
                f"the column of trials has more than {MOST_LABELS:,} different texts; write them "
                "as integers, or leave the column out with another one as trial."
            )
        digests = [hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest()
                   for text in labels]  # fmt: skip
        new = np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)
        self._table = np.concatenate([self._table, new])


TrialHash = TableHash | NumberHash | LabelHash


def hash_for(kind: str, bounds: tuple[int, int] | None) -> TrialHash:
    """Return the hash for a column of trials, by what it holds."""
    if kind != "integer":
        return LabelHash()
    if bounds is not None and bounds[1] - bounds[0] < LARGEST_TABLE:
        return TableHash(*bounds)
    return NumberHash()
