"""Failed trials, which have no score: what two models would look like, whatever these had been."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from passband.errors import InvalidInput
from passband.stats.data.outcomes import Outcomes
from passband.stats.metric.registry import needs_answers

__all__ = ["Failed", "all_right", "all_wrong", "check_bracket"]

Failed = Literal["bracket", "wrong", "drop"]
"""What failed trials count as: whatever is against a verdict, wrong answers, or nothing."""


def all_wrong(outcomes: Outcomes) -> Outcomes:
    """Return the outcomes with every failed trial a wrong answer."""
    return outcomes.under("fail")


def all_right(outcomes: Outcomes) -> Outcomes:
    """Return the outcomes with every failed trial a right answer.

    >>> counts = Outcomes.from_counts([1, 2], 4, unscored={"timeout": [0, 3]})
    >>> right = all_right(counts)
    >>> right.successes.tolist(), right.trials.tolist()
    ([1, 5], [4, 7])
    """
    if not outcomes.unscored:
        return outcomes
    absent = np.sum(list(outcomes.unscored.values()), axis=0)
    is_raised = not outcomes.scale.lower_is_better
    successes = outcomes.required_successes() + is_raised * absent
    return replace(outcomes, successes=successes, trials=outcomes.trials + absent, unscored={})


def check_bracket(a: Outcomes, b: Outcomes, metric: str) -> None:
    """Refuse failed trials that cannot be counted as right."""
    for outcomes in (a, b):
        if not outcomes.n_unscored:
            continue
        if needs_answers([metric]):
            _refuse(outcomes, "the vote of right answers that were never given is not known")
        if not outcomes.is_binary:
            _refuse(outcomes, "scores are not 0 or 1, so the best that they could be is not known")


def _refuse(outcomes: Outcomes, reason: str) -> None:
    raise InvalidInput(
        f"{outcomes.n_unscored} trials failed, and {reason}; say what failed trials count as: "
        "wrong, or drop."
    )
