"""What an item would tell about an ability: Fisher's information, and Kullback and Leibler's."""

from __future__ import annotations

import functools

import numpy as np

from passband.stats.checks import as_number, as_positive
from passband.stats.irt.curves import expected_scores, grade_edges, sigmoid, slopes
from passband.stats.irt.items import Items
from passband.types import Floats

__all__ = ["information", "kl_information"]


def information(items: Items, theta: float) -> Floats:
    """Return Fisher's information of one trial of each item at an ability.

    It is the expected curvature of the log-likelihood; 1 / √(sum) is the standard error that the
    items together would give. For 2pl items a² P (1 - P), for 3pl items a² ((P - c) / (1 - c))²
    (1 - P) / P.

    >>> information(Items("2pl", a=[1.0, 2.0], b=[0.0, 0.0]), 0.0).tolist()
    [0.25, 1.0]
    """
    at = np.array([as_number("theta", theta)])
    return slopes(items, at).information[:, 0]


def kl_information(items: Items, theta: float, delta: float) -> Floats:
    """Return the divergence of each item, summed over abilities within `delta` of `theta`.

    ``∫ KL(θ || t) dt`` over t from θ - δ to θ + δ: how well one trial tells θ from abilities
    around it, which matters while θ is known to no better than δ. Chang and Ying (1996), Applied
    Psychological Measurement 20. By Gauss and Legendre with 12 points.

    >>> kl_information(Items("2pl", a=[1.0, 2.0], b=[0.0, 0.0]), 0.0, 1.0).round(4).tolist()
    [0.0813, 0.3052]
    """
    centre, half = as_number("theta", theta), as_positive("delta", delta)
    nodes, weights = _legendre()
    result: Floats = _divergence(items, centre, centre + half * nodes) @ (half * weights)
    return result


@functools.cache
def _legendre() -> tuple[Floats, Floats]:
    return np.polynomial.legendre.leggauss(12)  # takes longer than all the rest for one item


def _divergence(items: Items, theta: float, others: Floats) -> Floats:
    """Return the divergence of each item's scores at `theta` from those at other abilities."""
    at = np.concatenate([[theta], others])
    if items.steps is None:
        right = expected_scores(items, at)
        chances = np.stack([right, 1.0 - right], axis=2)
    else:
        passed = sigmoid(items.a[:, None, None] * (at[:, None] - grade_edges(items)[:, None, :]))
        chances = passed[..., :-1] - passed[..., 1:]
    chances = np.maximum(chances, 1e-300)
    here, there = chances[:, :1], chances[:, 1:]
    total: Floats = (here * np.log(here / there)).sum(axis=2) / items.phi[:, None]
    return total
