"""Certificates: what they count, when they call a coverage low, how they read."""

import pickle

import numpy as np
import pytest
from scipy.special import ndtri

from passband.stats.interval.certify.certificate import (
    LARGEST_QUANTILE,
    Certificate,
    LawCoverage,
    calibrated,
    certificate_of,
)
from passband.stats.interval.certify.simulation import SimulatedEnds, Simulation
from passband.stats.interval.default.wilson import normal_quantile


class Fixed(Simulation):
    """Data sets of which some are covered at any level."""

    def __init__(self, law: str, covered: int, sets: int) -> None:
        self.law, self.truth = law, np.zeros(sets)
        self.shift = np.where(np.arange(sets) < covered, 0.0, 2.0)

    def ends(self, level: float) -> SimulatedEnds:
        return SimulatedEnds(self.shift - 1.0, self.shift + 1.0)


def made(coverage: float, level: float = 0.95, sets: int = 1000) -> Certificate:
    laws = (LawCoverage("sharp", coverage, sets),)
    return Certificate(level, coverage, coverage, coverage, 0.01, sets, laws, 7, "rare scores")


def test_laws_are_averaged() -> None:
    certificate = certificate_of([Fixed("a", 90, 100), Fixed("b", 96, 100)], 0.95, 7, "tails")
    assert certificate.coverage == pytest.approx(0.93)
    assert (certificate.low, certificate.high, certificate.sets) == (0.90, 0.96, 200)
    assert [law.law for law in certificate.laws] == ["a", "b"]
    assert certificate.se == pytest.approx(0.0186, abs=5e-4)
    assert pickle.loads(pickle.dumps(certificate)) == certificate


def test_no_interval_does_not_cover() -> None:
    class Half(Fixed):
        def ends(self, level: float) -> SimulatedEnds:
            ends = super().ends(level)
            low = np.where(np.arange(len(ends.low)) % 2, np.nan, ends.low)
            return SimulatedEnds(low, ends.high)

    assert Half("a", 10, 10).coverage(0.95) == 0.5


def test_error_is_not_zero_where_all_are_covered() -> None:
    assert certificate_of([Fixed("a", 100, 100)], 0.95, 7, "tails").se > 0.005


@pytest.mark.parametrize(
    ("coverage", "level", "sets", "is_low", "needs_calibration"),
    [
        (0.919, 0.95, 1000, True, True),
        (0.921, 0.95, 1000, False, True),
        (0.931, 0.95, 1000, False, False),
        (0.919, 0.95, 300, True, True),
        (0.9975, 0.999, 1000, False, True),  # two misses more than expected
        (0.99, 0.999, 1000, True, True),
        (0.48, 0.5, 1000, False, False),
        (0.45, 0.5, 1000, True, True),
        (1.0, 0.95, 1000, False, False),
    ],
)
def test_low_coverage(
    coverage: float, level: float, sets: int, is_low: bool, needs_calibration: bool
) -> None:
    certificate = made(coverage, level, sets)
    assert certificate.is_low is is_low
    assert certificate.needs_calibration is needs_calibration


def test_reads_as_a_sentence() -> None:
    certificate = made(0.9134)
    assert certificate.sentence == "on data like yours this 95% interval covers about 91%"
    assert str(certificate) == (
        f"{certificate.sentence}, by simulation, which cannot see {certificate.unseen}"
    )
    assert made(0.99712, 0.999).percent == "99.7%"


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
