"""The whole of a benchmark from a random part of it: the finite-population term.

Of N problems m were drawn at random and asked. The target is the mean over all N, so problems that
were asked bring no uncertainty but that of sampling the model:

    variance = (between (1 - m/N) + within) / m

`between` is the variance of the values across problems, `within` that of one value when the model
is sampled again. The sum of squares across problems has one unit added, as if one more problem lay
a whole unit off the mean; without it a few rare failures that were not drawn pass for certainty.
At m = N what is left is the guarded interval over trials.

Cochran (1977), Sampling Techniques, chapters 2 and 10.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from passband.errors import InvalidInput, NotEnoughData
from passband.stats.checks import as_level, as_whole, check_outcomes
from passband.stats.data.outcomes import Outcomes, Policy
from passband.stats.decision.pairing import linear_values
from passband.stats.interval.default.wilson import student_quantile
from passband.stats.metric.registry import parse_metric
from passband.stats.sequential.width import guard

__all__ = ["BenchmarkEstimate", "estimate_benchmark"]

_PSEUDO_UNIT = 1.0


@dataclass(frozen=True)
class BenchmarkEstimate:
    """A metric over all N problems of a benchmark, from m of them."""

    metric: str
    value: float
    low: float
    high: float
    se: float
    level: float
    asked: int  #: problems, m
    size: int  #: of the benchmark, N
    between: float  #: variance across problems, one unit added to its sum of squares
    within: float  #: variance of one value when the model is sampled again

    def __str__(self) -> str:
        """Format the value with its interval, rounded by the error."""
        from passband.stats.interval.rounding import rounded

        return f"{self.metric} {rounded(self.value, self.low, self.high)}"


def estimate_benchmark(
    outcomes: Outcomes,
    metric: str,
    size: int,
    *,
    level: float = 0.95,
    policy: Policy = "drop",
) -> BenchmarkEstimate:
    """Return a metric over all `size` problems of a benchmark, a random part of which was asked.

    The part must have been drawn at random: the first problems of a file are no random part of it.
    Problems need at least 2 trials each (2k for pass@k, so that sampling noise can be measured).

    >>> outcomes = Outcomes.from_counts([4, 0, 3, 1] * 25, 4)
    >>> print(estimate_benchmark(outcomes, "pass@1", 100))
    pass@1 0.500 [0.464, 0.536]
    >>> print(estimate_benchmark(outcomes, "pass@1", 1000))
    pass@1 0.500 [0.422, 0.578]
    """
    check_outcomes("outcomes", outcomes)
    level, size = as_level(level), as_whole("size", size)
    wanted = parse_metric(metric)
    scored = outcomes.under(policy)
    scored.required_successes()
    scored = scored.take(np.flatnonzero(scored.trials >= max(wanted.k, 1)))
    asked = scored.n_problems
    _require(wanted.is_mean, metric, outcomes, asked, size)
    values = linear_values(scored, wanted)
    within = _within(scored, metric)
    if values is None or within is None:
        raise NotEnoughData(
            f"the noise of sampling {metric} takes problems with at least {2 * wanted.k} trials."
        )
    value = float(values.mean())
    squares = float(((values - value) ** 2).sum()) + _PSEUDO_UNIT
    between = max(squares / (asked - 1) - within, 0.0)
    variance = (between * (1.0 - asked / size) + within) / asked
    reach = student_quantile(level, asked - 1) * math.sqrt(variance)
    if wanted.k == 1:
        reach = max(reach, guard(scored, level))
    low, high = wanted.bounds
    return BenchmarkEstimate(
        metric=wanted.name,
        value=value,
        low=max(value - reach, low),
        high=min(value + reach, high),
        se=math.sqrt(variance),
        level=level,
        asked=asked,
        size=size,
        between=between,
        within=within,
    )


def _require(is_mean: bool, metric: str, outcomes: Outcomes, asked: int, size: int) -> None:
    if not is_mean:
        raise InvalidInput(f"{metric} is no mean over problems; use pass@k or pass^k.")
    if outcomes.is_clustered:
        raise InvalidInput(
            "problems of clusters are not drawn one by one, and this interval would be too short."
        )
    if asked > size:
        raise InvalidInput(f"size is that of the whole benchmark; got {size} for {asked} problems.")
    if asked < 2:
        raise NotEnoughData("a part of a benchmark must have at least 2 problems.")


def _within(outcomes: Outcomes, metric: str) -> float | None:
    """Return the mean variance of a problem's value when the model is sampled again."""
    from passband.stats.decision.variance import split_variance

    if outcomes.most_trials() < 2:
        return None
    if parse_metric(metric).k == 1:
        several = outcomes.trials > 1
        n, c = outcomes.trials[several], outcomes.required_successes()[several]
        return float((c * (n - c) / ((n - 1) * n.astype(np.float64) ** 2)).mean())
    split = split_variance(outcomes, metric)
    if split.within is None:  # all values alike: nothing of the noise was seen
        return 0.0
    return split.within
