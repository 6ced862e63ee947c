"""Trials that are not alike in the order in which they were asked."""

from itertools import permutations, product

import numpy as np
import pytest

from passband.stats.data.sequence import AskedScores
from passband.stats.evidence.order import RoundEffects, order_findings, rounds_of
from passband.types import Bools, Floats, Ints


def asked(rows: Bools | Floats, n: Ints | None = None) -> AskedScores:
    values = rows.astype(np.uint8) if rows.dtype == bool else rows
    counts = np.full(len(rows), rows.shape[1]) if n is None else n
    return AskedScores.of_rows(values, np.arange(rows.shape[1]) < counts[:, None])  # type: ignore[arg-type]


def codes(sequence: AskedScores) -> list[str]:
    return [finding.code for finding in order_findings(sequence)]


def alike(seed: int, problems: int = 60, n: int = 8) -> Bools:
    rng = np.random.default_rng(seed)
    return rng.random((problems, n)) < rng.beta(2, 2, problems)[:, None]


def test_trials_that_are_alike_are_seldom_found_guilty() -> None:
    assert sum(bool(codes(asked(alike(seed)))) for seed in range(200)) <= 4
    rng = np.random.default_rng(1)
    ragged = (asked(alike(seed), rng.integers(1, 9, 60)) for seed in range(200))
    assert sum(bool(codes(one)) for one in ragged) <= 4


def test_a_drift_says_how_far() -> None:
    rows = alike(3)
    rows[:, 4:] &= np.random.default_rng(1).random((60, 4)) < 0.4
    (finding,) = order_findings(asked(rows))
    assert finding.code == "drift"
    assert finding.severity_for("problems", 1) == "weak"
    assert finding.numbers["early"] == pytest.approx(rows[:, :4].mean())
    assert finding.numbers["late"] == pytest.approx(rows[:, 4:].mean())
    assert "later trials score lower" in finding.text
    (back,) = order_findings(asked(rows[:, ::-1]))
    assert "later trials score higher" in back.text
    assert back.numbers["z"] == pytest.approx(-float(finding.numbers["z"]))


def test_a_bad_round_is_named() -> None:
    rows = alike(4, problems=100)
    rows[:, 5] = False
    (finding,) = order_findings(asked(rows))
    assert finding.code == "unlike-round"
    assert finding.numbers["round"] == 6
    assert "round 6 of asking is unlike the others: its mean score is 0.00" in finding.text


@pytest.mark.parametrize("size", [2, 4])
def test_copies_are_found_whatever_the_scores_are(size: int) -> None:
    copied = np.repeat(alike(5, n=8 // size), size, axis=1)
    assert codes(asked(copied)) == ["copied-trials", "copied-draws"]
    assert codes(asked(~copied)) == ["copied-trials", "copied-draws"]
    noise = np.random.default_rng(5).normal(size=(60, 8 // size))
    assert codes(asked(np.repeat(noise, size, axis=1))) == ["copied-trials", "copied-draws"]


def test_the_last_trial_tells_of_a_rule() -> None:
    rows = alike(6, problems=100, n=10)
    n = np.where(rows.any(axis=1), rows.argmax(axis=1) + 1, 10)
    two = np.maximum(n, 2)
    assert codes(asked(rows, two)) == ["stopped-by-results"]
    (finding,) = order_findings(asked(rows, two))
    assert finding.numbers["first"] == 2
    assert "--first 2" in finding.text
    planned = order_findings(asked(rows, two), counts_explained=True)
    assert "stopped-by-results" not in [one.code for one in planned]


def test_after_a_rule_only_first_trials_are_compared() -> None:
    """Trials until the first success rise at their end, which is no drift."""
    rows = alike(7, problems=200, n=10)
    n = np.where(rows.any(axis=1), rows.argmax(axis=1) + 1, 10)
    assert "drift" not in codes(asked(rows, np.maximum(n, 3)))


def test_sorted_scores_have_no_order() -> None:
    (finding,) = order_findings(asked(np.sort(alike(8), axis=1)))
    assert (finding.code, finding.severity) == ("order-unknown", "remark")


def test_nothing_is_said_of_nothing() -> None:
    assert order_findings(AskedScores(np.zeros(0), np.array([0]))) == ()
    assert order_findings(asked(np.ones((20, 4), bool))) == ()
    assert order_findings(asked(alike(1, n=1))) == ()


def test_problems_may_be_permuted() -> None:
    rows = np.repeat(alike(9, n=4), 2, axis=1)
    order = np.random.default_rng(1).permutation(60)
    there, back = (order_findings(asked(each)) for each in (rows, rows[order]))
    assert [one.text for one in there] == [one.text for one in back]


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
    assert of_rows(rows).round <= 2  # type: ignore[arg-type]


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
