"""Allocate trials to problems by another model's results: more where those were noisy.

Sizes that follow the outcomes of the very trials that are measured bias the mean, and are not
offered. Sizes that were set before are harmless, whatever they are. For pass@k of a problem with
success rate p the estimate from n trials has variance of about (k (1 - p)^(k - 1))^2 p (1 - p) / n,
and the best sizes go with the root of that. It is averaged over the rates that the other model's
trials leave open, each of its trials counting as a quarter of one, as the models differ. For k = 1
there is next to nothing to gain.

Neyman (1934), Journal of the Royal Statistical Society 97, 558-625.
"""

from __future__ import annotations

import numpy as np

from passband.errors import InvalidInput
from passband.stats.checks import as_whole
from passband.stats.data.outcomes import Outcomes, check_outcomes
from passband.stats.metric.names import parse_name
from passband.types import Floats, Ints

_COUNTS_AS = 0.25  # trials, of one trial of another model
_RATES = (np.arange(400) + 0.5) / 400


def sizes_from(other: Outcomes, metric: str, total: int) -> Ints:
    """Return the trials per problem, `total` in all, from another model's results.

    No problem is asked less often than k times, nor more than eight times the average.

    >>> other = Outcomes.from_counts([8, 8, 4, 0], 8)
    >>> sizes_from(other, "pass@2", 40).tolist()
    [6, 6, 13, 15]
    """
    check_outcomes("other", other)
    name = parse_name(metric)
    if name.key != "pass@" or len(name.ks or ()) != 1 or name.ks == (1,):
        raise InvalidInput(
            f"sizes from another model help pass@k with k > 1; got {metric!r}. Ask every problem "
            f"equally often."
        )
    k = max(name.ks or (2,))
    problems = other.n_problems
    if as_whole("total", total) < problems * k:
        raise InvalidInput(f"{problems} problems need at least {problems * k} trials; got {total}.")
    c, n = other.required_successes(), other.trials
    common = (c.sum() + 0.5) / (n.sum() + 1.0)
    a, b = _COUNTS_AS * c + common, _COUNTS_AS * (n - c) + 1.0 - common
    log = np.outer(a - 1.0, np.log(_RATES)) + np.outer(b - 1.0, np.log1p(-_RATES))
    density = np.exp(log - log.max(axis=1, keepdims=True))  # 1e4 trials leave no double otherwise
    variance = (k * (1.0 - _RATES) ** (k - 1)) ** 2 * _RATES * (1.0 - _RATES)
    spread = np.sqrt(density @ variance / density.sum(axis=1))
    return _whole(_bounded(spread, total, k, 8.0 * total / problems), total)


def _bounded(weights: Floats, total: int, least: int, most: float) -> Floats:
    """Return shares of the total in proportion to weights, between bounds."""
    weights = np.maximum(weights / weights.max(), 1e-12)  # so that some factor reaches the total
    low, high = 0.0, 1e12 * most
    for _ in range(200):
        middle = (low + high) / 2.0
        if np.clip(middle * weights, least, most).sum() < total:
            low = middle
        else:
            high = middle
    shares: Floats = np.clip(high * weights, least, most)
    return shares


def _whole(shares: Floats, total: int) -> Ints:
    """Round shares to whole numbers with the same sum, the largest remainders up."""
    sizes = np.floor(shares).astype(np.int64)
    order = np.argsort(sizes - shares, kind="stable")
    sizes[order[: total - int(sizes.sum())]] += 1
    return sizes
