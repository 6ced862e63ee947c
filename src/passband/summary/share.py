"""Whether scores are shares of 1, so that a mean of them can be written as a percentage."""

from __future__ import annotations

from passband.stats.data.outcomes import Outcomes
from passband.trials.records import Bounds

__all__ = ["is_share"]


def is_share(outcomes: Outcomes, bounds: Bounds | None = None) -> bool:
    """Return whether scores are on a scale from 0 to 1, by the scorer's bounds or the scores.

    >>> is_share(Outcomes.from_counts([1, 2], 8)), is_share(Outcomes.from_array([[34.2, 28.0]]))
    (True, False)
    """
    if bounds is not None and None not in bounds:
        return tuple(bounds) == (0.0, 1.0)
    if outcomes.is_binary or not outcomes.n_trials:
        return True
    scores = outcomes.required_graded().values
    return bool(scores.min() >= 0 and scores.max() <= 1)
