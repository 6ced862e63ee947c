"""Scores that agree in all trials of each problem."""

from __future__ import annotations

import numpy as np
import pytest

from passband import Outcomes, compare, estimate
from passband.stats.evidence.agreement import alike_findings
from passband.stats.evidence.collect import evidence_of


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
        [(note.code, note.severity) for note in evidence_of(outcomes).notes(over, k)]
        for over, k in (("problems", 1), ("problems", 2), ("trials", 1), ("trials", 2))
    ]
    assert noted[0] == [("identical-scores", "remark")]
    assert noted[1] == [("copied-draws", "weak")]
    assert noted[2] == noted[3] == [("identical-scores", "invalid")]
