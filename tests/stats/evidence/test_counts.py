"""Numbers of trials that follow the results of those trials."""

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations
from math import prod

import numpy as np
import pytest

from passband.stats.data.counts import Histogram
from passband.stats.evidence.counts import (
    UNKNOWN_RULE,
    count_findings,
    failure_findings,
    first_of_each,
    graded_count_findings,
    rule_named,
    stopping_of,
)
from passband.types import Floats, Ints


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


def drawn(seed: int, of_wrong: float, of_right: float) -> tuple[Ints, Ints, Floats]:
    rng = np.random.default_rng(seed)
    right = rng.random((100, 8)) < rng.beta(2, 2, 100)[:, None]
    fails = rng.random((100, 8)) < np.where(right, of_right, of_wrong)
    scored = (~fails).sum(axis=1)
    return fails.sum(axis=1), scored, (right & ~fails).sum(axis=1) / np.maximum(scored, 1)


def test_wrong_answers_that_fail_make_it_too_good() -> None:
    (finding,) = failure_findings(*drawn(1, 0.4, 0.0))
    assert finding.severity_for("problems", 1) == finding.severity_for("trials", 1) == "weak"
    assert finding.text.endswith("the estimate is too good")
    assert finding.numbers["correlation"] < 0  # type: ignore[operator]
    assert finding.numbers["low"] > finding.numbers["high"]  # type: ignore[operator]


def test_right_answers_that_fail_make_it_too_bad() -> None:
    (finding,) = failure_findings(*drawn(1, 0.0, 0.4))
    assert finding.text.endswith("if they failed because they would have been right, the estimate "
                                 "is too bad")  # fmt: skip


def test_mirrored_scores_mirror_it() -> None:
    failed, trials, means = drawn(2, 0.4, 0.0)
    (there,), (back,) = (failure_findings(failed, trials, each) for each in (means, 1.0 - means))
    assert there.numbers["correlation"] == pytest.approx(-float(back.numbers["correlation"]))


def test_any_trials_that_fail_are_seldom_found_guilty() -> None:
    assert sum(bool(failure_findings(*drawn(seed, 0.2, 0.2))) for seed in range(200)) <= 5


def test_without_failures_there_is_nothing() -> None:
    none = np.zeros(4, np.int64)
    assert failure_findings(none, none + 8, np.ones(4)) == ()
    assert failure_findings(none + 3, none, np.ones(4)) == ()
    one = np.array([5] + [0] * 50)
    assert failure_findings(one, 8 - one, np.arange(51) / 51) == ()


Row = list[int]


def until(happened: Callable[[Row], bool]) -> Callable[[Row], int]:
    """Return the rule that stops as soon as it has happened."""
    return lambda row: next((n for n in range(1, len(row)) if happened(row[:n])), len(row))


RULES: dict[str, Callable[[Row], int]] = {
    "until its first success": until(lambda row: 1 in row),
    "until its first failure": until(lambda row: 0 in row),
    "until 3 agreed": until(lambda row: max(row.count(0), row.count(1)) == 3),
    "until it was given up after 4 failures": lambda row: 10 if any(row[:4]) else 4,
    "until it was taken as solved after 4 successes": lambda row: 4 if all(row[:4]) else 10,
    "again where the first 2 disagreed": lambda row: 2 if row[0] == row[1] else 10,
    "2 times, and then until its first success": until(lambda row: len(row) > 1 and 1 in row),
    "2 times, and then until its first failure": until(lambda row: len(row) > 1 and 0 in row),
    "until 2 failures in a row": until(lambda row: row[-2:] == [0, 0]),
    "until 2 successes in a row": until(lambda row: row[-2:] == [1, 1]),
}


def histogram(rows: list[Row]) -> Histogram:
    return Histogram.of_counts(np.array(list(map(len, rows))), np.array(list(map(sum, rows))))


@pytest.mark.parametrize("name", RULES)
def test_each_rule_is_named_by_the_counts_that_it_leaves(name: str) -> None:
    rng = np.random.default_rng(11)
    trials = (rng.random((400, 10)) < rng.beta(1, 1, 400)[:, None]).astype(int).tolist()
    if name == "until 3 agreed":
        trials = [row[:5] for row in trials]
    rows = [row[: RULES[name](row)] for row in trials]
    assert rule_named(histogram(rows)) == name
    lost = [row[:-1] if place < 4 and len(row) > 2 else row for place, row in enumerate(rows)]
    if min(map(len, lost)) == min(map(len, rows)):
        assert rule_named(histogram(lost)) == name


def test_numbers_by_chance_have_no_name() -> None:
    rng = np.random.default_rng(12)
    n = rng.integers(2, 9, 100)
    assert rule_named(Histogram.of_counts(n, rng.binomial(n, 0.6))) == UNKNOWN_RULE


def of(n: list[int], c: list[int]) -> tuple[float, int]:
    found = stopping_of(Histogram.of_counts(np.array(n), np.array(c)))
    return found.p_value, found.problems


def test_the_p_value_is_the_largest_probability_of_single_successes() -> None:
    n = [1, 2, 2, 3, 5, 8, 8]
    largest = prod(max(m * q * (1 - q) ** (m - 1) for q in np.linspace(0, 1, 1001)) for m in n[1:5])
    p_value, problems = of(n, [1, 1, 1, 1, 1, 0, 1])
    assert p_value == pytest.approx(largest, rel=1e-4)
    assert problems == 4


@pytest.mark.parametrize(
    ("n", "c"),
    [
        ([4, 4, 4], [1, 0, 1]),  # all alike
        ([2, 3, 8], [1, 2, 0]),  # two successes
        ([2, 3, 8], [1, 0, 0]),  # none, though there was time
        ([2, 3, 8], [1, 1, 2]),
    ],
)
def test_other_counts_are_no_alarm(n: list[int], c: list[int]) -> None:
    assert of(n, c) == (1.0, 0)
