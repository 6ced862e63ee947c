"""Numbers of trials that follow the results of those trials."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from passband.stats.evidence.counts import count_findings, first_of_each, graded_count_findings


def thinned(n: int, c: int, size: int) -> tuple[Fraction, Fraction]:
    """Return how often trials drawn of c successes and n - c failures are all wrong, all right."""
    drawn = list(combinations([1] * c + [0] * (n - c), size))
    sums = [sum(each) for each in drawn]
    return Fraction(sums.count(0), len(drawn)), Fraction(sums.count(size), len(drawn))


def test_extremes_are_expected_as_in_trials_drawn_of_longer_problems() -> None:
    longer = [(6, 1), (6, 5), (8, 4), (8, 7), (6, 3)]
    trials = np.array([2] * 30 + [n for n, _ in longer] * 6)
    successes = np.array([2, 0] * 15 + [c for _, c in longer] * 6)
    (finding,) = count_findings(trials, successes)
    alike = sum(sum(thinned(n, c, 2)) for n, c in longer) / len(longer)
    assert finding.numbers["share"] == 1.0
    assert finding.numbers["expected"] == pytest.approx(float(alike))
    assert finding.text.startswith("100% of the problems with 2 trials are all alike, and of as")
    assert finding.numbers["first"] == finding.numbers["size"] == 2


def test_it_weighs_on_both_targets_and_says_what_to_do() -> None:
    trials, successes = np.array([4, 16] * 20), np.array([0, 9] * 20)
    (finding,) = count_findings(trials, successes)
    assert finding.severity_for("problems", 1) == finding.severity_for("trials", 1) == "invalid"
    assert "until it was given up after 4 failures" in finding.text
    assert "--first 4 uses the first 4 trials of each problem" in finding.text
    assert first_of_each(1).startswith("--first 1 uses the first trial of")


def test_until_the_first_success_has_a_code_of_its_own() -> None:
    (finding,) = count_findings(np.array([1, 2, 3, 2, 3, 4] * 5), np.array([1, 1, 1, 1, 1, 0] * 5))
    assert finding.code == "stopped-by-outcome"
    assert finding.numbers["rule"] == "until its first success"


def test_fixed_numbers_and_few_problems_have_none() -> None:
    assert count_findings(np.full(50, 8), np.arange(50) % 9) == ()
    assert count_findings(np.array([2, 8, 0]), np.array([0, 8, 0])) == ()
    assert count_findings(np.zeros(3, np.int64), np.zeros(3, np.int64)) == ()
    assert graded_count_findings(np.zeros(3, np.int64), np.zeros(3)) == ()


def test_the_order_of_problems_does_not_matter() -> None:
    rng = np.random.default_rng(2)
    n = rng.choice([2, 8], 40)
    c = np.where(n == 2, 0, rng.binomial(8, 0.6, 40))
    order = rng.permutation(40)
    assert count_findings(n, c) == count_findings(n[order], c[order]) != ()


def test_failures_are_found_as_successes_are() -> None:
    rng = np.random.default_rng(4)
    rows = rng.random((40, 10)) < rng.beta(2, 2, 40)[:, None]
    n = np.where(rows.all(axis=1), 10, (~rows).argmax(axis=1) + 1)
    c = n - (~rows).any(axis=1)
    (there,), (back,) = count_findings(n, c), count_findings(n, n - c)
    assert there.numbers["rule"] == "until its first failure"
    assert back.numbers["rule"] == "until its first success"


@pytest.mark.parametrize(("a", "b"), [(2, 2), (20, 1), (0.2, 0.2)])
def test_numbers_by_chance_are_seldom_found_guilty(a: float, b: float) -> None:
    rng = np.random.default_rng(8)
    alarms = 0
    for _ in range(150):
        n = rng.choice([2, 6, 40], 60)
        alarms += bool(count_findings(n, rng.binomial(n, rng.beta(a, b, 60))))
    assert alarms <= 3


def test_graded_scores_go_by_ranks() -> None:
    rng = np.random.default_rng(9)
    means = rng.normal(size=40)
    n = np.where(means > 0, 2, 8)
    (finding,) = graded_count_findings(n, means)
    assert "problems with more trials scored worse" in finding.text
    assert "more trials scored better" in graded_count_findings(n, -means)[0].text
    assert graded_count_findings(n, np.exp(9 * means)) == (finding,)
    assert graded_count_findings(n, rng.permutation(means)) == ()
