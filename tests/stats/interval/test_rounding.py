"""Numbers rounded by their error."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.stats.interval.rounding import (
    Rounding,
    common_rounding,
    decimals,
    rounded,
    rounded_interval,
    rounded_value,
)


@pytest.mark.parametrize(
    ("low", "high", "places"),
    [
        (0.0, 1.0, 2),  # half-width 0.5
        (0.2, 0.22, 3),  # 0.01: two digits are 0.010
        (0.2, 0.38, 3),  # 0.09
        (-10.0, 10.0, 0),  # 10
        (-300.0, 300.0, 0),
        (0.0, 2e-30, 9),
        (0.5, 0.5, 4),
        (None, None, 4),
        (0.0, math.inf, 4),
        (math.nan, 1.0, 4),
    ],
)
def test_two_digits_of_the_half_width(low: float | None, high: float | None, places: int) -> None:
    assert decimals(low, high) == places


def test_words() -> None:
    assert rounded_value(0.5, None, None) == "0.5000"
    assert rounded_interval(0.0, None) == "-"
    assert rounded(0.5, None, None) == "0.5000"
    assert rounded(12.3456, -3.21, 27.9) == "12 [-3, 28]"
    assert rounded(0.98765, 0.97, 1.0) == "0.988 [0.970, 1.000]"


@given(
    ends=st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6)).map(sorted),
    share=st.floats(0, 1),
)
def test_what_is_printed_is_near_what_is_meant(ends: list[float], share: float) -> None:
    low, high = ends
    half = (high - low) / 2
    if half < 1e-6:
        return
    value = low + share * (high - low)
    shown = rounded_interval(low, high)[1:-1].split(", ")
    for text, meant in zip([rounded_value(value, low, high), *shown], [value, *ends], strict=True):
        assert abs(float(text) - meant) <= 0.0501 * half
    assert float(shown[0]) < float(shown[1])


@given(
    rows=st.lists(st.tuples(st.floats(-1e3, 1e3), st.floats(1e-5, 1e3)), min_size=1, max_size=6),
    percent=st.booleans(),
)
def test_no_interval_of_a_column_looks_like_a_point(
    rows: list[tuple[float, float]], percent: bool
) -> None:
    estimates = [(middle, middle - half, middle + half) for middle, half in rows]
    rounding = common_rounding(estimates, percent=percent)
    shown = [rounding.interval(low, high)[1:-1].split(", ") for _, low, high in estimates]
    assert len({len(end.partition(".")[2]) for ends in shown for end in ends}) == 1
    for low, high in shown:
        assert float(low) < float(high)


def test_a_column_without_intervals() -> None:
    assert common_rounding([(0.5, None, None)]) == Rounding(4)
    assert common_rounding([(100.0, None, None), (3.0, None, None)]) == Rounding(1)
    assert common_rounding([(12345.0, 12345.0, 12345.0)]) == Rounding(0)
    assert common_rounding([(math.inf, None, None)]) == Rounding(4)
    assert common_rounding([]) == Rounding(4)
    assert Rounding(1).text(0.25, None, 1.0) == "0.2"
