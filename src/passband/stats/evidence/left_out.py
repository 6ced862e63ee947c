"""The note on problems with too few trials that are unlike the others."""

from __future__ import annotations

import math

import numpy as np

from passband.notes import Note, left_out_differ
from passband.stats.data.counts import Histogram
from passband.stats.data.outcomes import Outcomes

__all__ = ["left_out_notes"]

_BEYOND_CHANCE = 2.576  # standard errors: 1 % of alike groups
_LARGE = 0.1  # difference in pass@1 that is worth a note though it could be chance ...
_SEVERAL = 5  # ... if it rests on this many problems


def left_out_notes(outcomes: Outcomes, k: int) -> tuple[Note, ...]:
    """Return the note on the problems with fewer than k trials, if they are unlike the others."""
    if outcomes.successes is None or np.count_nonzero(outcomes.trial_tally[1:]) < 2:
        return ()
    note = _left_out(outcomes.histogram, k)
    return () if note is None else (note,)


def _left_out(pairs: Histogram, k: int) -> Note | None:
    """Compare the problems with fewer than k trials with the others."""
    short = pairs.trials < k
    left, kept = pairs.where(short), pairs.where(~short)
    if not left.n_problems or not kept.n_problems:
        return None
    apart = _rate(left) - _rate(kept)
    rate = pairs.successes / pairs.trials
    spread = pairs.mean(rate**2) - pairs.mean(rate) ** 2
    error = math.sqrt(max(spread, 0.0) * (1.0 / left.n_problems + 1.0 / kept.n_problems))
    is_large = abs(apart) >= _LARGE and min(left.n_problems, kept.n_problems) >= _SEVERAL
    if not is_large and abs(apart) <= _BEYOND_CHANCE * error:
        return None
    return left_out_differ(_rate(left), _rate(kept), left.n_problems, k)


def _rate(pairs: Histogram) -> float:
    return pairs.mean(pairs.successes / pairs.trials)
