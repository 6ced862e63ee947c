"""Trials without a score where lower scores are better."""

import pytest

from passband import InvalidInput, Outcomes
from passband.summary.recorded_scorer import refuse_best_as_failure
from passband.trials.records import ScorerRecord

UNSCORED = Outcomes.from_array([[0.5, float("nan")], [0.2, 0.9]])
SCORED = Outcomes.from_array([[0.5, 0.1], [0.2, 0.9]])
TER = ScorerRecord(0, "ter", "ter 1", {"function": "ter"})
MATCH = ScorerRecord(0, "exact_match", "exact_match 1", {"function": "exact_match"})
OWN = ScorerRecord(0, "own", "own 1")


def test_an_error_is_not_the_best_score() -> None:
    with pytest.raises(InvalidInput, match="lower scores of ter are better, so the 1 without"):
        refuse_best_as_failure(TER, UNSCORED, "fail")
    with pytest.raises(InvalidInput, match="lower scores of own are better"):
        refuse_best_as_failure(OWN, UNSCORED, "fail", higher_is_better=False)


def test_everything_else_may_count_as_zero() -> None:
    refuse_best_as_failure(TER, SCORED, "fail")
    refuse_best_as_failure(TER, UNSCORED, "drop")
    refuse_best_as_failure(MATCH, UNSCORED, "fail")
    refuse_best_as_failure(OWN, UNSCORED, "fail")
