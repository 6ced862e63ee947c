"""The confidence that a model is the best, in keeping with the confidence in each pair."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from passband.stats.decision.ranking.simultaneous import standard_errors
from passband.stats.tolerance import ROUNDING
from passband.types import Bools, Floats

__all__ = ["best_confidences"]


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
    from scipy.special import ndtr

    error = standard_errors(errors)
    caps = ndtr(deviations + np.where(np.eye(len(deviations), dtype=bool), np.inf, 0.0)).min(axis=1)
    shares = np.array([_share(row, deviations, errors, error) for row in range(len(deviations))])
    alike = (error == 0.0) & (np.abs(deviations) <= ROUNDING)
    return _filled(_averaged(np.minimum(shares, caps), alike), caps)


def _share(row: int, deviations: Floats, errors: Floats, error: Floats) -> float:
    """Return the share of draws in which a model beats all others, the strongest first."""
    left, chance = errors, 1.0
    for other in np.argsort(deviations[row], kind="stable").tolist():
        if other == row:
            continue
        if error[row, other] > 0.0:
            away = (left[:, row] - left[:, other]) / error[row, other]
            left = left[away > -deviations[row, other]]
        else:  # nothing to draw: ties count as even, the rest as independent
            chance *= NormalDist().cdf(float(deviations[row, other]))
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
