"""Statements that hold for all pairs together: intervals, p-values, the best model.

`Largest` is the distribution of the largest of all standardised differences.

Hothorn, Bretz, Westfall (2008), Biometrical Journal 50, 346-363.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from passband.stats.checks import ROUNDING
from passband.stats.interval.default.wilson import normal_quantile
from passband.stats.interval.seeds import generator
from passband.types import Bools, Floats, Ints

DRAWS = 20_000


def drawn_errors(root: Floats, seed: int) -> Floats:
    """Draw errors of all models' values together, from a root of their covariance."""
    drawn: Floats = generator(seed).standard_normal((DRAWS, root.shape[1])) @ root.T
    return drawn


def standard_errors(errors: Floats) -> Floats:
    """Return the standard error of each difference of two models: (models, models)."""
    square = errors.T @ errors / len(errors)
    # Var(b - a) = Var(a) + Var(b) - 2 Cov(a, b)
    size = np.diag(square)
    variance: Floats = np.maximum(size[:, None] + size[None, :] - 2.0 * square, 0.0)
    scale = float(size.max(initial=0.0))
    return np.sqrt(np.where(variance <= ROUNDING * scale, 0.0, variance))


@dataclass(frozen=True, eq=False)
class Largest:
    """The distribution of the largest standardised difference of any two models.

    A pair whose interval touches 0 at the normal deviation z has the adjusted p-value
    P(largest >= z), and `reach` is the z at which that falls to 1 - level. So the interval at
    `reach` leaves 0 out exactly where the adjusted p-value is at most 1 - level. Both lie between
    those of a single pair and Bonferroni's, which alone is used where nothing can be drawn.
    """

    pairs: int
    drawn: Floats | None  # in order

    @staticmethod
    def of(errors: Floats | None, models: int) -> Largest:
        """Draw the largest difference from errors of the models' values."""
        pairs = models * (models - 1) // 2
        if errors is None or pairs == 1:
            return Largest(pairs, None)
        error = standard_errors(errors)
        largest = np.zeros(len(errors))
        for i in range(models):
            for j in np.flatnonzero(error[i, :i]).tolist():
                np.maximum(largest, np.abs(errors[:, j] - errors[:, i]) / error[i, j], out=largest)
        return Largest(pairs, np.sort(largest))

    def p_value(self, z: float) -> float:
        """Return the adjusted p-value of a pair whose interval touches 0 at a deviation z."""
        alone = 2.0 * NormalDist().cdf(-z)
        bound = min(1.0, self.pairs * alone)
        if self.drawn is None:
            return bound
        count = len(self.drawn) - int(np.searchsorted(self.drawn, z))
        # The data count as one more draw, so that no p-value is 0 (Phipson and Smyth 2010).
        return max(alone, min(bound, (count + 1) / (len(self.drawn) + 1)))

    def reach(self, level: float) -> float:
        """Return the normal deviation at which intervals hold for all pairs at once."""
        bonferroni = normal_quantile(1.0 - (1.0 - level) / self.pairs)
        if self.drawn is None:
            return bonferroni
        place = math.ceil((len(self.drawn) + 1) * level) - 1
        if place >= len(self.drawn):
            return bonferroni
        return max(normal_quantile(level), min(bonferroni, float(self.drawn[place])))


def best_confidences(deviations: Floats, errors: Floats) -> Floats:
    """Return the confidence that each model is the best.

    ``deviations[i, j]`` is the normal deviation of the confidence that i is better than j. In each
    draw, i beats j if the standardised difference of their errors stays above the deviation with
    the sign turned; so that, draw by draw, i beats j as often as the confidence says, and whoever
    is the best has beaten all. The share of draws in which i beats all others is its confidence.
    It cannot exceed the smallest confidence of i against another, and is kept from doing so by
    chance. What is missing to 1, where draws go round in a circle, is shared out in proportion
    below these caps. Models with the same values share equally.

    >>> z = np.array([[0.0, 1.0], [-1.0, 0.0]])
    >>> best_confidences(z, np.random.default_rng(1).normal(size=(100, 2))).round(3)
    array([0.841, 0.159])
    """
    from passband.stats.special import ndtr

    error = standard_errors(errors)
    caps = ndtr(deviations + np.where(np.eye(len(deviations), dtype=bool), np.inf, 0.0)).min(axis=1)
    shares = np.array([_share(row, deviations, errors, error) for row in range(len(deviations))])
    alike = (error == 0.0) & (np.abs(deviations) <= ROUNDING)
    return _filled(_averaged(np.minimum(shares, caps), alike), caps)


def _share(row: int, deviations: Floats, errors: Floats, error: Floats) -> float:
    """Return the share of draws in which a model beats all others, the strongest first."""
    left, chance = errors, 1.0
    for rival in np.argsort(deviations[row], kind="stable").tolist():
        if rival == row:
            continue
        if error[row, rival] > 0.0:
            away = (left[:, row] - left[:, rival]) / error[row, rival]
            left = left[away > -deviations[row, rival]]
        else:  # nothing to draw: ties count as even, the rest as independent
            chance *= NormalDist().cdf(float(deviations[row, rival]))
    return chance * len(left) / len(errors)


def _averaged(shares: Floats, alike: Bools) -> Floats:
    """Give models that are alike the mean of their shares."""
    averaged: Floats = alike @ shares / alike.sum(axis=1)
    return averaged


def _filled(shares: Floats, caps: Floats) -> Floats:
    """Raise shares in proportion until they add up to 1, none of them above its cap.

    They stay below 1 where the caps do: pairwise confidences may contradict each other.
    """
    for _ in range(len(shares)):
        missing = 1.0 - float(shares.sum())
        open_ones = shares < caps
        raised = float(shares[open_ones].sum())
        if missing <= 0.0 or raised <= 0.0:
            break
        shares = np.where(open_ones, np.minimum(shares * (1.0 + missing / raised), caps), shares)
    room = caps - shares
    missing = max(0.0, 1.0 - float(shares.sum()))
    total = float(room.sum())
    return shares + room * min(1.0, missing / total) if total > 0.0 else shares


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values so that the chance of any false finding is at most the chosen one.

    The i-th smallest of m is multiplied by m - i + 1, and none falls below a smaller one.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    # step-down: a p-value is never below a smaller one's
    raised = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return _back(order, raised)


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values so that, on average, at most the chosen share of findings is false.

    The i-th smallest of m is multiplied by m / i, and none exceeds a larger one.

    >>> benjamini_hochberg([0.01, 0.04, 0.03])
    [0.03, 0.04, 0.04]
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    # step-up: a p-value is never above a larger one's
    raised = p[order] * (len(p) / np.arange(1, len(p) + 1))
    return _back(order, np.minimum.accumulate(raised[::-1])[::-1])


def _back(order: Ints, raised: Floats) -> list[float]:
    adjusted = np.empty(len(raised))
    adjusted[order] = np.minimum(raised, 1.0)
    return [float(p) for p in adjusted]
