"""What the values of Inspect's scores mean."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.score.inspect_value import inspect_number, inspect_scores


@pytest.mark.parametrize(
    ("value", "number"),
    [
        ("C", 1.0), ("P", 0.5), ("I", 0.0), ("N", 0.0), (True, 1.0), (False, 0.0), (3, 3.0),
        (-0.5, -0.5), ("Yes", 1.0), ("TRUE", 1.0), ("no", 0.0), ("1.5", 1.5), ("c", None),
        ("A", None), ("", None), (math.nan, None), (math.inf, None), ("nan", None), (None, None),
        ([], None), ({}, None), (10**400, None),
    ],
)  # fmt: skip
def test_a_value_is_a_number_or_nothing(value: Any, number: float | None) -> None:
    assert inspect_number(value) == number


def test_no_answer_counts_and_says_so() -> None:
    (score,) = inspect_scores("match", "N").values()
    assert (score.value, score.status) == (0.0, "no_answer")


def test_a_mapping_is_several_scores() -> None:
    found = inspect_scores("judge", {"fluent": "P", "true": 1}, answer="x", explanation="why")
    assert list(found) == ["judge/fluent", "judge/true"]
    assert [score.value for score in found.values()] == [0.5, 1.0]
    assert {(score.answer, score.detail) for score in found.values()} == {("x", "why")}


def test_a_list_is_several_scores() -> None:
    assert {n: s.value for n, s in inspect_scores("s", [1, "I"]).items()} == {"s/0": 1, "s/1": 0}


@pytest.mark.parametrize("value", [math.nan, None, "great", {}, []])
def test_without_a_number_there_is_no_value_but_a_reason(value: Any) -> None:
    (score,) = inspect_scores("judge", value).values()
    assert (score.value, score.status) == (None, "error")
    assert score.detail


def test_the_reason_of_a_scorer_comes_first() -> None:
    (score,) = inspect_scores("j", math.nan, reason="grade_parse", explanation="??").values()
    assert score.detail == "grade_parse: ??"


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text()


@given(SCALARS | st.lists(SCALARS) | st.dictionaries(st.text(), SCALARS))
def test_whatever_a_scorer_gives_has_a_finite_value_or_none(value: Any) -> None:
    for score in inspect_scores("any", value).values():
        assert (score.value is None) == (score.status == "error")
        assert score.value is None or math.isfinite(score.value)
