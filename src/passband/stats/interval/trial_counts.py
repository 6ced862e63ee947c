"""Notes on numbers of trials that have to do with the outcomes: no interval can see what they hide.

They cost next to nothing where all problems have the same number of trials.
"""

from __future__ import annotations

import math

import numpy as np

from passband.notes import Note, left_out_differ, stopped_by_outcome, trials_related
from passband.stats.checks import Over
from passband.stats.data.counts import Histogram
from passband.stats.data.outcomes import Outcomes
from passband.stats.data.stopping import stopping_of

__all__ = ["trial_count_notes"]

_BEYOND_CHANCE = 2.576  # standard errors: 1 % of alike groups
_LARGE = 0.1  # difference in pass@1 that is worth a note though it could be chance ...
_SEVERAL = 5  # ... if it rests on this many problems
_CORRELATED = 0.1
_FAR_BEYOND_CHANCE = 3.3


def trial_count_notes(outcomes: Outcomes, k: int, over: Over) -> tuple[Note, ...]:
    """Return what the numbers of trials say against an estimate of a metric with k draws."""
    if outcomes.successes is None or np.count_nonzero(outcomes.trial_tally[1:]) < 2:
        return ()
    pairs = outcomes.histogram
    stopping = stopping_of(pairs)
    if stopping.is_alarm:
        return (stopped_by_outcome(stopping.p_value, stopping.problems, stopping.cap),)
    notes = [_left_out(pairs, k), _related(pairs.at_least(k)) if over == "trials" else None]
    return tuple(note for note in notes if note is not None)


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


def _related(pairs: Histogram) -> Note | None:
    """Correlate the number of trials, on a log scale, with the share of successes."""
    size, rate = np.log(pairs.trials), pairs.successes / pairs.trials
    size, rate = size - pairs.mean(size), rate - pairs.mean(rate)
    scale = math.sqrt(pairs.mean(size**2) * pairs.mean(rate**2))
    correlation = pairs.mean(size * rate) / scale if scale > 0.0 else 0.0
    error = 1.0 / math.sqrt(max(pairs.n_problems - 1, 1))
    is_clear = abs(correlation) > max(_CORRELATED, _FAR_BEYOND_CHANCE * error)
    return trials_related(correlation) if is_clear else None
