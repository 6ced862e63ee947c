"""Rounds: the trials of every problem in their order, one column per round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from passband.errors import InvalidInput
from passband.stats.data.outcomes import Outcomes
from passband.types import ArrayLike, Floats

__all__ = ["Rounds"]


@dataclass(frozen=True, eq=False)
class Rounds:
    """Complete rounds: the score of every problem in each, or NaN where a trial has none.

    A round is one trial of every problem. An incomplete round holds those trials that happened to
    come back first, and answers that come late differ from the others; so it is not part of these.

    >>> rounds = Rounds.of([[1, 0, 1], [0, 0, None]])
    >>> rounds.count, rounds.upto(2).successes.tolist()
    (3, [1, 0])
    """

    scores: Floats  # problems x rounds
    problems: Sequence[str] | None = None
    clusters: Sequence[str] | None = None

    @classmethod
    def of(
        cls,
        scores: ArrayLike | Sequence[Sequence[float | None]],
        problems: Sequence[str] | None = None,
    ) -> Rounds:
        """Take a matrix whose rows are problems; every row has one entry per round."""
        try:
            values = np.array(scores, dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidInput("every problem must have one score, or None, per round.") from None
        if values.ndim != 2 or not len(values):
            raise InvalidInput(
                f"rounds must be a matrix of problems x rounds; got shape {values.shape}."
            )
        return cls(values, problems)

    @property
    def count(self) -> int:
        return int(self.scores.shape[1])

    @property
    def n_problems(self) -> int:
        return len(self.scores)

    def upto(self, rounds: int) -> Outcomes:
        """Return the outcomes of the first rounds."""
        return Outcomes.from_array(
            self.scores[:, :rounds], problems=self.problems, clusters=self.clusters
        )
