"""The least number whose width is small enough, against looking at every number."""

import math

from hypothesis import given, settings
from hypothesis import strategies as st

from passband.stats.decision.planning.widths import least


@settings(max_examples=30)
@given(
    st.floats(0.01, 30.0), st.floats(0.0, 5.0), st.floats(0.001, 5.0),
    st.floats(1.0, 1e9), st.integers(1, 50),
)  # fmt: skip
def test_against_every_number(
    scale: float, extra: float, target: float, start: float, low: int
) -> None:
    def width(number: int) -> float:
        return scale * number**-0.5 + extra / number

    result = least(width, target, start, low, 2_000)
    enough = [number for number in range(low, 2_001) if width(number) <= target]
    if not enough:
        assert result is None
        return
    assert result is not None
    assert result[1] == width(result[0]) <= target
    assert enough[0] <= result[0] <= max(enough[0], math.ceil(1.01 * enough[0]))


def test_a_width_that_never_falls() -> None:
    asked: list[int] = []

    def width(number: int) -> float:
        asked.append(number)
        return 1.0

    assert least(width, 1e-300, 5, 1, 10**15) is None
    assert len(asked) == 2  # the start, and the end
