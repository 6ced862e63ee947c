"""Intervals over trials for graded scores, from the noise within the problems themselves.

Two sets of ends are made where scores are bounded: from the noise alone, and those of scores of 0
and 1 with the same mean (`shared_counts`), drawn in by as much as graded scores vary less. The
outer ones count. Only the last are left where all scores come close to 0 and 1.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from passband.stats.interval.default.graded_noise import (
    TrialNoise,
    noise_moments,
    trials_for_noise,
)
from passband.stats.interval.default.graded_problems import missed_share
from passband.stats.interval.default.graded_sample import GradedSample
from passband.stats.interval.default.shared_counts import SharedCounts
from passband.stats.interval.default.wilson import Ends, outer_ends, over_trials
from passband.stats.tolerance import ROUNDING

__all__ = ["coins_over_trials", "graded_over_trials"]

_LEAST = 1e-13


def graded_over_trials(sample: GradedSample, level: float) -> Ends | None:
    """Return the ends on the scale of the values; None where unbounded scores show no noise."""
    noise = sample.noise
    silent = noise.mean <= (ROUNDING * float(np.abs(sample.values).max())) ** 2
    if sample.is_bounded:
        return _bounded(sample, noise, level, silent=silent)
    if silent:
        return None
    return noise.direct(sample.mean, sample.problems, level, sample.sign)


def _bounded(sample: GradedSample, noise: TrialNoise, level: float, *, silent: bool) -> Ends:
    if silent:
        direct = _missed(sample, level)
    else:
        direct = noise.direct(sample.mean, sample.problems, level, 0)
    twin = _twin(sample, noise, level)
    if twin is None:
        return direct
    ends = outer_ends(direct, twin).mixed(twin, sample.closeness)
    return replace(ends, se=twin.se if silent else direct.se)


def _twin(sample: GradedSample, noise: TrialNoise, level: float) -> Ends | None:
    """Return the interval of scores of 0 and 1 shared out alike, drawn in as these vary less."""
    ends, shared = coins_over_trials(sample, level), sample.shared
    if ends is None or shared is None:
        return None
    expected = float(ends.se) ** 2 * sample.problems
    own = sample.problems * noise.mean + expected
    coins = sample.problems * _noise_of_coins(sample, shared) + expected
    return ends.towards(np.asarray(sample.mean), min(own / max(coins, _LEAST), 1.0) ** 0.5)


def coins_over_trials(sample: GradedSample, level: float) -> Ends | None:
    """Return the interval of scores of 0 and 1 shared out alike; None for unbounded scores."""
    if not sample.is_bounded or sample.shared is None:
        return None
    request, shared = sample.request, sample.shared
    low, high = request.range()
    squares = request.squares(shared.mixture, shared.values)
    ends = over_trials(shared.mixture, shared.values, request.k, level, squares=squares)
    scale = high - low
    return Ends(low + scale * ends.low, low + scale * ends.high, scale * ends.se)


def _noise_of_coins(sample: GradedSample, shared: SharedCounts) -> float:
    """Return the mean noise of the problems shared out, as the same rule measures it."""
    metric, means = sample.request.metric, sample.request.means
    least, grid, counts = trials_for_noise(metric), shared.mixture.grid, shared.mixture.counts
    total = weight = 0.0
    for start, n in zip(grid.starts.tolist(), grid.ns, strict=True):
        if n < least:
            continue
        problems = counts[start : start + n + 1]
        rows = np.tri(n + 1, n, -1)[:, ::-1]  # c trials of 1 at the end of row c
        variance, _ = noise_moments(metric, means, rows)
        total, weight = total + float(problems @ variance), weight + float(problems.sum())
    return total / weight if weight > 0.0 else 0.0


def _missed(sample: GradedSample, level: float) -> Ends:
    """Return what problems whose trials are all alike leave possible.

    R of the problems may hide a rate of 1 - tail^(1/(nR)) of trials at an end of the scale, and
    show none in n trials each with a probability of `tail`. The worst R counts.
    """
    request, problems = sample.request, sample.problems
    low, high = request.range()
    trials = sum(group.n * len(group.problem) for group in sample.groups) / problems
    sharing = np.unique(np.geomspace(1, problems, min(problems, 200)).round().astype(np.int64))
    rate = np.array([missed_share(level, trials * float(r)) for r in sharing])
    rise = request.latent(rate) - request.latent(np.zeros(1))
    fall = request.latent(np.ones(1)) - request.latent(1.0 - rate)
    up, down = (
        np.cumsum(np.sort(room)[::-1])[sharing - 1] / problems
        for room in (high - sample.values, sample.values - low)
    )
    reach = [float((moved / (high - low)).max()) for moved in (down * fall, up * rise)]
    mean = sample.mean
    return Ends(np.asarray(mean - reach[0]), np.asarray(mean + reach[1]), np.asarray(0.0))
