"""Certificates: how often the interval contained the truth on data simulated like the user's.

Calibration takes a larger quantile where the simulated coverage falls short, never a smaller one.
It is raised for both ends together. A law fitted to a small sample lacks the tail that the truth
may have; an end that were drawn in on its account, or calibrated by itself, would lose more
coverage than calibration gains.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from passband.stats.interval.certify.simulation import Simulation
from passband.stats.interval.default.wilson import level_of, normal_quantile

_MISSED = 0.05  # what intervals of 95% may miss; shortfalls are shares of it, or of less
_LOW, _GATE = 0.6, 0.4
_LOW_ERRORS, _GATE_ERRORS = 2.3, 1.5  # Monte-Carlo standard errors that a shortfall has to exceed


@dataclass(frozen=True)
class LawCoverage:
    """Coverage of the interval over data sets of one law."""

    law: str
    coverage: float
    sets: int


@dataclass(frozen=True)
class Certificate:
    """The coverage to expect of an interval on data like those it was made from.

    Data sets of the same design are drawn from laws fitted to the data, where the truth is known,
    and the same rule makes an interval from each. What the sample does not show, no law fitted to
    it can show either; `unseen` names what that may be.
    """

    level: float  #: the level that was asked for
    coverage: float  #: predicted, the mean over the laws
    low: float  #: of the law with the least coverage
    high: float  #: of the law with the most
    se: float  #: Monte-Carlo standard error of `coverage`
    sets: int  #: simulated data sets, all laws together
    laws: tuple[LawCoverage, ...]
    seed: int  #: of the simulation, from the data unless it was given
    unseen: str  #: what the simulation cannot see
    z: float | None = None  #: the quantile of a calibrated interval; None: it is not calibrated
    uncalibrated: float | None = None  #: predicted coverage before calibration

    @property
    def is_low(self) -> bool:
        """Whether the coverage is clearly below the level: below 92% for an interval of 95%."""
        return self._is_short(_LOW, _LOW_ERRORS)

    @property
    def needs_calibration(self) -> bool:
        """Whether the interval is to be widened on request: below 93% for an interval of 95%."""
        return self._is_short(_GATE, _GATE_ERRORS)

    def _is_short(self, share: float, errors: float) -> bool:
        noise = math.sqrt(self.level * (1.0 - self.level) / self.sets)
        return self.coverage < self.level - max(
            share * min(_MISSED, 1.0 - self.level), errors * noise
        )

    @property
    def percent(self) -> str:
        """The predicted coverage as a percentage."""
        return _percent(self.coverage, self.level)

    def before_and_after(self) -> tuple[str, str]:
        """Return the predicted coverage before and after calibration, as percentages."""
        before = self.coverage if self.uncalibrated is None else self.uncalibrated
        return _percent(before, self.level), self.percent

    @property
    def sentence(self) -> str:
        """The coverage to expect, in words."""
        calibrated = "calibrated " if self.z is not None else ""
        return (
            f"on data like yours this {calibrated}{100 * self.level:.10g}% interval covers about "
            f"{self.percent}"
        )

    def __str__(self) -> str:
        """Format the expected coverage and the simulation's limits.

        >>> laws = (LawCoverage("sharp", 0.9, 500), LawCoverage("close", 0.92, 500))
        >>> print(Certificate(0.95, 0.91, 0.9, 0.92, 0.009, 1000, laws, 7, "rare scores"))
        on data like yours this 95% interval covers about 91%, by simulation, which cannot see \
rare scores
        """
        return f"{self.sentence}, by simulation, which cannot see {self.unseen}"


def _percent(coverage: float, level: float) -> str:
    """Write a share as a percentage, with the decimals that the level has.

    >>> _percent(0.9134, 0.95), _percent(0.99712, 0.999), _percent(1.0, 0.95)
    ('91%', '99.7%', '100%')
    """
    decimals = max(math.ceil(-math.log10(1.0 - level)) - 2, 0)
    return f"{100 * coverage:.{min(decimals, 6)}f}%"


def certificate_of(
    simulations: Sequence[Simulation], level: float, seed: int, unseen: str
) -> Certificate:
    """Return the certificate of simulations from one or more laws."""
    laws = tuple(LawCoverage(s.law, s.coverage(level), s.sets) for s in simulations)
    sets = sum(law.sets for law in laws)
    coverage = sum(law.coverage for law in laws) / len(laws)
    middle = (coverage * sets + 2.0) / (sets + 4.0)  # so that the error is not 0 where all covered
    shares = [law.coverage for law in laws]
    error = math.sqrt(middle * (1.0 - middle) / sets)
    return Certificate(level, coverage, min(shares), max(shares), error, sets, laws, seed, unseen)


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
