"""Exact coverage for one proportion: the published numbers, and where the default stands."""

import runpy
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"


@pytest.fixture(scope="module")
def study() -> dict[str, Any]:
    return runpy.run_path(str(BENCHMARKS / "proportions.py"))


# Mean over a uniform rate, and least over rates from 0.01 to 0.99 in steps of 0.001.
PUBLISHED = [
    ("Wald", 10, 0.769, 0.096),
    ("Wald", 100, 0.922, 0.633),
    ("percentile bootstrap", 3, 0.500, 0.030),
    ("percentile bootstrap", 300, 0.941, 0.836),
    ("Wilson", 10, 0.954, 0.842),
    ("Wilson", 300, 0.951, 0.936),
    ("Clopper-Pearson", 30, 0.973, 0.954),
    ("Beta(1,1)", 10, 0.950, 0.801),
    ("Jeffreys", 100, 0.950, 0.881),
    ("Beta(1,1), normal", 3, 0.958, 0.888),
]


@pytest.mark.parametrize(("name", "n", "mean", "least"), PUBLISHED)
def test_published_coverage(
    study: dict[str, Any], name: str, n: int, mean: float, least: float
) -> None:
    ends = study["METHODS"][name](n)
    assert round(study["mean_coverage"](ends), 3) == mean
    assert round(study["least_coverage"](ends), 3) == least


@pytest.mark.parametrize(("n", "mean"), [(3, 0.500), (10, 0.794), (30, 0.886), (300, 0.940)])
def test_student_needs_hundreds_of_problems(study: dict[str, Any], n: int, mean: float) -> None:
    assert round(study["mean_coverage"](study["METHODS"]["t"](n)), 3) == mean


@pytest.mark.parametrize("n", [10, 30, 100])
def test_the_default_keeps_its_level(study: dict[str, Any], n: int) -> None:
    ends = study["METHODS"]["passband"](n)
    assert 0.95 <= study["mean_coverage"](ends) <= 0.97
    assert study["least_coverage"](ends) >= 0.88


@pytest.mark.parametrize("name", ["Wilson", "passband"])
def test_mean_coverage_is_the_mean_of_coverage(study: dict[str, Any], name: str) -> None:
    """The closed form agrees with a sum over many rates."""
    ends = study["METHODS"][name](10)
    rates = (study["np"].arange(20_000) + 0.5) / 20_000
    found = study["coverage_at"](ends, rates).mean()
    assert found == pytest.approx(study["mean_coverage"](ends), abs=1e-4)


def test_coverage_beside_the_ends_is_the_least(study: dict[str, Any]) -> None:
    ends = study["METHODS"]["Wilson"](10)
    assert study["least_coverage"](ends, beside=True) < study["least_coverage"](ends)
