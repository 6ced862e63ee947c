"""Laws of graded values that data sets are simulated from.

Over problems a law of the problems' values: the observed ones, smoothed a little (Silverman's
width, and reflected at the ends of the scale), and the families with the same mean and variance
that the scale allows. A bootstrap without smoothing would repeat the observed values and nothing
between them; a family alone has a shape that nobody has seen. Over trials each problem keeps its
mean and standard deviation, and draws standardised residuals of all problems.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from passband.types import Floats

__all__ = ["ValueLaw", "pooled_residuals", "problem_laws"]

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
