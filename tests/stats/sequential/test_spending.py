"""Boundaries of repeated looks: published values, an independent integral, and simulation."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import erfc, mp, quad, sqrt

from passband.errors import InvalidInput, UnknownName
from passband.stats.sequential.spending import boundaries, boundaries_spending, spent
from support.fuzz.properties import one_in

FIFTHS = [0.2, 0.4, 0.6, 0.8, 1.0]


def test_one_look_is_the_usual_quantile() -> None:
    assert boundaries([1.0]) == pytest.approx([1.959963984540054])


@pytest.mark.parametrize(
    ("spending", "published"),
    [
        ("obrien-fleming", [4.8769, 3.3569, 2.6803, 2.2898, 2.0310]),
        ("pocock", [2.4380, 2.4268, 2.4101, 2.3966, 2.3859]),
    ],
)
def test_five_equal_looks_are_as_published(spending: str, published: list[float]) -> None:
    """Lan and DeMets' boundaries for alpha 0.05, as tables and ldbounds have them."""
    found = boundaries(FIFTHS, spending=spending)  # type: ignore[arg-type]
    assert found == pytest.approx(published, abs=2e-4)


def test_the_second_look_by_an_integral_of_its_own() -> None:
    """Two looks at 1/4 and 1: P(|Z1| < b1, |Z2| >= b2) is what the second look may add."""
    first, second = boundaries([0.25, 1.0])
    mp.dps = 20

    def tail(x: object) -> object:
        return erfc(x / sqrt(2)) / 2

    def crossing(x: object) -> object:  # x = Z1 / 2 is the sum at 1/4; the rest has variance 3/4
        density = mp.exp(-2 * x**2) * sqrt(2 / mp.pi)  # type: ignore[operator]
        step = sqrt(mp.mpf(3) / 4)
        return density * (tail((second - x) / step) + tail((second + x) / step))  # type: ignore[operator]

    reach = first / 2
    added = float(quad(crossing, [-reach, 0, reach]))
    assert 2 * float(tail(first)) == pytest.approx(0.05 / 8, rel=1e-9)  # type: ignore[arg-type]
    assert added == pytest.approx(0.05 - 0.05 / 8, rel=1e-6)


def test_all_looks_together_err_as_often_as_they_may() -> None:
    looks = np.array([2, 3, 4, 6, 8, 12, 16, 24, 32])
    bounds = np.array(boundaries((looks / 32).tolist()))
    steps = np.sqrt(np.diff(looks, prepend=0))
    sums = (np.random.default_rng(5).standard_normal((200_000, 9)) * steps).cumsum(axis=1)
    crossed = (np.abs(sums) / np.sqrt(looks) >= bounds).any(axis=1).mean()
    assert crossed == pytest.approx(0.05, abs=0.0015)
    naive = (np.abs(sums) / np.sqrt(looks) >= 1.96).any(axis=1).mean()
    assert naive > 0.18  # the same looks at 95 % each


@one_in(10)
@given(
    st.lists(st.integers(1, 64), min_size=1, max_size=6, unique=True),
    st.sampled_from(["power", "obrien-fleming", "pocock"]),
)
def test_boundaries_are_wider_than_one_look_and_scale_free(looks: list[int], spending: str) -> None:
    ordered = sorted(looks)
    fractions = [look / ordered[-1] for look in ordered]
    found = boundaries(fractions, spending=spending)  # type: ignore[arg-type]
    assert min(found) >= 1.9599
    errors = [spent(spending, fraction, 0.05) for fraction in fractions]  # type: ignore[arg-type]
    assert boundaries_spending(ordered, errors) == pytest.approx(found, abs=1e-6)
    assert errors[-1] == pytest.approx(0.05)


def test_what_is_refused() -> None:
    for fractions in ([0.5, 0.5, 1.0], [0.6, 0.4, 1.0], [0.0, 1.0], []):
        with pytest.raises(InvalidInput, match="looks must be at"):
            boundaries(fractions)
    with pytest.raises(InvalidInput, match="last look must be at fraction 1"):
        boundaries([0.5, 0.9])
    with pytest.raises(UnknownName, match="Did you mean 'pocock'"):
        spent("pococ", 0.5, 0.05)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="must grow"):
        boundaries_spending([1, 2], [0.02, 0.01])
    with pytest.raises(InvalidInput, match="one error per look"):
        boundaries_spending([1, 2], [0.02])
    assert math.isfinite(boundaries([1e-6, 1.0], spending="obrien-fleming")[0])
