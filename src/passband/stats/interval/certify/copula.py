"""Values of problems in clusters, tied by a Gaussian copula.

A problem's value is a quantile of one law for all, ``Q(Phi(sqrt(rho) u + sqrt(1 - rho) e))``, u
being normal and shared by the cluster, e normal and the problem's own. So every problem has the
law that was fitted, whatever rho. rho is chosen so that two problems of a cluster covary as in the
data: the between-cluster component of an analysis of variance.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from passband.types import Floats, Ints

__all__ = ["Copula", "between_variance"]

_RHOS = np.linspace(0.0, 0.99, 15)
_NODES = 31


@dataclass(frozen=True, eq=False)
class Copula:
    """Values with their weights, in rising order, and the correlation within clusters."""

    values: Floats
    weights: Floats
    rho: float

    @staticmethod
    def of(values: Floats, weights: Floats, covariance: float) -> Copula:
        """Return the copula under which two problems of a cluster have this covariance."""
        covariances = [_covariance(values, weights, rho) for rho in _RHOS.tolist()]
        rho = float(np.interp(covariance, np.maximum.accumulate(covariances), _RHOS))
        return Copula(values, weights, rho)

    @property
    def mean(self) -> float:
        return float(self.weights @ self.values)

    def draw(self, codes: Ints, sets: int, rng: np.random.Generator) -> Ints:
        """Return positions of values for the problems of `codes`' clusters: (sets, problems)."""
        shared = rng.standard_normal((sets, int(codes.max()) + 1))[:, codes]
        own = rng.standard_normal((sets, len(codes)))
        normal = self.rho**0.5 * shared + (1.0 - self.rho) ** 0.5 * own
        places: Ints = np.searchsorted(_edges(self.weights), normal)
        return places


def _edges(weights: Floats) -> Floats:
    """Return the standard normal quantiles at which one value gives way to the next."""
    from scipy.special import ndtri

    edges: Floats = ndtri(np.minimum(np.cumsum(weights)[:-1], 1.0))
    return edges


def _covariance(values: Floats, weights: Floats, rho: float) -> float:
    """Return the variance of the expected value given what the cluster shares."""
    from scipy.special import ndtr

    nodes, node_weights = _hermite()
    away = (_edges(weights)[:, None] - rho**0.5 * nodes) / (1.0 - rho) ** 0.5
    below = np.concatenate([np.zeros((1, len(nodes))), ndtr(away), np.ones((1, len(nodes)))])
    expected = values @ np.diff(below, axis=0)
    mean = node_weights @ expected
    return float(node_weights @ (expected - mean) ** 2)


@lru_cache(maxsize=1)
def _hermite() -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    return nodes, weights / weights.sum()


def between_variance(values: Floats, codes: Ints) -> float:
    """Return the variance of clusters' means that is not due to the problems within, or 0.

    ``(MSB - MSW) / n0`` of a one-way analysis of variance, ``n0 = (M - sum s^2 / M) / (C - 1)``.

    >>> between_variance(np.array([1.0, 3.0, 5.0, 7.0]), np.array([0, 0, 1, 1]))
    7.0
    """
    sizes = np.bincount(codes)
    problems, clusters = len(values), len(sizes)
    if not 1 < clusters < problems:
        return 0.0
    means = np.bincount(codes, values) / sizes
    within = float(((values - means[codes]) ** 2).sum()) / (problems - clusters)
    between = float(sizes @ (means - values.mean()) ** 2) / (clusters - 1)
    share = (problems - float(sizes @ sizes) / problems) / (clusters - 1)
    return max((between - within) / share, 0.0)
