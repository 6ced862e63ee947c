"""Exact votes: how often an answer is the most frequent one among k of n recorded trials.

Let one answer have s of the n trials and the others m_1 >= m_2 >= ... of them. Among all k-subsets,
those in which it has v trials and wins, a tie of t+1 answers counting 1/(t+1), number

    C(s, v) [x^(k-v)]  int_0^1  prod_h ( sum_{j<v} C(m_h, j) x^j  +  y C(m_h, v) x^v )  dy

as the integral over y of y^t is 1/(t+1). An answer with m_h < v cannot reach v, and its factor is
(1+x)^m_h whole; so the product is over the few answers with m_h >= v, and Horner's rule puts in
the rest as v falls. The integrand is a polynomial in y, which Gauss' rule integrates exactly. Every
term is positive, so nothing cancels, and every k comes out at once.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from passband.errors import InvalidInput
from passband.types import Floats, Ints

__all__ = ["MOST_VOTES", "winning_curves"]

MOST_VOTES = 1024  #: trials; C(1024, 512) is just within the range of a float
_TOGETHER = 256  # products at a time, which fit into the cache


def winning_curves(own: Ints, others: Ints, silent: Ints) -> Floats:
    """Return how often an answer wins among k = 0, 1, ..., n trials, a row for each case.

    It has `own` trials, the other answers `others` in falling order, filled up with zeros, and
    `silent` trials do not vote. Beyond n, entries are 0.

    >>> cases = np.array([3]), np.array([[2, 0]]), np.array([0])
    >>> winning_curves(*cases).round(3).tolist()
    [[0.0, 0.6, 0.6, 0.7, 0.7, 1.0]]
    """
    trials = own + others.sum(axis=1) + silent
    longest = int(trials.max(initial=0))
    if longest > MOST_VOTES:
        raise InvalidInput(
            f"a vote is counted over at most {MOST_VOTES:,} trials of a problem; got {longest:,}."
        )
    choose = _pascal(longest)
    ways = np.zeros((len(own), longest + 1))
    keys = _prefix_keys(others, longest)
    for v in range(int(own.max(initial=0)), 0, -1):
        _times_powers(ways, v * (others == v).sum(axis=1), choose)
        rivals = (others >= v).sum(axis=1)
        alone = np.flatnonzero((own >= v) & (rivals == 0))
        ways[alone, v] += choose[own[alone], v]
        rows = np.flatnonzero((own >= v) & (rivals > 0))
        if len(rows):
            shared = _shared_ways(others[rows], rivals[rows], keys, rows, v, choose)
            ways[rows, v:] += choose[own[rows], v][:, None] * shared
    _times_powers(ways, silent, choose)
    share: Floats = ways / np.maximum(choose[trials], 1.0)
    return np.where(share > 1.0 - 1e-14, np.ceil(share).clip(max=1.0), share)


@lru_cache(maxsize=4)
def _pascal(longest: int) -> Floats:
    """Return C(n, k) for n and k up to `longest`."""
    choose = np.zeros((longest + 1, longest + 1))
    choose[0, 0] = 1.0
    for n in range(1, longest + 1):
        choose[n, 0] = 1.0
        choose[n, 1 : n + 1] = choose[n - 1, :n] + choose[n - 1, 1 : n + 1]
    choose.flags.writeable = False
    return choose


def _prefix_keys(others: Ints, longest: int) -> Ints:
    """Return a number for the first 0, 1, 2, ... of the others, equal for equal sizes.

    A sum of random 64-bit words, one for each size: two prefixes share a number by chance once in
    2**64.
    """
    words = np.random.default_rng(0).integers(1, 2**64, longest + 1, dtype=np.uint64)
    keys = np.zeros((len(others), others.shape[1] + 1), dtype=np.uint64)
    np.cumsum(words[others], axis=1, out=keys[:, 1:])
    return keys


def _times_powers(ways: Floats, powers: Ints, choose: Floats) -> None:
    """Multiply each row, a polynomial in x, by its power of 1+x, in place."""
    width = ways.shape[1]
    for power in np.unique(powers[powers > 0]).tolist():
        rows = np.flatnonzero(powers == power)
        padded = np.concatenate([np.zeros(width - 1), choose[power, :width]])
        shifted = np.lib.stride_tricks.sliding_window_view(padded, width)[::-1]
        ways[rows] = ways[rows] @ shifted


def _shared_ways(
    others: Ints, rivals: Ints, keys: Ints, rows: Ints, v: int, choose: Floats
) -> Floats:
    """Return the ways in which no rival has more than v trials, by how many they have together.

    Rivals are the others with v trials or more; equal sets of them are counted once.
    """
    _, first, place = np.unique(keys[rows, rivals], return_index=True, return_inverse=True)
    order = np.argsort(-rivals[first], kind="stable")
    width = choose.shape[0] - v
    shared = np.zeros((len(first), width))
    for start in range(0, len(first), _TOGETHER):
        part = order[start : start + _TOGETHER]
        count = rivals[first[part]]
        sizes = others[first[part], : count[0]]
        product = _ones(sizes, count) if v == 1 else _product(sizes, count, v, width, choose)
        reach = min(width, product.shape[1])
        shared[part, :reach] = product[:, :reach]
    return shared[place]


def _ones(sizes: Ints, count: Ints) -> Floats:
    """Return the ways for v = 1: d rivals with one trial each make a tie of d+1."""
    symmetric = np.zeros((len(sizes), int(count[0]) + 1))
    symmetric[:, 0] = 1.0
    for rival in range(int(count[0])):
        rows = int((count > rival).sum())
        symmetric[:rows, 1:] += symmetric[:rows, :-1] * sizes[:rows, rival, None]
    return symmetric / np.arange(1, symmetric.shape[1] + 1)


def _product(sizes: Ints, count: Ints, v: int, width: int, choose: Floats) -> Floats:
    """Return the integral over y of the product, for rows with the most rivals first."""
    y, weight = _gauss(int(count[0]) // 2 + 1)
    product = np.zeros((len(sizes), len(y), min(int(count[0]) * v + 1, width)))
    product[:, :, 0] = 1.0
    length = 1
    for rival in range(int(count[0])):
        rows = int((count > rival).sum())
        ways = choose[sizes[:rows, rival], : v + 1]
        factor = np.repeat(ways[:, None], len(y), axis=1)
        factor[:, :, v] *= y
        longer = min(length + v, product.shape[2])
        product[:rows, :, :longer] = _multiplied(product[:rows, :, :length], factor, longer)
        length = longer
    integral: Floats = np.einsum("uqd,q->ud", product, weight)
    return integral


def _multiplied(polynomial: Floats, factor: Floats, length: int) -> Floats:
    """Return the product of polynomials along the last axis, cut off at a length."""
    product = np.zeros((*polynomial.shape[:-1], length))
    for power in range(min(factor.shape[-1], length)):
        terms = min(polynomial.shape[-1], length - power)
        product[..., power : power + terms] += factor[..., power, None] * polynomial[..., :terms]
    return product


@lru_cache(maxsize=64)
def _gauss(points: int) -> tuple[Floats, Floats]:
    """Return points and weights of Gauss' rule on [0, 1]."""
    points_of, weights = np.polynomial.legendre.leggauss(points)
    return (points_of + 1.0) / 2.0, weights / 2.0
