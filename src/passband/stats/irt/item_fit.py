"""Fit of calibrated items: whether scores are as far from what the model expects as they should be.

A score y is compared with its prediction π from the same person's other scores, so that y is not
held against itself. Under the model the residuals y - π have mean 0 and variance π (1 - π)::

    infit   Σ (y - π)² / Σ π (1 - π)          1 if the model holds; above, the item is noisier
    outfit  mean of (y - π)² / (π (1 - π))    the same, with weight on surprises far off
    chi²    Σ over ten groups of people by π of (Σ y - π)² / Σ π (1 - π)

The p-value is that of chi² with as many degrees of freedom as groups, less two for slope and place.
For sums of n scores the variance is that of n correlated trials, plus that of the prediction.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from passband.stats.irt.em import Expected, Problem
from passband.stats.irt.responses import Responses
from passband.types import Floats, Ints

__all__ = ["GROUPS", "ItemFit", "item_fit"]

GROUPS = 10
_LEAST = 1e-12
_TIE = 1e-9  # predictions closer than this are the same


class ItemFit(NamedTuple):
    """Fit of each item; NaN where too few people answered it."""

    infit: Floats
    outfit: Floats
    chi2: Floats
    degrees: Ints
    p: Floats


def item_fit(
    problem: Problem, data: Responses, found: Expected, rho: float, phi: Floats
) -> ItemFit:
    """Return how well the responses to each item fit; `problem` has them as they were weighed."""
    from scipy.special import chdtrc

    asked = data.trials > 0
    is_single = len(data.grades) == 1 and bool(np.isin(data.trials, (0.0, 1.0)).all())
    if is_single and np.isin(data.scores, (0.0, 1.0)).all():
        chance = _left_out(found, data.scores)
        spread = chance * (1.0 - chance)
    else:
        chance, spread = _left_out_slowly(problem, data, found, rho, phi)
    residual = np.where(asked, data.scores - data.trials * chance, 0.0)
    variance = np.where(asked, np.maximum(spread, _LEAST), 0.0)
    count = np.maximum(asked.sum(axis=0), 1)
    infit = (residual**2).sum(axis=0) / np.maximum(variance.sum(axis=0), _LEAST)
    outfit = (residual**2 / np.where(asked, variance, 1.0)).sum(axis=0) / count
    chi2, groups = _by_group(residual, variance, chance)
    degrees = groups - np.minimum(problem.free.sum(axis=1), 2)  # of its mean curve
    p = np.where(degrees > 0, chdtrc(np.maximum(degrees, 1), chi2), np.nan)
    return ItemFit(infit, outfit, np.where(degrees > 0, chi2, np.nan), degrees, p)


def _left_out(found: Expected, scores: Floats) -> Floats:
    """Return the chance of a right answer, from the posterior without the answer itself.

    Dividing an answer's likelihood out of a posterior h over the nodes leaves 1 / Σ h/P for a
    right one, and 1 - 1 / Σ h/(1-P) for a wrong one.
    """
    wrong, right = found.terms.log
    if_right = 1.0 / (found.posterior @ np.exp(np.minimum(-right, 700.0)).T)
    if_wrong = 1.0 - 1.0 / (found.posterior @ np.exp(np.minimum(-wrong, 700.0)).T)
    chance: Floats = np.where(scores == 1.0, if_right, if_wrong)
    return np.clip(chance, _LEAST, 1.0 - _LEAST)


def _left_out_slowly(
    problem: Problem, data: Responses, found: Expected, rho: float, phi: Floats
) -> tuple[Floats, Floats]:
    """Return the mean score and the variance of the sum of scores, from the other items."""
    weighed = problem.responses
    counts = (weighed.trials - sum(weighed.grades), *weighed.grades)
    log = np.log(np.maximum(found.posterior, 1e-300))
    means, variances = np.empty_like(data.trials), np.empty_like(data.trials)
    for item, n in enumerate(data.trials.T):
        own = sum(np.outer(c[:, item], found.terms.log[g, item]) for g, c in enumerate(counts))
        rest = log - own
        rest = np.exp(rest - rest.max(axis=1, keepdims=True))
        rest /= rest.sum(axis=1, keepdims=True)
        worth = np.arange(len(counts)) / data.steps[item]
        chances = np.exp(found.terms.log[:, item])
        mean = worth @ chances
        within = phi[item] * (worth**2 @ chances - mean**2)
        average = rest @ mean
        between = np.maximum(rest @ mean**2 - average**2, 0.0)
        means[:, item] = average
        repeats = 1.0 + np.maximum(n - 1.0, 0.0) * rho
        variances[:, item] = n * repeats * (rest @ within) + n**2 * between
    return means, variances


def _by_group(residual: Floats, variance: Floats, chance: Floats) -> tuple[Floats, Ints]:
    """Return chi² and its number of groups; people with the same prediction are not parted."""
    groups = min(GROUPS, max(1, len(chance) // 5))
    places = np.arange(1, groups) * len(chance) // groups
    cuts = np.sort(chance, axis=0)[places] - _TIE
    chi2, count = np.zeros(chance.shape[1]), np.zeros(chance.shape[1], dtype=np.intp)
    done_sum, done_spread = np.zeros(chance.shape[1]), np.zeros(chance.shape[1])
    for cut in [*cuts, np.full(chance.shape[1], np.inf)]:
        below = chance < cut
        sums, spread = (np.where(below, part, 0.0).sum(axis=0) for part in (residual, variance))
        size = spread - done_spread
        there = size > _TIE
        chi2 += np.where(there, (sums - done_sum) ** 2 / np.maximum(size, _TIE), 0.0)
        count += there
        done_sum, done_spread = sums, spread
    return chi2, count
