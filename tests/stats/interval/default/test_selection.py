"""The exact interval over the trials of a single problem."""

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband import Outcomes, estimate
from passband.stats.interval.bands import band


def one(c: int, n: int, metric: str = "pass@1", level: float = 0.95) -> tuple[float, float]:
    found = estimate(Outcomes.from_counts([c], n), metric, over="trials", level=level)
    assert found.low is not None
    assert found.high is not None
    assert found.low <= found.value <= found.high
    return found.low, found.high


def at_least(c: int, n: int, p: float) -> float:
    return sum(comb(n, j) * p**j * (1 - p) ** (n - j) for j in range(c, n + 1))


@pytest.mark.parametrize(("c", "n"), [(1, 3), (0, 7), (7, 7), (13, 40)])
def test_the_ends_are_the_rates_at_which_the_count_would_be_too_far_off(c: int, n: int) -> None:
    low, high = one(c, n)
    if c > 0:
        assert at_least(c, n, low) == pytest.approx(0.025)
    if c < n:
        assert 1 - at_least(c + 1, n, high) == pytest.approx(0.025)
    assert c > 0 or low == 0.0
    assert c < n or high == 1.0


@pytest.mark.parametrize("n", [3, 10, 30])
def test_it_covers_at_every_rate(n: int) -> None:
    ends = [one(c, n) for c in range(n + 1)]
    for p in np.linspace(0.01, 0.99, 99).tolist():
        chance = [comb(n, c) * p**c * (1 - p) ** (n - c) for c in range(n + 1)]
        inside = [low <= p <= high for low, high in ends]
        assert np.dot(chance, inside) >= 0.95


def test_metrics_go_along_with_the_rate() -> None:
    low, high = one(4, 12)
    assert one(4, 12, "pass@3") == pytest.approx((1 - (1 - low) ** 3, 1 - (1 - high) ** 3))
    assert one(4, 12, "pass^2") == pytest.approx((low**2, high**2))
    assert one(4, 12, "bayes") == pytest.approx(((12 * low + 1) / 14, (12 * high + 1) / 14))


def test_the_error_is_that_of_a_share() -> None:
    found = estimate(Outcomes.from_counts([30], 120), "pass@1", over="trials")
    assert found.se == pytest.approx((0.25 * 0.75 / 120) ** 0.5)
    assert found.notes == ()
    assert estimate(Outcomes.from_counts([0], 120), "pass@1", over="trials").se is None


@pytest.mark.parametrize("n", [250_000, 10**6])
def test_very_many_trials(n: int) -> None:
    low, high = one(round(0.73 * n), n)
    reach = 1.96 * (0.73 * 0.27 / n) ** 0.5
    assert (low, high) == pytest.approx((0.73 - reach, 0.73 + reach), abs=2 / n)


def test_problems_with_too_few_trials_do_not_count() -> None:
    found = estimate(Outcomes.from_counts([2, 4], [3, 12]), "pass@4", over="trials")
    assert (found.low, found.high) == one(4, 12, "pass@4")


@given(st.integers(1, 30).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_a_band_contains_it(pair: tuple[int, int]) -> None:
    c, n = pair
    found = band(Outcomes.from_counts([c], n), "pass@*", over="trials")
    low, high = one(c, n)
    assert found.low[0] <= low + 1e-12
    assert n > 1 or found.high[0] >= high - 1e-12
    assert (np.diff(found.low) >= 0).all()
