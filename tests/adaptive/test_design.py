"""Designs: what is wrong with a setting is said at once."""

import json
from typing import Any

import pytest

from passband.adaptive.design import Design
from passband.errors import InvalidInput, UnknownName


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"selection": "randomesk"}, "Did you mean 'randomesque'"),
        ({"method": "ml"}, "no method 'ml'"),
        ({"start": "easy"}, "start is prior, random or an ability"),
        ({"start": float("nan")}, "start must be a finite number"),
        ({"min_items": 0}, "min_items must be a whole number, at least 1"),
        ({"batch": 2.0}, "batch must be a whole number"),
        ({"trials": True}, "trials must be a whole number"),
        ({"min_items": 9, "max_items": 8}, "must not be above max_items"),
        ({"max_trials": 0}, "max_trials must be"),
        ({"se": 0}, "se must be above 0"),
        ({"exposure": 1.5}, "a share of tests, at most 1"),
        ({"random_share": -0.1}, "random_share must be from 0 to 1"),
        ({"level": 95}, "level must be between 0 and 1"),
        ({"prior_sd": 0}, "prior_sd must be above 0"),
        ({"stability": (0, 0.1)}, "the window of stability must be"),
        ({"stability": (5, 0)}, "the tolerance of stability must be above 0"),
        ({"stability": 3}, r"a window and a tolerance, \[5, 0.1\]; got 3"),
        ({"stability": "x"}, "a window and a tolerance"),
        ({"stability": (5, None)}, "the tolerance of stability must be a number"),
        ({"stability": ["5", "0.1"]}, r"\[5, 0.1\]; got \['5', '0.1'\]"),
        ({"prior_sd": "abc"}, "prior_sd must be a number; got 'abc'"),
        ({"prior_sd": None}, "prior_sd must be a number; got None"),
        ({"random_share": "x"}, "random_share must be a number"),
        ({"level": [0.9]}, "level must be a number"),
        ({"start": [1]}, "start must be a number"),
        ({"content": "algebra"}, "content is shares by area, .*; got 'algebra'"),
        ({"content": {"a": "x"}}, "the share of content 'a' must be a number"),
        ({"content": {}}, "needs a share above 0"),
        ({"content": {"a": 0.5, "b": 0.4}}, "must add up to 1; got 0.9"),
    ],
)
def test_what_is_wrong_is_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Design(**settings)


def test_a_design_survives_json() -> None:
    design = Design(stability=(5, 0.1), content={"a": 0.5, "b": 0.5}, start=0.5)  # type: ignore[arg-type]
    assert Design.of(json.loads(json.dumps(design.as_json()))) == design
    with pytest.raises(UnknownName, match=r"no setting 'max_item'. Did you mean 'max_items'"):
        Design.of({"max_item": 3})
