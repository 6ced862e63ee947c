"""Calibration: upwards only, behind a gate, and capped."""

import numpy as np
import pytest
from scipy.special import ndtri

from passband.stats.interval.certify.certificate import (
    LARGEST_QUANTILE,
    Certificate,
    calibrated,
    certificate_of,
)
from passband.stats.interval.certify.simulation import SimulatedEnds, Simulation
from passband.stats.interval.default.wilson import normal_quantile


class Scaled(Simulation):
    """Normal estimates of 0 whose intervals take their standard deviation for 1."""

    def __init__(self, sd: float, sets: int = 4001) -> None:
        self.law, self.truth = "normal", np.zeros(sets)
        self.estimates = sd * ndtri((np.arange(sets) + 0.5) / sets)

    def ends(self, level: float) -> SimulatedEnds:
        reach = normal_quantile(level)
        return SimulatedEnds(self.estimates - reach, self.estimates + reach)


def certificates(sd: float, level: float = 0.95) -> tuple[Certificate, Certificate]:
    simulations = [Scaled(sd)]
    before = certificate_of(simulations, level, 7, "tails")
    return before, calibrated(simulations, before)


def test_finds_the_quantile() -> None:
    before, after = certificates(1.5)
    assert after.z == pytest.approx(1.5 * 1.96, abs=0.04)
    assert after.uncalibrated == before.coverage == pytest.approx(0.809, abs=2e-3)
    assert after.coverage == pytest.approx(0.95, abs=5e-3)
    assert after.coverage >= 0.95
    assert after.level == 0.95


def test_never_down() -> None:
    before, after = certificates(0.5)
    assert after is before


def test_gate() -> None:
    before, after = certificates(1.03)
    assert 0.93 < before.coverage < 0.95
    assert after is before


def test_capped() -> None:
    _, after = certificates(4.0)
    assert after.z == LARGEST_QUANTILE
    assert after.coverage < 0.95
    assert after.is_low


def test_levels_beyond_the_cap_are_left_alone() -> None:
    before, after = certificates(9.0, level=0.99999)
    assert after is before
