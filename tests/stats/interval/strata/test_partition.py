"""Labels of problems: sequences, mappings, and what is refused."""

import math

import pytest

from passband import Outcomes
from passband.errors import InvalidInput, WrongType
from passband.stats.interval.strata.weights import Labels, split_by

OUTCOMES = Outcomes.from_counts([3, 0, 8], 8, problems=["x", "y", "z"])


def test_a_mapping_may_know_more_problems() -> None:
    strata = split_by(OUTCOMES, {"x": 1, "y": 2, "z": 1, "other": 3})
    assert {name: part.problems for name, part in strata.items()} == {"1": ("x", "z"), "2": ("y",)}


@pytest.mark.parametrize(
    ("by", "message"),
    [
        (["a", "b"], "one label for each of the 3 problems; got 2"),
        ({"x": "a"}, "no label for problem 'y' and 1 more"),
        (["a", None, "b"], "that of 'y' is empty"),
        (["a", "b", math.nan], "that of 'z' is empty"),
        (["a", " ", "b"], "that of 'y' is empty"),
        (["a", "A", "b"], "'a' and 'A' differ only in upper and lower case"),
    ],
)
def test_refused(by: Labels, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        split_by(OUTCOMES, by)


@pytest.mark.parametrize("by", ["abc", 3])
def test_wrong_types(by: Labels) -> None:
    with pytest.raises(WrongType, match="one label per problem, or a mapping"):
        split_by(OUTCOMES, by)
