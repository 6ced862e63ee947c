"""Geometric blends of pass@k with a stricter metric."""

from __future__ import annotations

import numpy as np

from passband.eval import _checks
from passband.eval._checks import DEFAULT_LAM, Four
from passband.eval._credit import latent, observed
from passband.eval._thresholds import warn_if_empty
from passband.stats.data import Histogram
from passband.stats.metric import Moments, blend, credits, expected_credit
from passband.types import ArrayLike, Floats


def geom_at_k(R: ArrayLike, k: int, pass_power: float = 0.5, unanimous_power: float = 0.5) -> float:
    r"""Return pass@k to a power times pass^k to a power within each problem, averaged.

    .. math:: \frac{1}{M} \sum_i \mathrm{pass@}k_i^{\,a}\; \mathrm{pass\hat{}}k_i^{\,b}

    Rewards problems that are both reachable and reliable. `geom_ds_at_k` averages first.

    >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
    >>> round(geom_at_k(R, 2), 6)
    0.647106
    """
    histogram, k = _checks.binary_draws(R, k)
    powers = _checks.powers(pass_power, unanimous_power)
    earned = [expected_credit(histogram.trials, histogram.successes, credit) for credit in _ends(k)]
    return histogram.mean(blend(np.stack(earned, axis=-1), powers))


def geom_at_k_ci(
    R: ArrayLike,
    k: int,
    pass_power: float = 0.5,
    unanimous_power: float = 0.5,
    confidence: float = 0.95,
    bounds: tuple[float, float] = (0.0, 1.0),
    alpha0: float = 1.0,
    beta0: float = 1.0,
) -> Four:
    """Return the delta-method posterior summary of the latent `geom_at_k`.

    k may exceed the trials. The blend is evaluated at posterior means and its spread is linearised,
    so the centre is too high where the posterior is wide (docs/known-errors.md).

    >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
    >>> tuple(round(x, 4) for x in geom_at_k_ci(R, 2))
    (0.6107, 0.1331, 0.3498, 0.8716)
    """
    k = _checks.draws(k)
    histogram = _checks.binary(R)
    powers = _checks.powers(pass_power, unanimous_power)
    mean, variance = _delta(latent(histogram, _ends(k), alpha0, beta0), powers)
    sd = float(np.sqrt(histogram.problems @ variance)) / histogram.n_problems
    return _checks.interval(histogram.mean(mean), sd, confidence, bounds)


def geom_ds_at_k(
    R: ArrayLike, k: int, pass_power: float = 0.5, unanimous_power: float = 0.5
) -> float:
    r"""Return pass@k to a power times pass^k to a power, both averaged over all problems first.

    .. math:: \mathrm{pass@}k^{\,a}\; \mathrm{pass\hat{}}k^{\,b}

    >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
    >>> round(geom_ds_at_k(R, 2), 6)
    0.653835
    """
    histogram, k = _checks.binary_draws(R, k)
    powers = _checks.powers(pass_power, unanimous_power)
    return _observed_blend(histogram, _ends(k), powers)


def geom_ds_at_k_ci(
    R: ArrayLike,
    k: int,
    pass_power: float = 0.5,
    unanimous_power: float = 0.5,
    confidence: float = 0.95,
    bounds: tuple[float, float] = (0.0, 1.0),
    alpha0: float = 1.0,
    beta0: float = 1.0,
) -> Four:
    """Return the delta-method posterior summary of the latent `geom_ds_at_k`.

    k may exceed the trials.

    >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
    >>> tuple(round(x, 4) for x in geom_ds_at_k_ci(R, 2))
    (0.6121, 0.1328, 0.3519, 0.8723)
    """
    k = _checks.draws(k)
    histogram = _checks.binary(R)
    powers = _checks.powers(pass_power, unanimous_power)
    moments = latent(histogram, _ends(k), alpha0, beta0)
    return _dataset_blend(moments.of_mean_over(histogram), powers, confidence, bounds)


