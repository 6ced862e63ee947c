"""Whether successive trials agree more often than others of the same problem."""

from __future__ import annotations

import math
from itertools import pairwise, permutations

import numpy as np
import pytest

from passband import Outcomes, compare, estimate
from passband.stats.evidence.agreement import (
    agreement_of,
    alike_findings,
    copied_findings,
    falling_sums,
)
from passband.stats.evidence.collect import evidence_of
from passband.types import Ints


def agreeing(values: tuple[int, ...]) -> int:
    return sum(a == b for a, b in pairwise(values))


def of_one(values: tuple[int, ...]) -> tuple[float, float, float]:
    n = np.array([len(values)])
    sums = falling_sums(np.array(values), np.zeros(len(values), np.int64), 1)
    one = agreement_of(np.array([agreeing(values)]), n - 1, 2 * (n - 2), n, sums)
    return one.share, one.expected, one.z


@pytest.mark.parametrize("values", [(0, 0, 1), (0, 0, 0, 1), (0, 0, 1, 1, 2), (3, 3, 3, 1, 1, 2)])
def test_mean_and_variance_are_those_over_all_orders(values: tuple[int, ...]) -> None:
    every = np.array([agreeing(order) for order in permutations(values)])
    pairs = len(values) - 1
    mean, error = every.mean() / pairs, every.std() / pairs
    share, expected, z = of_one(values)
    assert expected == pytest.approx(mean)
    arcs = [2.0 * math.asin(math.sqrt(each)) for each in (share, mean)]
    steps = ((share - mean) / error, (arcs[0] - arcs[1]) * math.sqrt(pairs))
    assert z == pytest.approx(min(steps, key=abs))


def test_falling_sums_by_hand() -> None:
    values, owners = np.array([5, 5, 5, 5, 1, 2, 2]), np.array([0, 0, 0, 0, 1, 1, 1])
    assert falling_sums(values, owners, 3).tolist() == [[12.0, 2.0, 0.0], [24.0, 0.0, 0.0]]


def test_problems_whose_trials_all_agree_or_all_differ_say_nothing() -> None:
    for values in ((1, 1, 1, 1), (1, 2, 3, 4), (1, 2)):
        assert of_one(values) == (0.0, 0.0, 0.0)


def of_rows(rows: Ints) -> float:
    n = np.full(len(rows), rows.shape[1])
    owners = np.repeat(np.arange(len(rows)), n)
    sums = falling_sums(rows.ravel(), owners, len(rows))
    same = (rows[:, 1:] == rows[:, :-1]).sum(axis=1)
    return agreement_of(same, n - 1, 2 * (n - 2), n, sums).z


def test_of_independent_trials_z_is_standard_normal_but_for_the_arcsine() -> None:
    rng = np.random.default_rng(5)
    z = np.array([of_rows(rng.integers(0, 3, (40, 6))) for _ in range(300)])
    assert abs(z.mean()) < 0.2
    assert 0.75 < z.std() < 1.1
    assert of_rows(np.repeat(rng.integers(0, 3, (40, 3)), 2, axis=1)) > 6


def test_copies_weigh_on_trials_and_on_several_draws() -> None:
    n, values = np.array([4]), np.array([1, 1, 2, 2])
    sums = falling_sums(values, np.zeros(4, np.int64), 1)
    one = agreement_of(np.array([2]), n - 1, 2 * (n - 2), n, sums)
    trials, draws = copied_findings(one, "scores")
    assert (trials.code, draws.code) == ("copied-trials", "copied-draws")
    assert trials.severity_for("trials", 1) == "invalid"
    assert trials.severity_for("problems", 8) == "remark"
    assert [draws.severity_for("problems", k) for k in (1, 2)] == ["remark", "weak"]
    assert "agree in 0.67 of all pairs, where 0.33 would by chance" in trials.text


def codes(trials: list[int], successes: list[int]) -> list[str]:
    return [one.code for one in alike_findings(np.array(trials), np.array(successes))]


def test_by_hand() -> None:
    assert codes([4] * 20, [4, 0] * 10) == ["identical-scores", "copied-draws"]
    assert codes([4] * 20, [4, 0] * 9 + [4, 1]) == []  # one of 20 is mixed
    assert codes([4] * 19, [4, 0] * 9 + [4]) == []  # 57 repeats
    assert codes([9] * 19, [9, 0] * 9 + [9]) == []  # 19 problems
    assert codes([4] * 40, [4] * 36 + [0] * 4) == []  # four are wrong
    assert codes([1] * 99, [1, 0, 1] * 33) == []


@pytest.mark.parametrize("law", [(0.3, 0.3), (0.1, 0.1), (2.0, 2.0), (0.5, 5.0)])
@pytest.mark.parametrize(("problems", "n"), [(60, 2), (30, 4), (200, 8)])
def test_fair_data_hardly_alarm(law: tuple[float, float], problems: int, n: int) -> None:
    rng = np.random.default_rng(5)
    alarms = 0
    for _ in range(400):
        successes = rng.binomial(n, rng.beta(*law, problems))
        alarms += bool(alike_findings(np.full(problems, n), successes))
    assert alarms <= 6


def test_copies_of_one_law_are_not_compared_over_trials() -> None:
    rng = np.random.default_rng(6)
    for _ in range(200):
        rates = rng.beta(2.0, 2.0, 40)
        a, b = (Outcomes.from_counts(8 * rng.binomial(1, rates), 8) for _ in range(2))
        found = compare(a, b, "pass@1", over="trials")
        assert found.decision.verdict == "not-comparable"


def test_over_problems_there_is_an_interval() -> None:
    outcomes = Outcomes.from_counts([8, 0] * 20, 8)
    assert estimate(outcomes, "pass@1", over="trials").low is None
    assert estimate(outcomes, "pass@1").low is not None
    assert "copied-draws" in [note.code for note in estimate(outcomes, "pass@4").notes]
    accepted = outcomes.accepting(["identical-scores"])
    assert estimate(accepted, "pass@1", over="trials").low is not None


def test_copies_are_noted_once_and_by_what_they_spoil_most() -> None:
    outcomes = Outcomes.from_counts([4, 0] * 15, 4)
    noted = [
        [(note.code, note.severity) for note in evidence_of(outcomes).notes(over, k)]  # type: ignore[arg-type]
        for over, k in (("problems", 1), ("problems", 2), ("trials", 1), ("trials", 2))
    ]
    assert noted[0] == [("identical-scores", "remark")]
    assert noted[1] == [("copied-draws", "weak")]
    assert noted[2] == noted[3] == [("identical-scores", "invalid")]
