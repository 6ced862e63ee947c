"""Checks that the statistics share: one wording for each rule, whatever the entrance."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from passband import (
    InvalidInput,
    Outcomes,
    band,
    compare,
    compare_all,
    detectable,
    estimate,
    extrapolate,
    plan_difference,
    plan_width,
)
from passband.errors import WrongType
from passband.score.translation import corpus_interval
from passband.stats.checks import as_level, as_number, as_share, as_whole

OUTCOMES = Outcomes.from_counts([3, 0, 8, 5] * 3, 8)
ENTRANCES: dict[str, Callable[[Any], object]] = {
    "estimate": lambda level: estimate(OUTCOMES, "pass@1", level=level),
    "band": lambda level: band(OUTCOMES, "pass@*", level=level),
    "extrapolate": lambda level: extrapolate(OUTCOMES, "pass@16", level=level),
    "compare": lambda level: compare(OUTCOMES, OUTCOMES, "pass@1", level=level),
    "compare_all": lambda level: compare_all({"a": OUTCOMES, "b": OUTCOMES}, "pass@1", level=level),
    "detectable": lambda level: detectable(OUTCOMES, "pass@1", level=level),
    "plan_width": lambda level: plan_width(0.1, pilot=OUTCOMES, level=level),
    "plan_difference": lambda level: plan_difference(0.1, between=0.1, level=level),
    "corpus_interval": lambda level: corpus_interval("bleu", ["a"], [["a"]], level=level),
}


@pytest.mark.parametrize("entrance", ENTRANCES)
@pytest.mark.parametrize("level", [0, 1, -0.5, 95, float("nan"), float("inf"), True, "0.95", None])
def test_a_wrong_level_is_refused_alike_everywhere(entrance: str, level: Any) -> None:
    with pytest.raises(InvalidInput, match="level must be a number between 0 and 1; got "):
        ENTRANCES[entrance](level)


def test_levels_of_other_types() -> None:
    assert as_level(np.float32(0.95)) == as_level(np.float64(0.95)) == 0.95
    assert as_level(Fraction(1, 2)) == 0.5
    assert estimate(OUTCOMES, "pass@1", level=np.float32(0.95)) == estimate(OUTCOMES, "pass@1")  # type: ignore[call-overload]


def test_numbers() -> None:
    assert as_number("x", np.int32(3)) == 3.0
    assert as_whole("n", np.int64(3)) == 3
    for wrong in (True, np.True_, "1", None, 1j):
        with pytest.raises(WrongType, match="x must be a number; got"):
            as_number("x", wrong)
        with pytest.raises(WrongType, match="power must be a number between 0 and 1; got"):
            as_share("power", wrong)
    for wrong in (True, 1.0, "1"):
        with pytest.raises(WrongType, match="n must be a whole number; got"):
            as_whole("n", wrong)
    with pytest.raises(InvalidInput, match="n must be at least 1; got 0"):
        as_whole("n", 0)
    with pytest.raises(InvalidInput, match="x is too large a number"):
        as_number("x", 10**400)
