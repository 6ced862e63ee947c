"""Information of items, by hand and by quadrature."""

import math

import mpmath
import numpy as np
import pytest

from irt_banks import bank, exact_chance
from passband.errors import InvalidInput
from passband.stats.irt.curves import information, kl_information
from passband.stats.irt.items import Items
from passband.stats.irt.posterior import Grid


def test_information_by_hand() -> None:
    items = Items("3pl", a=[2.0], b=[0.0], c=[0.25])
    right = 0.25 + 0.75 / 2  # at theta = b
    by_hand = 4 * ((right - 0.25) / 0.75) ** 2 * (1 - right) / right
    assert information(items, 0.0) == pytest.approx([by_hand])


@pytest.mark.parametrize("model", ["2pl", "3pl", "graded"])
def test_kl_information_is_an_integral(model: str) -> None:
    items = bank(model, 3)

    def divergence(item: int, other: mpmath.mpf) -> mpmath.mpf:
        chances = [
            (exact_chance(items, item, 0.3, grade), exact_chance(items, item, other, grade))
            for grade in range(int(items.grades[item]) + 1)
        ]
        return mpmath.fsum(p * mpmath.log(p / q) for p, q in chances)

    exact = [float(mpmath.quad(lambda t, i=i: divergence(i, t), [-0.7, 1.3])) for i in range(3)]
    assert kl_information(items, 0.3, 1.0) == pytest.approx(exact, rel=1e-8)


def test_kl_information_tends_to_fisher_s() -> None:
    """KL is I t²/2 nearby, so its integral is I δ³/3."""
    for model in ("2pl", "3pl", "graded", "continuous"):
        items = bank(model, 5)
        near = kl_information(items, 0.4, 1e-3) / (1e-9 / 3)
        assert near == pytest.approx(information(items, 0.4), rel=1e-3)


@pytest.mark.parametrize("model", ["1pl", "2pl", "3pl", "graded", "continuous"])
@pytest.mark.parametrize("theta", [-40.0, -3.0, 0.1, 0.555, 2.04, 60.0])
def test_kept_information_is_close(model: str, theta: float) -> None:
    items = bank(model, 50)
    grid, exact = Grid.of(items), information(items, theta)
    largest = np.maximum(exact.max(), items.a**2 / 4 / items.phi)
    for _ in range(2):  # computed, and kept
        assert (np.abs(grid.information(theta) - exact) < 0.01 * largest).all()
    at_node = Grid.of(items).information(-2.5)
    assert at_node == pytest.approx(information(items, -2.5), rel=1e-5, abs=1e-12)


def test_what_is_refused() -> None:
    with pytest.raises(InvalidInput, match="delta must be a number above 0"):
        kl_information(bank("2pl", 2), 0.0, math.inf)
    assert np.isfinite(information(bank("graded", 4), 500.0)).all()
