"""The interval over the trials of a single problem: no fit, as its success rate is all there is.

Clopper and Pearson's interval of the success rate, p, gives the values that the metric has for p in
it. It covers at least as often as its level says, whatever p is.

Clopper and Pearson (1934), Biometrika 26, 404-413.
"""

from __future__ import annotations

import numpy as np

from passband.stats.interval.methods import Interval
from passband.stats.interval.request import IntervalRequest
from passband.types import Floats

__all__ = ["is_alone", "over_own_trials"]

_RATES = 33  # at which the metric is looked at, should it not rise with p


def is_alone(request: IntervalRequest) -> bool:
    """Return whether an interval over trials is for a single problem."""
    return request.over == "trials" and int((request.outcomes.trials >= request.k).sum()) == 1


def over_own_trials(request: IntervalRequest) -> Interval:
    """Return the exact interval for a single problem with scores of 0 and 1."""
    pair = request.outcomes.histogram.at_least(request.k)
    n, c = int(pair.trials[0]), int(pair.successes[0])
    low, high = _exact_rates(c, n, request.tail)
    values = _values(request, np.linspace(low, high, 2 if _has_prior(request) else _RATES))
    error = (c * (n - c) / n**3) ** 0.5
    around = _values(request, np.clip([c / n - error, c / n + error], 0.0, 1.0))
    return Interval(
        min(float(values.min()), request.value),
        max(float(values.max()), request.value),
        abs(float(around[1] - around[0])) / 2.0 or None,
    )


def _exact_rates(c: int, n: int, tail: float) -> tuple[float, float]:
    """Return the success rates of which c of n, or further off, has a probability of `tail`."""
    from scipy.special import betaincinv

    low = float(betaincinv(c, n - c + 1, tail)) if c else 0.0
    return low, float(betaincinv(c + 1, n - c, 1.0 - tail)) if c < n else 1.0


def _values(request: IntervalRequest, p: Floats) -> Floats:
    """Return the expected value at success rates; a prior counts as it does for these trials."""
    metric = request.metric
    return request.latent(p) if _has_prior(request) else metric.combined(metric.latent(p).T)


def _has_prior(request: IntervalRequest) -> bool:
    return any(part.is_posterior for part in request.metric.parts)
