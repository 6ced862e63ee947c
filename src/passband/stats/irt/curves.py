"""Response curves: probabilities, likelihoods and their slopes, items down and abilities across.

All of a graded item rests on one identity. With u the threshold below the grade, v the one above
(-∞ and ∞ at the ends)::

    P(grade) = σ(a(θ-u)) σ(-a(θ-v)) (1 - exp(-a(v-u)))

which loses no digits in the tails, and whose logarithm has the slope a(σ(-a(θ-u)) - σ(a(θ-v))).

`information` is Fisher's information on an ability, `kl_information` Kullback and Leibler's.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np

from passband.stats.checks import as_number, as_positive
from passband.stats.irt.items import Items
from passband.types import Floats, Ints


def log_sigmoid(x: Floats) -> Floats:
    """Return log σ(x)."""
    result: Floats = -np.logaddexp(0.0, -x)
    return result


def sigmoid(x: Floats) -> Floats:
    """Return σ(x)."""
    small = np.exp(-np.abs(x))
    result: Floats = np.where(x >= 0.0, 1.0, small) / (1.0 + small)
    return result


def expected_scores(items: Items, theta: Floats) -> Floats:
    """Return the expected score of every item at every ability."""
    if items.steps is None:
        c = items.c[:, None]
        return c + (1.0 - c) * sigmoid(_logits(items, theta))
    passed = sigmoid(items.a[:, None, None] * (theta[:, None] - items.steps[:, None, :]))
    total: Floats = np.nansum(passed, axis=2) / items.grades[:, None]
    return total


def log_likelihood(items: Items, theta: Floats, scores: Floats) -> Floats:
    """Return the log-likelihood of one score of every item, at every ability.

    A score between 0 and 1 counts as that share of a success. Guessing aside, it is divided by
    the dispersion, which is 1 but for continuous items.
    """
    if items.steps is not None:
        return _graded_log_likelihood(items, theta, scores)
    x = _logits(items, theta)
    c, share = items.c[:, None], scores[:, None]
    right = log_sigmoid(x)
    wrong = np.log1p(-c) + right - x  # log σ(-x) = log σ(x) - x
    if items.model == "3pl":
        right = np.log(c + (1.0 - c) * sigmoid(x))
    result: Floats = (share * right + (1.0 - share) * wrong) / items.phi[:, None]
    return result


def _graded_log_likelihood(items: Items, theta: Floats, scores: Floats) -> Floats:
    below, above = _between(items, scores)
    a = items.a[:, None]
    return (
        log_sigmoid(a * (theta - below[:, None]))
        + log_sigmoid(-a * (theta - above[:, None]))
        + np.log(-np.expm1(-a * (above - below)[:, None]))
    )


def score_slope(items: Items, theta: Floats, scores: Floats) -> Floats:
    """Return the derivative of `log_likelihood` by ability."""
    a = items.a[:, None]
    if items.steps is not None:
        below, above = _between(items, scores)
        lower, upper = sigmoid(-a * (theta - below[:, None])), sigmoid(a * (theta - above[:, None]))
        return a * (lower - upper)
    c = items.c[:, None]
    s = sigmoid(_logits(items, theta))
    right = c + (1.0 - c) * s
    result: Floats = a * (scores[:, None] - right) * _share_known(s, right) / items.phi[:, None]
    return result


class Slopes(NamedTuple):
    """Fisher information of one trial, and Warm's J = Σ P' P'' / P over the possible scores."""

    information: Floats
    warm: Floats


def slopes(items: Items, theta: Floats) -> Slopes:
    """Return the information and Warm's J of every item at every ability."""
    if items.steps is not None:
        return _graded_slopes(items, theta)
    a, c, phi = items.a[:, None], items.c[:, None], items.phi[:, None]
    s = sigmoid(_logits(items, theta))
    known = _share_known(s, c + (1.0 - c) * s)
    first = a * a * s * (1.0 - s) * (1.0 - c) * known / phi
    return Slopes(first, a * first * (1.0 - 2.0 * s))


def _graded_slopes(items: Items, theta: Floats) -> Slopes:
    edges = grade_edges(items)[:, None, :]
    a = items.a[:, None, None]
    reach = theta[:, None] - edges
    passed = sigmoid(a * reach)
    bell = passed * sigmoid(-a * reach)
    gaps = edges[..., 1:] - np.where(edges[..., :-1] < np.inf, edges[..., :-1], -np.inf)
    chance = passed[..., :-1] * sigmoid(-a * reach[..., 1:]) * -np.expm1(-a * gaps)
    first = a * (bell[..., :-1] - bell[..., 1:])
    turn = bell * (1.0 - 2.0 * passed)
    second = a * a * (turn[..., :-1] - turn[..., 1:])
    share = first / np.maximum(chance, np.finfo(np.float64).tiny)
    return Slopes((first * share).sum(axis=2), (second * share).sum(axis=2))


def grade_edges(items: Items) -> Floats:
    """Return the thresholds of every item between -∞ and ∞, with ∞ for those it lacks."""
    assert items.steps is not None
    ends = np.full((len(items), 1), np.inf)
    return np.concatenate([-ends, np.where(np.isnan(items.steps), np.inf, items.steps), ends], 1)


def _between(items: Items, scores: Floats) -> tuple[Floats, Floats]:
    """Return the thresholds around the grade that each score is."""
    edges = grade_edges(items)
    grade: Ints = np.rint(scores * items.grades).astype(np.intp)
    rows = np.arange(len(items))
    return edges[rows, grade], edges[rows, grade + 1]


def _logits(items: Items, theta: Floats) -> Floats:
    return items.a[:, None] * (theta - items.b[:, None])


def _share_known(s: Floats, right: Floats) -> Floats:
    """Return the probability that a right answer was known, not guessed."""
    return s / np.maximum(right, np.finfo(np.float64).tiny)


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
    points = np.concatenate([[theta], others])
    if items.steps is None:
        right = expected_scores(items, points)
        chances = np.stack([right, 1.0 - right], axis=2)
    else:
        passed = sigmoid(
            items.a[:, None, None] * (points[:, None] - grade_edges(items)[:, None, :])
        )
        chances = passed[..., :-1] - passed[..., 1:]
    chances = np.maximum(chances, 1e-300)
    here, there = chances[:, :1], chances[:, 1:]
    total: Floats = (here * np.log(here / there)).sum(axis=2) / items.phi[:, None]
    return total
