"""The distribution of problems: how many succeed always, sometimes and never."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from passband.stats.data import Outcomes

_MOST = 240  # blocks of problems; more than any terminal has columns


@dataclass(frozen=True)
class Spread:
    """Success rates of problems, easiest first, and how many are always, sometimes, never right."""

    always: int
    sometimes: int
    never: int
    levels: tuple[float, ...]  #: mean success rates of blocks of problems of equal size


def spread_of(outcomes: Outcomes) -> Spread | None:
    """Return the distribution of the problems that have a score; None if scores are not 0 or 1.

    >>> spread_of(Outcomes.from_counts([8, 4, 0, 8], 8))
    Spread(always=2, sometimes=1, never=1, levels=(1.0, 1.0, 0.5, 0.0))
    """
    if outcomes.successes is None or not outcomes.n_trials:
        return None
    asked = outcomes.trials > 0
    successes, trials = outcomes.successes[asked], outcomes.trials[asked]
    rates = np.sort(successes / trials)[::-1]
    always, never = int((successes == trials).sum()), int((successes == 0).sum())
    blocks = np.array_split(rates, min(len(rates), _MOST))
    levels = tuple(float(block.mean()) for block in blocks)
    return Spread(always, len(rates) - always - never, never, levels)
