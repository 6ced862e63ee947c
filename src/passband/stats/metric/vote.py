"""The value of a vote: the chance that the most frequent answer among k trials is right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from passband.errors import InvalidInput
from passband.stats.data.outcomes import Outcomes
from passband.stats.data.votes import AnswerGroups, Votes
from passband.stats.metric.components import ProblemValue
from passband.stats.metric.plurality import winning_curves
from passband.types import Floats, Ints

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Vote", "vote_table"]

_LARGEST = 1 << 22  # sizes of answers at a time
_LARGEST_KEPT = 1 << 23  # values that are kept with their outcomes


@dataclass(frozen=True)
class Vote(ProblemValue):
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
    distinct, place = _distinct(cases)
    curves = winning_curves(distinct[:, 0], distinct[:, 2:], distinct[:, 1])[:, 1:]
    share = groups.right[chosen] / own
    width = min(longest, curves.shape[1])
    np.add.at(values[:, :width], problem, share[:, None] * curves[place, :width])
    return np.minimum(values, 1.0)


def _one_score_each(outcomes: Outcomes, k: int, vote: Vote) -> Outcomes:
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


def _without(sizes: Ints, own: Ints) -> Ints:
    """Take one entry of size `own` out of each row."""
    if not len(sizes):
        return sizes
    place = (sizes == own[:, None]).argmax(axis=1)
    kept = np.arange(sizes.shape[1]) != place[:, None]
    return np.asarray(sizes[kept].reshape(len(sizes), -1))


def _distinct(cases: Ints) -> tuple[Ints, Ints]:
    """Return the distinct rows, and which of them each row is."""
    words = np.random.default_rng(1).integers(1, 2**63, cases.shape[1], dtype=np.int64)
    with np.errstate(over="ignore"):
        keys = (cases * words).sum(axis=1)
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    return cases[first], np.asarray(place)
