"""Banks of k attempts: how many fall into each category, with which probability.

A bank is a vector of counts that add up to k. Its probability is multinomial given the category
probabilities, Dirichlet-multinomial where those have a Dirichlet posterior, and multivariate
hypergeometric where k of the recorded attempts are drawn.
"""

from __future__ import annotations

import itertools
import math
from functools import lru_cache

import numpy as np

from passband.errors import InvalidInput
from passband.types import Floats, Ints

MOST_BANKS = 20_000
_MOST_PAIRS = 4_000_000


@lru_cache(maxsize=32)
def bank_counts(k: int, categories: int) -> Ints:
    """Return every bank of k attempts: (banks, categories).

    >>> bank_counts(2, 2).tolist()
    [[2, 0], [1, 1], [0, 2]]
    """
    number = math.comb(k + categories - 1, categories - 1)
    if number > MOST_BANKS:
        raise InvalidInput(
            f"k={k} attempts in {categories} categories of distinct score make {number} banks, and "
            f"at most {MOST_BANKS} are computed with; use a smaller k, or discovery, stability and "
            "moment(1), (2), (3) or (4), which take any k."
        )
    if categories == 2:
        successes = np.arange(k + 1)
        counts = np.stack([k - successes, successes], axis=1)
    else:
        bars = itertools.combinations(range(k + categories - 1), categories - 1)
        edges = np.array(list(bars), dtype=np.int64).reshape(number, categories - 1)
        ends = np.full((number, 1), k + categories - 1)
        counts = np.diff(np.concatenate([ends * 0 - 1, edges, ends], axis=1), axis=1) - 1
    counts.setflags(write=False)
    return counts


def bank_scores(counts: Ints, scores: Floats, k: int) -> Floats:
    """Return the mean score of each bank, rounded once."""
    exact = counts.astype(np.longdouble) @ scores.astype(np.longdouble) / k
    return np.asarray(exact, dtype=np.float64)


def posterior_probabilities(counts: Ints, alpha: Floats) -> Floats:
    """Return the probability of each bank when category probabilities are Dirichlet(alpha)."""
    return _normalized(_log_ways(counts) + _log_rise(counts, alpha))


def joint_probabilities(counts: Ints, alpha: Floats) -> Floats:
    """Return the probability of each pair of banks with the same category probabilities."""
    from passband.stats.special import gammaln

    if len(counts) ** 2 > _MOST_PAIRS:
        raise InvalidInput(
            f"the standard deviation takes pairs of {len(counts)} banks, of which at most "
            f"{_MOST_PAIRS} are computed with; use sample() for it."
        )
    ways = _log_ways(counts)
    logs = ways[:, None] + ways
    for category, concentration in enumerate(alpha.tolist()):
        both = counts[:, None, category] + counts[:, category]
        rise = gammaln(np.arange(2 * int(counts[0].sum()) + 1) + concentration)
        logs += rise[both] - gammaln(concentration)
    return _normalized(logs)


def given_probabilities(counts: Ints, chances: Floats) -> Floats:
    """Return the probability of each bank given category probabilities, a row per draw."""
    from passband.stats.special import xlogy

    logs = _log_ways(counts) + sum(
        xlogy(counts[:, category], chances[:, category, None])
        for category in range(counts.shape[1])
    )
    return np.asarray(np.exp(logs), dtype=np.float64)


def drawn_probabilities(counts: Ints, recorded: Ints) -> Floats:
    """Return the probability of each bank when its attempts are drawn from recorded ones."""
    from passband.stats.special import gammaln

    possible = (counts <= recorded).all(axis=1)
    left = np.maximum(recorded - counts, 0)
    logs = (gammaln(recorded + 1.0) - gammaln(counts + 1.0) - gammaln(left + 1.0)).sum(axis=1)
    return _normalized(np.where(possible, logs, -np.inf))


def power_payoff(scores: Floats, k: int, power: int) -> tuple[Ints, Floats]:
    """Return banks of `power` attempts, and a payoff on them with the mean of a k-bank's power.

    The expectation of (mean score of k attempts)**power is a polynomial of that degree in the
    category probabilities, so it is also the expectation of a payoff on a bank of `power` attempts:
    over the partitions of the factors, k(k-1)... ways to give each block an attempt of its own.
    """
    counts = bank_counts(power, len(scores))
    attempts = np.stack([np.repeat(np.arange(len(scores)), bank) for bank in counts])
    partitions = [list(map(len, blocks)) for blocks in _partitions(list(range(power)))]
    payoff = np.zeros(len(counts))
    orders = list(itertools.permutations(range(power)))
    for sizes in partitions:
        ways = math.prod((k - index) / k for index in range(len(sizes)))
        scale = ways / float(k) ** (power - len(sizes))
        for order in orders:
            drawn = scores[attempts[:, order[: len(sizes)]]]
            payoff += scale * np.prod(drawn ** np.array(sizes), axis=1) / len(orders)
    return counts, payoff


def _partitions(items: list[int]) -> list[list[list[int]]]:
    """Return every way to split items into blocks."""
    if not items:
        return [[]]
    first, rest = items[0], items[1:]
    result = []
    for blocks in _partitions(rest):
        result.append([[first], *blocks])
        for index, block in enumerate(blocks):
            result.append([*blocks[:index], [first, *block], *blocks[index + 1 :]])
    return result


def _log_ways(counts: Ints) -> Floats:
    from passband.stats.special import gammaln

    ways: Floats = gammaln(counts.sum(axis=1) + 1.0) - gammaln(counts + 1.0).sum(axis=1)
    return ways


def _log_rise(counts: Ints, alpha: Floats) -> Floats:
    from passband.stats.special import gammaln

    rise: Floats = (gammaln(counts + alpha) - gammaln(alpha)).sum(axis=1)
    return rise


def _normalized(logs: Floats) -> Floats:
    """Return probabilities from logarithms that lack a constant."""
    weights = np.exp(logs - logs.max())
    normalized: Floats = weights / weights.sum()
    return normalized
