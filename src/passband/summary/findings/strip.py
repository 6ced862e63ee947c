"""Every problem and every trial: how often each problem is solved, and in which trials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from passband.stats.data import Outcomes
from passband.types import Floats


@dataclass(frozen=True)
class Strip:
    """Problems, easiest first; of each its key, its solved and its scored trials, and marks.

    The marks of a problem are a letter for each trial, in the order of their numbers: "1" right,
    "0" not right, "." without a score.
    """

    keys: tuple[str, ...]
    right: tuple[int, ...]
    scored: tuple[int, ...]
    marks: tuple[str, ...]
    always: int
    sometimes: int
    never: int

    @property
    def rates(self) -> tuple[float, ...]:
        """The success rate of each problem."""
        return tuple(right / of for right, of in zip(self.right, self.scored, strict=True))


def by_ease(outcomes: Outcomes) -> list[int]:
    """Return the places of the problems that have a score, the one solved most often first.

    >>> by_ease(Outcomes.from_counts([1, 4, 0, 4], [4, 4, 0, 8]))
    [1, 3, 0]
    """
    scored = np.flatnonzero(outcomes.trials > 0)
    means = _means(outcomes)[scored]
    return [int(scored[at]) for at in np.lexsort((scored, -means))]


def _means(outcomes: Outcomes) -> Floats:
    """Return the mean score of each problem; what those without a score have is not used."""
    if outcomes.successes is None:
        graded = outcomes.required_graded()
        sums = np.concatenate([[0.0], np.cumsum(graded.values)])[graded.offsets]
        means: Floats = np.diff(sums) / np.maximum(outcomes.trials, 1)
        return means
    rates: Floats = outcomes.successes / np.maximum(outcomes.trials, 1)
    return rates


def strip_of(
    outcomes: Outcomes, numbers: Mapping[str, int], marks: Mapping[int, Sequence[int]]
) -> Strip | None:
    """Return the problems that have a score; None where scores are not all 0 or 1."""
    if outcomes.successes is None or not outcomes.n_trials:
        return None
    scored, right = outcomes.trials, outcomes.successes
    places = by_ease(outcomes)
    keys = [outcomes.problems[place] for place in places]
    return Strip(
        keys=tuple(keys),
        right=tuple(int(right[place]) for place in places),
        scored=tuple(int(scored[place]) for place in places),
        marks=tuple(bytes(marks.get(numbers[key], b"")).decode() for key in keys),
        always=int(((right == scored) & (scored > 0)).sum()),
        sometimes=int(((right < scored) & (right > 0)).sum()),
        never=int(((right == 0) & (scored > 0)).sum()),
    )
