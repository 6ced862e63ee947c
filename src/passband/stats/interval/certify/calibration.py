"""Calibration: a larger quantile where the simulated coverage falls short, never a smaller one.

The quantile is raised for both ends together. A law fitted to a small sample lacks the tail that
the truth may have; an end that were drawn in on its account, or calibrated by itself, would lose
more coverage than calibration gains.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from passband.stats.interval.certify.certificate import Certificate, certificate_of
from passband.stats.interval.certify.simulation import Simulation
from passband.stats.interval.default.wilson import level_of, normal_quantile

__all__ = ["LARGEST_QUANTILE", "calibrated"]

LARGEST_QUANTILE = 4.0
_HALVINGS = 6  # of about 2: the quantile is known to 0.03, less than the simulation's own error


def calibrated(simulations: Sequence[Simulation], certificate: Certificate) -> Certificate:
    """Return the certificate of the interval at a quantile that covers at the level.

    The smallest quantile at which the data sets of all laws together are covered, and never more
    than 4. A certificate that predicts enough is returned as it is.
    """
    least = normal_quantile(certificate.level)
    if not certificate.needs_calibration or least >= LARGEST_QUANTILE:
        return certificate
    z = _smallest(simulations, certificate.level, least)
    raised = certificate_of(simulations, level_of(z), certificate.seed, certificate.unseen)
    return replace(raised, level=certificate.level, z=z, uncalibrated=certificate.coverage)


def _smallest(simulations: Sequence[Simulation], level: float, low: float) -> float:
    """Return the smallest quantile, by halving, at which the pooled data sets are covered."""
    high = LARGEST_QUANTILE
    if _pooled(simulations, level_of(high)) < level:
        return high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        if _pooled(simulations, level_of(middle)) < level:
            low = middle
        else:
            high = middle
    return high


def _pooled(simulations: Sequence[Simulation], level: float) -> float:
    return sum(each.coverage(level) for each in simulations) / len(simulations)
