"""The whole of a benchmark from a random part of it: the finite-population correction.

Of N problems M were drawn at random and asked. The target is the mean over all N, so the problems
that were asked bring no uncertainty but that of sampling the model. With f = M/N, and `between` and
`within` the variances of a value across problems and when the model is sampled again,

    variance = (between (1 - f) + within) / M
             = (1 - f) (between + within) / M  +  f within / M

which is (1 - f) times the variance over problems and f times that over trials. The distance from
the value to each end is squared and added in the same way, so that M = N gives the default interval
over trials, a small part of a large population that over problems, and either keeps its own ends
near 0 and 1.

Cochran (1977), Sampling Techniques, chapters 2 and 10.
"""

from __future__ import annotations

import math
from dataclasses import replace

from passband.stats.interval.estimate import Estimate

__all__ = ["part_of_population"]


def part_of_population(problems: Estimate, trials: Estimate, population: int) -> Estimate:
    """Return the estimate for a population, from those over problems and over trials."""
    share = problems.n_problems / population
    notes = tuple(dict.fromkeys((*problems.notes, *trials.notes)))
    method = f"auto, {problems.n_problems} of {population} problems"
    if share == 1.0:
        return replace(trials, over="problems", method=method)
    low = _end(problems.value, problems.low, trials.low, share)
    high = _end(problems.value, problems.high, trials.high, share)
    se = _distance(problems.se, trials.se, share)
    return replace(problems, low=low, high=high, se=se, method=method, notes=notes)


def _end(value: float, wide: float | None, narrow: float | None, share: float) -> float | None:
    if wide is None or narrow is None:
        return None
    distance = _distance(wide - value, narrow - value, share)
    return None if distance is None else value + math.copysign(distance, wide - value)


def _distance(wide: float | None, narrow: float | None, share: float) -> float | None:
    if wide is None or narrow is None:
        return None
    return math.sqrt((1.0 - share) * wide**2 + share * narrow**2)