def geo_spectrum_at_k(
    R: ArrayLike,
    k: int,
    lam: float = DEFAULT_LAM,
    weights: ArrayLike | None = None,
    lambda_: float | None = None,
) -> float:
    r"""Return pass@k to the power lam times a threshold spectrum to the power 1 - lam.

    .. math:: \mathrm{pass@}k^{\lambda}\; S_{w,k}^{\,1-\lambda}

    Without weights the spectrum is mG-Pass@k. `lambda_` is another name for `lam`; giving both
    is an error.

    >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
    >>> round(geo_spectrum_at_k(R, 3), 6), round(geo_spectrum_at_k(R, 3, lam=1.0), 6)
    (0.408248, 1.0)
    """
    coupling = _checks.coupling(lam, lambda_)
    histogram, k = _checks.binary_draws(R, k)
    pair = [credits.at_least(k, 1), _spectrum(k, weights, coupling)]
    return _observed_blend(histogram, pair, (coupling, 1.0 - coupling))


def geo_spectrum_at_k_ci(
    R: ArrayLike,
    k: int,
    lam: float = DEFAULT_LAM,
    weights: ArrayLike | None = None,
    lambda_: float | None = None,
    confidence: float = 0.95,
    bounds: tuple[float, float] = (0.0, 1.0),
    alpha0: float = 1.0,
    beta0: float = 1.0,
) -> Four:
    """Return the delta-method posterior summary of the latent `geo_spectrum_at_k`.

    k may exceed the trials.

    >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
    >>> geo_spectrum_at_k_ci(R, 3) == geo_spectrum_star_at_k_ci(R, 3)
    True
    """
    coupling = _checks.coupling(lam, lambda_)
    k = _checks.draws(k)
    histogram = _checks.binary(R)
    pair = [credits.at_least(k, 1), _spectrum(k, weights, coupling)]
    moments = latent(histogram, pair, alpha0, beta0).of_mean_over(histogram)
    return _dataset_blend(moments, (coupling, 1.0 - coupling), confidence, bounds)


def geo_spectrum_star_at_k(R: ArrayLike, k: int) -> float:
    r"""Return the square root of pass@k times mG-Pass@k: `geo_spectrum_at_k` with its defaults.

    >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
    >>> round(geo_spectrum_star_at_k(R, 3), 6)
    0.408248
    """
    return geo_spectrum_at_k(R, k)


def geo_spectrum_star_at_k_ci(
    R: ArrayLike,
    k: int,
    confidence: float = 0.95,
    bounds: tuple[float, float] = (0.0, 1.0),
    alpha0: float = 1.0,
    beta0: float = 1.0,
) -> Four:
    """Return the delta-method posterior summary of the latent `geo_spectrum_star_at_k`.

    >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
    >>> [round(x, 4) for x in geo_spectrum_star_at_k_ci(R, 2)] == [0.6121, 0.1328, 0.3519, 0.8723]
    True
    """
    return geo_spectrum_at_k_ci(
        R, k, confidence=confidence, bounds=bounds, alpha0=alpha0, beta0=beta0
    )


def _ends(k: int) -> list[Floats]:
    return [credits.at_least(k, 1), credits.all_of(k)]


def _spectrum(k: int, weights: ArrayLike | None, coupling: float) -> Floats:
    if weights is not None:
        return credits.spectrum(credits.spectrum_weights(weights, k))
    if coupling < 1.0:
        warn_if_empty(k)
    return credits.mean_over_shares(k)


def _observed_blend(histogram: Histogram, pair: list[Floats], powers: tuple[float, float]) -> float:
    return float(blend(np.array([observed(histogram, credit) for credit in pair]), powers))


def _dataset_blend(
    moments: Moments, powers: tuple[float, float], confidence: float, bounds: tuple[float, float]
) -> Four:
    mean, variance = _delta(moments, powers)
    return _checks.interval(float(mean[0]), float(np.sqrt(variance[0])), confidence, bounds)


def _delta(moments: Moments, powers: tuple[float, float]) -> tuple[Floats, Floats]:
    """Return the product of powers at the means, and its variance to first order."""
    mean = blend(moments.mean, powers)
    slope = mean[:, None] * np.divide(
        powers, moments.mean, out=np.zeros_like(moments.mean), where=moments.mean > 0
    )
    return mean, np.maximum(np.einsum("di,dij,dj->d", slope, moments.covariance, slope), 0.0)
