"""Trials that are not alike in the order in which they were asked."""

import numpy as np
import pytest

from passband.stats.data.sequence import AskedScores
from passband.stats.evidence.order import order_findings
from passband.types import Bools, Floats, Ints


def asked(rows: Bools | Floats, n: Ints | None = None) -> AskedScores:
    values = rows.astype(np.uint8) if rows.dtype == bool else rows
    counts = np.full(len(rows), rows.shape[1]) if n is None else n
    return AskedScores.of_rows(values, np.arange(rows.shape[1]) < counts[:, None])


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
