"""Bounds of a metric: every unscored trial a failure, and every one a success."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from passband.stats.data.outcomes import Outcomes
from passband.stats.metric.measure import measure
from passband.stats.metric.registry import parse_metric

__all__ = ["bounds"]


def bounds(outcomes: Outcomes, metric: str) -> tuple[float, float] | None:
    """Return the value with every unscored trial a failure, and with every one a success.

    None where nothing is unscored, where scores are not 0 or 1, so that a success has no score of
    its own, and for votes, which depend on what the right answers would have been.

    >>> counts = Outcomes.from_counts([1, 2], [4, 4], unscored={"timeout": [0, 4]})
    >>> bounds(counts, "pass@1")
    (0.25, 0.5)
    """
    if not outcomes.n_unscored or outcomes.successes is None:
        return None
    if parse_metric(metric, outcomes.under("fail").most_trials()).parts[0].needs_answers:
        return None
    absent = np.sum(list(outcomes.unscored.values()), axis=0)
    is_raised = not outcomes.scale.lower_is_better
    right = replace(
        outcomes,
        trials=outcomes.trials + absent,
        successes=outcomes.successes + is_raised * absent,
        unscored={},
        votes=None,
    )
    wrong = measure(outcomes, metric, policy="fail").value
    ends = wrong, measure(right, metric).value
    return min(ends), max(ends)
