"""Calibration: a larger quantile where the simulated coverage falls short, never a smaller one.

The quantile is raised for both ends together. A law fitted to a small sample lacks the tail that
the truth may have; an end that were drawn in on its account, or calibrated by itself, would lose
more coverage than calibration gains.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from passband.stats.interval.certify.certificate import Certificate, certificate_of
from passband.stats.interval.certify.simulation import Simulation
from passband.stats.interval.default.wilson import level_of, normal_quantile
from passband.types import Floats

__all__ = ["LARGEST_QUANTILE", "calibrated"]

LARGEST_QUANTILE = 4.0
_QUANTILES = 14


def calibrated(simulations: Sequence[Simulation], certificate: Certificate) -> Certificate:
    """Return the certificate of the interval at a quantile that covers at the level.

    The smallest quantile at which the pooled simulations cover, read off a line between the
    quantiles that were tried, and never more than 4. A certificate that predicts enough is returned
    as it is.
    """
    least = normal_quantile(certificate.level)
    if not certificate.needs_calibration or least >= LARGEST_QUANTILE:
        return certificate
    z = _smallest(simulations, certificate, np.linspace(least, LARGEST_QUANTILE, _QUANTILES))
    raised = certificate_of(simulations, level_of(z), certificate.seed, certificate.unseen)
    return replace(raised, level=certificate.level, z=z, uncalibrated=certificate.coverage)


def _smallest(
    simulations: Sequence[Simulation], certificate: Certificate, quantiles: Floats
) -> float:
    level, before = certificate.level, certificate.coverage
    for lower, upper in zip(quantiles[:-1], quantiles[1:], strict=True):
        after = _pooled(simulations, level_of(float(upper)))
        if after >= level:
            share = (level - before) / (after - before) if after > before else 1.0
            return float(lower + (upper - lower) * min(max(share, 0.0), 1.0))
        before = after
    return LARGEST_QUANTILE


def _pooled(simulations: Sequence[Simulation], level: float) -> float:
    return sum(each.coverage(level) for each in simulations) / len(simulations)
