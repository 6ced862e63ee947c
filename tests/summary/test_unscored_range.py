"""The bracket of trials without a score: stated where it is wider than the interval."""

from typing import Any

from passband.summary.from_sources import summarize
from passband.summary.summary import Group, Summary
from passband.summary.unscored_range import UnscoredRange

LOST = [[1, None, None, None], [0, None, None, None]] * 20


def group(matrix: Any, *metrics: str, **options: str) -> Group:
    (found,) = summarize(matrix, metrics, **options).groups  # type: ignore[arg-type]
    return found


def test_all_wrong_and_all_right() -> None:
    assert group(LOST).bracket == UnscoredRange("pass@1", 0.125, 0.875)
    assert group(LOST, "avg").bracket == UnscoredRange("avg", 0.125, 0.875)
    assert group(LOST, policy="fail").bracket == UnscoredRange("pass@1", 0.125, 0.875)


def test_it_is_of_the_first_metric_that_has_one() -> None:
    bracket = group(LOST, "pass@4", "pass^1").bracket
    assert bracket == UnscoredRange("pass^1", 0.125, 0.875)


def test_a_narrow_one_says_nothing() -> None:
    assert group([[1, 0, 1, None], [0, 1, 1, 1], [0, 0, 0, 0]]).bracket is None
    assert group([[1, 0], [0, 1]]).bracket is None


def test_graded_scores_have_none() -> None:
    assert group([[0.5, None], [0.2, None]] * 20, "avg").bracket is None


def test_it_is_part_of_the_json() -> None:
    summary = summarize(LOST)
    values = summary.as_json()
    assert values["version"] == 2
    assert values["groups"][0]["bracket"] == {"metric": "pass@1", "low": 0.125, "high": 0.875}
    assert Summary.from_json(summary.to_json()) == summary
