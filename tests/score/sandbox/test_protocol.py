"""Limits that are none are refused."""

from typing import Any

import pytest

from passband.errors import InvalidInput
from passband.score.sandbox.protocol import Limits


@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), True, "3", None])
@pytest.mark.parametrize("name", ["wall", "cpu", "memory", "processes"])
def test_limits_are_numbers(name: str, value: Any) -> None:
    with pytest.raises(InvalidInput, match=f"limit '{name}' must be a number above 0"):
        Limits(**{name: value})
