"""The value of a vote: the chance that the most frequent answer among k trials is right.

Let one answer have s of the n trials and the others m_1 >= m_2 >= ... of them. Among all k-subsets,
those in which it has v trials and wins, a tie of t+1 answers counting 1/(t+1), number

    C(s, v) [x^(k-v)]  int_0^1  prod_h ( sum_{j<v} C(m_h, j) x^j  +  y C(m_h, v) x^v )  dy

as the integral over y of y^t is 1/(t+1). An answer with m_h < v cannot reach v, and its factor is
(1+x)^m_h whole; so the product is over the few answers with m_h >= v, and Horner's rule puts in
the rest as v falls. The integrand is a polynomial in y, which Gauss' rule integrates exactly. Every
term is positive, so nothing cancels, and every k comes out at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from passband.errors import InvalidInput
from passband.stats.data.outcomes import Outcomes
from passband.stats.data.votes import AnswerGroups, Votes
from passband.stats.metric.components import ProblemValue
from passband.types import Floats, Ints

if TYPE_CHECKING:
    from typing_extensions import Self


MOST_VOTES = 1024  #: trials; C(1024, 512) is just within the range of a float
_TOGETHER = 256  # products at a time, which fit into the cache


def winning_curves(votes: Ints, others: Ints, silent: Ints) -> Floats:
    """Return an answer's winning probability among k = 0..n trials, a row per case.

    It has `own` trials, the other answers `others` in falling order, filled up with zeros, and
    `silent` trials do not vote. Beyond n, entries are 0.

    >>> cases = np.array([3]), np.array([[2, 0]]), np.array([0])
    >>> winning_curves(*cases).round(3).tolist()
    [[0.0, 0.6, 0.6, 0.7, 0.7, 1.0]]
    """
    trials = votes + others.sum(axis=1) + silent
    longest = int(trials.max(initial=0))
    if longest > MOST_VOTES:
        raise InvalidInput(
            f"a vote is counted over at most {MOST_VOTES:,} trials of a problem; got {longest:,}."
        )
    choose = _pascal(longest)
    ways = np.zeros((len(votes), longest + 1))
    keys = _prefix_keys(others, longest)
    for v in range(int(votes.max(initial=0)), 0, -1):
        _times_powers(ways, v * (others == v).sum(axis=1), choose)
        rivals = (others >= v).sum(axis=1)
        alone = np.flatnonzero((votes >= v) & (rivals == 0))
        ways[alone, v] += choose[votes[alone], v]
        rows = np.flatnonzero((votes >= v) & (rivals > 0))
        if len(rows):
            shared = _shared_ways(others[rows], rivals[rows], keys, rows, v, choose)
            ways[rows, v:] += choose[votes[rows], v][:, None] * shared
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
    _, first, index = np.unique(keys[rows, rivals], return_index=True, return_inverse=True)
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
    return shared[index]


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


_LARGEST = 1 << 22  # sizes of answers at a time
_LARGEST_KEPT = 1 << 23  # values that are kept with their outcomes


@dataclass(frozen=True)
class VoteValue(ProblemValue):
    """The chance that the most frequent of k answers is right, ties being shared equally.

    Not a function of the number of successes: the wrong answers count by how they agree.
    """

    needs_answers = True

    def at(self, trials: Ints, successes: Ints, k: int) -> Floats:
        if k == 1:
            return successes / trials
        raise InvalidInput("a vote needs answers; the numbers of successes do not determine it.")

    def latent(self, p: Floats, k: int) -> Floats:
        if k == 1:
            return p
        raise InvalidInput("a vote needs answers; success probabilities do not determine it.")

    def of_answers(self, outcomes: Outcomes, k: int) -> Floats:
        enough = outcomes.trials >= max(k, 1)
        return _column(outcomes, k)[enough]

    def as_scores(self, outcomes: Outcomes, k: int, over: str) -> Outcomes | None:
        outcomes.required_votes()
        if k == 1:
            return outcomes
        return _one_score_each(outcomes, k, self) if over == "problems" else None

    @classmethod
    def curve(cls, values: Sequence[Self], outcomes: Outcomes) -> Floats:
        longest = outcomes.most_trials()
        totals = sum(table.sum(axis=0) for table in _tables(outcomes, longest))
        enough = outcomes.trial_tally[::-1].cumsum()[::-1][1:]
        means: Floats = totals / enough
        return means[: len(values)]


def vote_table(votes: Votes, longest: int) -> Floats:
    """Return the value of each problem at k = 1, 2, ..., `longest`; 0 beyond its trials.

    >>> votes = Votes.of_trials(np.zeros(3, int), np.array([0, 0, 1]), np.array([1.0, 1.0, 0.0]), 1)
    >>> vote_table(votes, 3).round(3).tolist()
    [[0.667, 0.667, 1.0]]
    """
    groups = votes.groups
    values = np.zeros((votes.n_problems, longest))
    sizes = _sorted_sizes(groups, votes.n_problems)
    chosen = np.flatnonzero(groups.right)
    problem, own = groups.problem[chosen], groups.size[chosen]
    others = _without(sizes[problem], own)
    cases = np.column_stack([own, groups.silent[problem], others])
    distinct, index = _distinct(cases)
    curves = winning_curves(distinct[:, 0], distinct[:, 2:], distinct[:, 1])[:, 1:]
    share = groups.right[chosen] / own
    width = min(longest, curves.shape[1])
    np.add.at(values[:, :width], problem, share[:, None] * curves[index, :width])
    return np.minimum(values, 1.0)


def _one_score_each(outcomes: Outcomes, k: int, vote: VoteValue) -> Outcomes:
    """Return the problems with at least k trials, each with its vote as its only score."""
    chosen = np.flatnonzero(outcomes.trials >= max(k, 1)).tolist()
    clusters = outcomes.clusters
    return Outcomes.from_array(
        vote.of_answers(outcomes, k)[:, None],
        problems=[outcomes.problems[i] for i in chosen],
        clusters=None if clusters is None else [clusters[i] for i in chosen],
    )


def _column(outcomes: Outcomes, k: int) -> Floats:
    """Return the value of each problem at one k; all k are kept where they are not too many."""
    longest = outcomes.most_trials()
    if k == 1:
        n = outcomes.trials
        return outcomes.required_successes() / np.maximum(n, 1)
    if outcomes.n_problems * longest > _LARGEST_KEPT:
        return np.concatenate([table[:, k - 1] for table in _tables(outcomes, longest)])
    if "votes" not in outcomes.memo:
        outcomes.memo["votes"] = np.concatenate(list(_tables(outcomes, longest)))
    column: Floats = outcomes.memo["votes"][:, k - 1]
    return column


def _tables(outcomes: Outcomes, longest: int) -> Iterator[Floats]:
    """Yield the values at every k, some problems at a time."""
    outcomes.required_successes()
    votes = outcomes.required_votes()
    step = max(1, _LARGEST // max(longest, 1))
    for start in range(0, votes.n_problems, step):
        stop = min(start + step, votes.n_problems)
        yield vote_table(votes.take(np.arange(start, stop)), longest)


def _sorted_sizes(groups: AnswerGroups, problems: int) -> Ints:
    """Return the sizes of each problem's answers in falling order, filled up with zeros."""
    order = np.lexsort((-groups.size, groups.problem))
    problem = groups.problem[order]
    each = np.bincount(problem, minlength=problems)
    rank = np.arange(len(order)) - np.repeat(np.cumsum(each) - each, each)
    sizes = np.zeros((problems, int(each.max(initial=0))), dtype=np.int64)
    sizes[problem, rank] = groups.size[order]
    return sizes


def _without(sizes: Ints, votes: Ints) -> Ints:
    """Take one entry of size `own` out of each row."""
    if not len(sizes):
        return sizes
    place = (sizes == votes[:, None]).argmax(axis=1)
    kept = np.arange(sizes.shape[1]) != place[:, None]
    return np.asarray(sizes[kept].reshape(len(sizes), -1))


def _distinct(cases: Ints) -> tuple[Ints, Ints]:
    """Return the distinct rows, and which of them each row is."""
    words = np.random.default_rng(1).integers(1, 2**63, cases.shape[1], dtype=np.int64)
    with np.errstate(over="ignore"):
        keys = (cases * words).sum(axis=1)
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    return cases[first], np.asarray(place)
