from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.score.code.output import Comparison, first_difference


@pytest.mark.parametrize(
    ("output", "expected", "comparison", "tolerance", "is_same"),
    [
        ("1\n", "1", "lines", None, True),
        ("1\n", "1", "exact", None, False),
        ("\n1 \n 2\n\n", "1\n2", "lines", None, True),
        ("1\n\n2", "1\n2", "lines", None, False),
        ("1 2", "1\n2", "lines", None, False),
        ("1 2", "1\n2", "tokens", None, True),
        ("1.0", "1", "lines", None, False),
        ("1.0", "1", "lines", 0.0, True),
        ("yes 0.1000001", "yes 0.1", "lines", 1e-6, True),
        ("0.1001", "0.1", "lines", 1e-6, False),
        ("1000001", "1000000", "tokens", 1e-6, True),
        ("nan", "nan", "lines", 0.0, True),
        ("nan", "NaN", "lines", 0.0, False),
        ("1e999999999", "1", "lines", 1e-6, False),
        ("1_0", "10", "lines", 0.0, False),
        ("٣", "3", "lines", 0.0, False),
        ("", "", "lines", None, True),
        ("", "0", "lines", 0.0, False),
    ],
)
def test_comparisons(
    output: str, expected: str, comparison: Comparison, tolerance: float | None, is_same: bool
) -> None:
    difference = first_difference(output, expected, comparison, tolerance)
    assert (difference is None) is is_same


def test_the_first_difference_is_told() -> None:
    assert first_difference("1\n2\n3", "1\n9\n3") == "line 2 is '2', expected '9'"
    assert first_difference("1", "1\n2") == "there are 1 lines, expected 2"
    assert len(first_difference("x" * 10_000, "y") or "") < 300


@given(st.integers(-(10**9), 10**9), st.integers(-(10**9), 10**9), st.integers(0, 6))
def test_tolerance_is_exact_arithmetic(a: int, b: int, places: int) -> None:
    one, other = Fraction(a, 10**places), Fraction(b, 10**places)
    texts = (f"{float(one):.{places}f}", f"{float(other):.{places}f}")
    is_near = abs(one - other) <= Fraction("0.001") * max(1, abs(other))  # type: ignore[operator]
    assert (first_difference(*texts, "tokens", 1e-3) is None) is (is_near or texts[0] == texts[1])
