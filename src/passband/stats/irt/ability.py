"""Ability of one model: estimates of theta by four methods, with standard error and interval.

Three of the methods are the root of an estimating function g(θ), which falls through zero there::

    mle    g = Σ w l'(θ)                                    the likelihood alone
    map    g = Σ w l'(θ) + (mean - θ) / sd²                 the mode of the posterior
    wle    g = Σ w l'(θ) + J(θ) / (2 I(θ))                  Warm (1989): free of first-order bias

with l the log-likelihood of a score, w its weight in trials, I the information and J as in
`items.Slopes`. "eap" is the mean of the posterior.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from passband.errors import NotEnoughData
from passband.json_values import json_values
from passband.notes import Note
from passband.stats.checks import as_level, check_choice
from passband.stats.irt.items import Items, score_slope, slopes
from passband.stats.irt.posterior import AbilityPosterior, Grid
from passband.stats.irt.responses import ItemEvidence, Weighted, weighted
from passband.types import Floats

NO_MAXIMUM = Note(
    "likelihood-without-maximum",
    "the likelihood has no maximum, as when every score is the best or every score the worst "
    "possible; theta is Warm's weighted estimate",
)
NO_WEIGHTED_MAXIMUM = Note(
    "weighted-likelihood-without-maximum",
    "neither the likelihood nor Warm's weighted one has a maximum; theta is the mode of the "
    "posterior, and rests on the prior",
)

AbilityMethod = Literal["eap", "map", "mle", "wle"]
Function = Callable[[Floats], Floats]

_LOGITS = 30.0  # beyond the outermost item, where fewer than one trial in 1e12 is missed
_STEP = 1e-4  # for the curvature, by a difference of slopes


@dataclass(frozen=True)
class Ability:
    """An estimate of a model's ability, on the scale of the bank."""

    theta: float
    se: float
    low: float
    high: float
    level: float
    method: AbilityMethod  #: as it was asked for; a note says where another had to be used
    n_items: int
    n_trials: int
    notes: tuple[Note, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Convert to a JSON-serialisable dict."""
        return json_values(self)


def estimate_ability(
    items: Items,
    evidence: Iterable[ItemEvidence],
    *,
    method: AbilityMethod = "eap",
    level: float = 0.95,
    prior_mean: float = 0.0,
    prior_sd: float = 1.0,
    rho: float = 0.0,
) -> Ability:
    """Estimate the ability behind the scores of some items.

    "eap" and "map" use a normal prior, and their intervals hold on average over models whose
    abilities are spread like it. "mle" and "wle" use the scores alone, and their intervals hold
    at each ability, given enough items; see docs/measured.md. `rho` is the
    correlation of repeated trials of an item given the ability.

    >>> items = Items("2pl", a=[1.0, 1.0, 1.0], b=[-1.0, 0.0, 1.0])
    >>> seen = [ItemEvidence(0, 1.0), ItemEvidence(1, 0.75, trials=8), ItemEvidence(2, 0.0)]
    >>> found = estimate_ability(items, seen, method="wle")
    >>> round(found.theta, 3), round(found.se, 3)
    (0.8, 0.693)
    """
    posterior = AbilityPosterior(Grid.of(items, prior_mean=prior_mean, prior_sd=prior_sd, rho=rho))
    posterior.extend(evidence)
    return ability_of(posterior, method=method, level=level)


def ability_of(
    posterior: AbilityPosterior, *, method: AbilityMethod = "eap", level: float = 0.95
) -> Ability:
    """Estimate the ability from a posterior, or by another method from the evidence in it."""
    check_choice("method", method, get_args(AbilityMethod))
    level = as_level(level)
    seen = posterior.evidence
    if method in ("mle", "wle") and not seen:
        raise NotEnoughData(f"method {method!r} needs the score of at least one item; use 'eap'.")
    theta, se, notes = _located(posterior, method)
    low, high = posterior.interval(level) if method == "eap" else _around(theta, se, level)
    n_items, n_trials = len({one.item for one in seen}), sum(one.trials for one in seen)
    return Ability(theta, se, low, high, level, method, n_items, n_trials, notes)


def _around(theta: float, se: float, level: float) -> tuple[float, float]:
    from passband.stats.special import ndtri

    half = float(ndtri(0.5 + level / 2.0)) * se
    return theta - half, theta + half


def _located(
    posterior: AbilityPosterior, method: AbilityMethod
) -> tuple[float, float, tuple[Note, ...]]:
    """Return theta, its standard error, and a note if another method was substituted."""
    if method == "eap" or not posterior.evidence:
        return posterior.theta, posterior.se, ()
    grid = posterior.grid
    seen = weighted(grid.items, posterior.evidence, grid.rho)
    notes: tuple[Note, ...] = ()
    if method == "mle":
        if (theta := _root(_slope(seen), seen)) is not None:
            return theta, _expected_error(seen, theta), ()
        notes = (NO_MAXIMUM,)
    if method != "map":
        if (theta := _root(_weighted_slope(seen), seen)) is not None:
            return theta, _expected_error(seen, theta), notes
        notes = (NO_WEIGHTED_MAXIMUM,)
    slope = _posterior_slope(seen, grid)
    theta = _root(slope, seen, (grid.prior_mean, 8.0 * grid.prior_sd))
    assert theta is not None  # the prior pulls it back from everywhere
    around = slope(np.array([theta - _STEP, theta + _STEP]))
    return theta, float(np.sqrt(2.0 * _STEP / (around[0] - around[1]))), notes


# -- estimating functions ----------------------------------------------------------------------


def _slope(seen: Weighted) -> Function:
    return lambda theta: seen.weights @ score_slope(seen.items, theta, seen.scores)


def _posterior_slope(seen: Weighted, grid: Grid) -> Function:
    slope = _slope(seen)
    return lambda theta: slope(theta) + (grid.prior_mean - theta) / grid.prior_sd**2


def _weighted_slope(seen: Weighted) -> Function:
    slope = _slope(seen)

    def function(theta: Floats) -> Floats:
        info, warm = (seen.weights @ part for part in slopes(seen.items, theta))
        known = info > 0.0
        return slope(theta) + np.divide(warm, 2.0 * info, out=np.zeros_like(info), where=known)

    return function


def _expected_error(seen: Weighted, theta: float) -> float:
    info = seen.weights @ slopes(seen.items, np.array([theta])).information[:, 0]
    return float(1.0 / np.sqrt(info))


def _root(
    function: Function, seen: Weighted, prior: tuple[float, float] | None = None
) -> float | None:
    """Return where the integral of a function is largest, or None if that is at no finite place.

    Under guessing there may be several hills; the integral on nodes tells which is the highest,
    and whether it is higher than both ends.
    """
    nodes = _places(seen.items, prior)
    values = function(nodes)
    steps = (values[1:] + values[:-1]) / 2.0 * np.diff(nodes)
    height = np.concatenate([[0.0], np.cumsum(steps)])
    crossings = np.flatnonzero((values[:-1] > 0.0) & (values[1:] <= 0.0))
    if not len(crossings):
        return None
    tops = np.maximum(height[crossings], height[crossings + 1])
    if tops.max() < max(height[0], height[-1]):
        return None
    at = crossings[tops.argmax()]
    return _closed_in(function, nodes[at], nodes[at + 1])


def _closed_in(function: Function, low: float, high: float) -> float:
    """Return the place between two where a function falls to 0, in sixteen parts at a time."""
    for _ in range(14):
        parts = np.linspace(low, high, 17)
        falls = max(1, int(np.argmax(function(parts) <= 0.0)))
        low, high = parts[falls - 1], parts[falls]
    return float((low + high) / 2.0)


def _places(items: Items, prior: tuple[float, float] | None) -> Floats:
    """Return nodes that are close among the items' thresholds and reach well beyond them."""
    where = items.b if items.steps is None else items.steps[np.isfinite(items.steps)]
    ends = where if prior is None else np.append(where, [prior[0] - prior[1], prior[0] + prior[1]])
    far = _LOGITS / float(items.a.min())
    low, high = float(ends.min()), float(ends.max())
    tails = np.linspace(0.0, far, 101)[1:]
    return np.concatenate([low - tails[::-1], np.linspace(low, high, 201), high + tails])
