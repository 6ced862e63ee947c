"""Judged trials of two models on the problems that both have."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from passband.errors import InvalidInput
from passband.stats.judged.judged import Judged
from passband.types import Ints

__all__ = ["Matched", "match_judged"]


@dataclass(frozen=True, eq=False)
class Matched:
    """Two sides with the same problems in the same order, each with at least k trials."""

    a: Judged
    b: Judged
    n_shared: int
    only_a: int
    only_b: int
    left_out: int


def match_judged(a: Judged, b: Judged, k: int) -> Matched:
    """Return two sides on the problems that both have, and that have k trials on both."""
    shared = sorted(set(a.problems) & set(b.problems))
    sides = [_positions(side, shared) for side in (a, b)]
    enough = (a.trials[sides[0]] >= k) & (b.trials[sides[1]] >= k)
    if enough.sum() < 2:
        raise InvalidInput(
            f"a difference needs at least 2 problems that both models have, with {k} trials each; "
            f"got {int(enough.sum())}."
        )
    return Matched(
        _on(a, sides[0][enough]),
        _on(b, sides[1][enough]),
        len(shared),
        len(a.problems) - len(shared),
        len(b.problems) - len(shared),
        int((~enough).sum()),
    )


def _positions(side: Judged, names: list[str]) -> Ints:
    place = {name: position for position, name in enumerate(side.problems)}
    return np.array([place[name] for name in names], dtype=np.int64)


def _on(side: Judged, positions: Ints) -> Judged:
    """Return the trials of some problems."""
    if len(positions) == side.n_problems:
        return side
    new = np.full(side.n_problems, -1)
    new[positions] = np.arange(len(positions))
    rows = new[side.problem] >= 0
    return replace(
        side,
        problems=tuple(side.problems[position] for position in positions.tolist()),
        problem=new[side.problem][rows],
        trial=side.trial[rows],
        score=side.score[rows],
        label=side.label[rows],
        probability=None if side.probability is None else side.probability[rows],
        votes=None if side.votes is None else side.votes[rows],
        vote_variance=None if side.vote_variance is None else side.vote_variance[rows],
    )
