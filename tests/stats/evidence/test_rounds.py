"""Rounds of asking: whether the trials of one are unlike those of another."""

from itertools import permutations, product

import numpy as np
import pytest

from passband.stats.evidence.order import RoundEffects, rounds_of


def of_rows(rows: list[tuple[int, ...]]) -> RoundEffects:
    n, c = np.array(list(map(len, rows))), np.array(list(map(sum, rows)))
    rates = c / n
    position = np.concatenate([np.arange(each) for each in n])
    deviations = np.concatenate(rows) - np.repeat(rates, n)
    return rounds_of(deviations, position, n, rates * (1 - rates) * n / (n - 1))


def test_covariance_is_that_over_all_orders() -> None:
    """Over all orders a square in standard errors is 1 on average, and a chi-square its freedom."""
    long, short = sorted(set(permutations((0, 0, 1)))), [(0, 1), (1, 0)]
    orders = [of_rows(list(each)) for each in product(*[long] * 5, short, short)]
    trends = np.array([one.trend for one in orders])
    assert trends.mean() == pytest.approx(0, abs=1e-12)
    assert (trends**2).mean() == pytest.approx(1)
    # Wilson and Hilferty's deviate of one degree of freedom, turned back to chi-square.
    deviates = np.array([one.others for one in orders])
    assert ((deviates * np.sqrt(2 / 9) + 7 / 9) ** 3).mean() == pytest.approx(1)


def test_by_hand() -> None:
    """Ten problems score 1 in round 2 of 3 alone: D_2 = 20/3, with variance 10 (1/3)(1 - 1/3)."""
    one = of_rows([(0, 1, 0)] * 10)
    assert one.round == 2
    assert one.apart == pytest.approx((20 / 3) / (20 / 9) ** 0.5)
    assert one.trend == pytest.approx(0)
    assert one.inflation == pytest.approx((20 / 2) ** 0.5)


def test_a_trend_leaves_nothing_else() -> None:
    one = of_rows([(0, 1)] * 9)
    assert one.trend == pytest.approx(3)
    assert one.others == 0.0


def test_rounds_that_few_problems_have_are_left_out() -> None:
    """Of problems that are asked more often than four others, only shared rounds are compared."""
    rows = [(0, 1)] * 2 + [(1, 0)] * 2 + [(0, 1, 1, 1, 0, 0)] * 4
    assert of_rows(rows).round <= 2


def test_of_rounds_that_are_alike_the_deviate_is_nearly_standard_normal() -> None:
    rng = np.random.default_rng(6)
    others, trends = [], []
    for _ in range(200):
        rows = (rng.random((60, 6)) < rng.beta(2, 2, 60)[:, None]).astype(int)
        kept = [tuple(row) for row in rows if 0 < row.sum() < 6]
        one = of_rows(kept)
        others.append(one.others)
        trends.append(one.trend)
    assert abs(np.mean(others)) < 0.25
    assert 0.85 < np.std(others) < 1.2
    assert 0.85 < np.std(trends) < 1.15
