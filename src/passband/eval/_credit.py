"""Observed and posterior values of credit vectors on a histogram."""

from __future__ import annotations

import numpy as np

from passband.eval import _checks
from passband.eval._checks import Four
from passband.stats.data import Histogram
from passband.stats.metric import Moments, expected_credit, posterior_moments
from passband.types import Floats


def observed(histogram: Histogram, credit: Floats) -> float:
    """Return the mean credit of k recorded trials over all problems."""
    return histogram.mean(expected_credit(histogram.trials, histogram.successes, credit))


def latent(histogram: Histogram, credits: list[Floats], alpha0: float, beta0: float) -> Moments:
    """Return posterior moments of latent values, a row per (n, c) pair."""
    alpha, beta = _checks.prior("alpha0", alpha0), _checks.prior("beta0", beta0)
    return posterior_moments(histogram, credits, alpha, beta)


def posterior(
    histogram: Histogram,
    credit: Floats,
    confidence: float,
    bounds: tuple[float, float] | None,
    alpha0: float,
    beta0: float,
) -> Four:
    """Return the posterior summary of the mean latent value over all problems."""
    moments = latent(histogram, [credit], alpha0, beta0).of_mean_over(histogram)
    mean, variance = moments.mean[0, 0], moments.covariance[0, 0, 0]
    return _checks.interval(float(mean), float(np.sqrt(variance)), confidence, bounds)
