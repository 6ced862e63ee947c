"""Laws that data sets are simulated from: success probabilities, graded values, copulas.

For success probabilities, two laws for each stratum of the numbers of trials, so that a relation
between trials and difficulty is simulated as well. The *close* law is the smoothed fit that the
default intervals extrapolate with; the *sharp* law is nearly the best fit, a handful of
probabilities. Noise that a few problems carry is seen by the sharp law alone; it predicts best, and
the close law shows how much depends on the choice.

For graded scores over problems, a law of the problems' values: the observed ones, smoothed a little
(Silverman's width, and reflected at the ends of the scale), and the families with the same mean and
variance that the scale allows. A bootstrap without smoothing would repeat the observed values and
nothing between them; a family alone has a shape that nobody has seen. Over trials each problem
keeps its mean and standard deviation, and draws standardised residuals of all problems.

Problems in clusters are tied by a Gaussian copula. A problem's value is a quantile of one law for
all, ``Q(Phi(sqrt(rho) u + sqrt(1 - rho) e))``, u being normal and shared by the cluster, e normal
and the problem's own. So every problem has the law that was fitted, whatever rho. rho is chosen so
that two problems of a cluster covary as in the data: the between-cluster component of an analysis
of variance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from passband.stats.interval.fit.mixture import Mixture
from passband.types import Floats, Ints


@dataclass(frozen=True, eq=False)
class ProbabilityLaw:
    """Weights of the success probabilities of the grid, by number of trials."""

    name: str
    fewest: tuple[int, ...]  # trials of each stratum, in rising order
    weights: Floats  # (strata, points)

    def at(self, n: int) -> Floats:
        """Return the weights for problems with n trials."""
        stratum = int(np.searchsorted(self.fewest, n, side="right")) - 1
        row: Floats = self.weights[max(stratum, 0)]
        return row


def fitted_laws(mixture: Mixture) -> tuple[ProbabilityLaw, ProbabilityLaw]:
    """Return the sharp and the close law of the problems."""
    strata = mixture.strata
    fewest = tuple(mixture.grid.ns[stratum.ns.start] for stratum in strata)
    sharp = np.stack([stratum.law.sharp.weights for stratum in strata])
    close = np.stack([stratum.law.close.weights for stratum in strata])
    return ProbabilityLaw("sharp", fewest, sharp), ProbabilityLaw("close", fewest, close)


_NODES = 64  # steps of the smoothing noise, so that the mean of a smoothed law is a finite sum
_MOST_RESIDUALS = 512
_SMOOTHING = 0.7  # of Silverman's width

Draw = Callable[[np.random.Generator, tuple[int, int]], Floats]


@dataclass(frozen=True, eq=False)
class ValueLaw:
    """A law of one value per problem, and its mean."""

    name: str
    mean: float
    draw: Draw


def problem_laws(values: Floats, low: float, high: float) -> list[ValueLaw]:
    """Return laws fitted to values on a scale from low to high, either of which may be infinite."""
    mean, variance = float(values.mean()), float(values.var(ddof=1))
    if np.isfinite(high):
        families = [_beta(mean, variance, low, high)]
    elif low == 0.0 and mean > 0.0:
        families = [_gamma(mean, variance), _lognormal(mean, variance)]
    else:
        families = [_normal(mean, variance)]
    return [_smoothed(values, variance**0.5, low, high), *families]


def _smoothed(values: Floats, sd: float, low: float, high: float) -> ValueLaw:
    noise = _SMOOTHING * sd * (4.0 / (3.0 * len(values))) ** 0.2 * _normal_nodes()
    atoms = _reflected(values[:, None] + noise, low, high).ravel()
    return ValueLaw("bootstrap", float(atoms.mean()), lambda rng, shape: rng.choice(atoms, shape))


@lru_cache(maxsize=1)
def _normal_nodes() -> Floats:
    return np.array([NormalDist().inv_cdf((i + 0.5) / _NODES) for i in range(_NODES)])


def _reflected(values: Floats, low: float, high: float) -> Floats:
    """Fold values beyond the ends of the scale back into it."""
    if not np.isfinite(low):
        return values
    if not np.isfinite(high):
        reflected: Floats = low + np.abs(values - low)
        return reflected
    width = high - low
    folded: Floats = low + width - np.abs((values - low) % (2.0 * width) - width)
    return folded


def _beta(mean: float, variance: float, low: float, high: float) -> ValueLaw:
    width = high - low
    share = (mean - low) / width
    size = max(share * (1.0 - share) / (variance / width**2) - 1.0, 0.05)
    a, b = max(size * share, 1e-3), max(size * (1.0 - share), 1e-3)
    mean = low + width * a / (a + b)
    return ValueLaw("beta", mean, lambda rng, shape: low + width * rng.beta(a, b, shape))


def _gamma(mean: float, variance: float) -> ValueLaw:
    scale = variance / mean
    return ValueLaw("gamma", mean, lambda rng, shape: rng.gamma(mean / scale, scale, shape))


def _lognormal(mean: float, variance: float) -> ValueLaw:
    square = float(np.log1p(variance / mean**2))
    location, sd = float(np.log(mean)) - square / 2.0, square**0.5
    return ValueLaw("lognormal", mean, lambda rng, shape: rng.lognormal(location, sd, shape))


def _normal(mean: float, variance: float) -> ValueLaw:
    sd = variance**0.5
    return ValueLaw("normal", mean, lambda rng, shape: rng.normal(mean, sd, shape))


def pooled_residuals(groups: list[Floats]) -> Floats:
    """Return the residuals of all problems with a spread, in order, of mean 0 and variance 1.

    A group holds problems with as many trials, a row each. Of many residuals some are kept, evenly
    by rank.
    """
    pooled = [np.empty(0)]
    for scores in groups:
        n = scores.shape[1]
        away = scores - scores.mean(axis=1, keepdims=True)
        if n > 1:
            sd = away.std(axis=1, ddof=1)
            some = sd > 0.0
            pooled.append((away[some] / sd[some, None] * (n / (n - 1.0)) ** 0.5).ravel())
    residuals = np.sort(np.concatenate(pooled))
    if len(residuals) <= _MOST_RESIDUALS:
        return residuals
    kept = residuals[np.linspace(0, len(residuals) - 1, _MOST_RESIDUALS).round().astype(np.int64)]
    standardised: Floats = (kept - kept.mean()) / kept.std()
    return standardised


_RHOS = np.linspace(0.0, 0.99, 15)
_HERMITE_NODES = 31


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
    from passband.stats.special import ndtri

    edges: Floats = ndtri(np.minimum(np.cumsum(weights)[:-1], 1.0))
    return edges


def _covariance(values: Floats, weights: Floats, rho: float) -> float:
    """Return the variance of the expected value given the cluster's shared part."""
    from passband.stats.special import ndtr

    nodes, node_weights = _hermite()
    away = (_edges(weights)[:, None] - rho**0.5 * nodes) / (1.0 - rho) ** 0.5
    below = np.concatenate([np.zeros((1, len(nodes))), ndtr(away), np.ones((1, len(nodes)))])
    expected = values @ np.diff(below, axis=0)
    mean = node_weights @ expected
    return float(node_weights @ (expected - mean) ** 2)


@lru_cache(maxsize=1)
def _hermite() -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.hermite_e.hermegauss(_HERMITE_NODES)
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
