"""The probability of counts that look stopped by their own outcome, if they were not.

Every problem with fewer trials than the most has exactly one success, and none with the most has
more. If the numbers of trials had nothing to do with the outcomes, that would have probability at
most the product of (1 - 1/n)^(n - 1) over the problems with 2 <= n < max: for any success rate p,
P(c = 1 | n) = n p (1 - p)^(n - 1), which is largest at p = 1/n. The product is a p-value.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from passband.stats.data.counts import Histogram

__all__ = ["STOPPING_LEVEL", "Stopping", "stopping_of"]

STOPPING_LEVEL = 0.01  #: at which trials are taken to be stopped by their outcomes


@dataclass(frozen=True)
class Stopping:
    """The p-value of "the outcomes had no say in the number of trials", from counts."""

    p_value: float
    problems: int  #: that it rests on
    cap: int  #: the most trials of a problem

    @property
    def is_alarm(self) -> bool:
        """Whether every problem looks tried until its first success."""
        return self.p_value <= STOPPING_LEVEL


def stopping_of(histogram: Histogram) -> Stopping:
    """Test whether every problem was tried until its first success, up to the most trials.

    >>> stopping_of(Histogram.of_counts(np.array([2] * 9 + [4]), np.array([1] * 9 + [0])))
    Stopping(p_value=0.001953125, problems=9, cap=4)
    """
    n, c = histogram.trials, histogram.successes
    cap = int(n.max(initial=0))
    is_short = n < cap
    if not is_short.any() or (c > 1).any() or (c[is_short] == 0).any():
        return Stopping(1.0, 0, cap)
    is_telling = is_short & (n >= 2)
    telling, problems = n[is_telling].astype(np.float64), histogram.problems[is_telling]
    log = float(problems @ ((telling - 1.0) * np.log1p(-1.0 / telling)))
    return Stopping(math.exp(log), int(problems.sum()), cap)
