"""Numbers: what is read, what is not, and that nothing hangs."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.score.extract.parse_number import Number, equal_numbers, read_number


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", 5),
        ("-5", -5),
        ("\u22125", -5),
        ("+5", 5),
        ("1,234,567.25", Fraction("1234567.25")),
        ("1{,}000", 1000),
        ("\\$1{,}234.50", Fraction("1234.5")),
        ("$1,000", 1000),
        (r"\$ 7", 7),
        ("\u20ac7", 7),
        (".5", Fraction(1, 2)),
        ("5.", 5),
        ("1.5e3", 1500),
        ("2E-2", Fraction(1, 50)),
        (r"1.5 \times 10^3", 1500),
        (r"2 \cdot 10^{-2}", Fraction(1, 50)),
        ("3 \u00d7 10^2", 300),
        ("3/4", Fraction(3, 4)),
        ("3 / -4", Fraction(-3, 4)),
        (r"\frac{3}{4}", Fraction(3, 4)),
        (r"-\dfrac{3}{4}", Fraction(-3, 4)),
        (r"\frac34", Fraction(3, 4)),
        ("1 1/2", Fraction(3, 2)),
        (r"2\frac{1}{2}", Fraction(5, 2)),
        (r"-2 \frac12", Fraction(-5, 2)),
        ("$5$", 5),
    ],
)
def test_read(text: str, value: Fraction) -> None:
    assert read_number(text) == Number(Fraction(value), percent=False)


WORDS = ["", "x", "5 apples", "nan", "inf", "0x10", "1_000", "\u0665"]
BROKEN = ["3,14", "1,23,456", "1/0", r"\frac{1}{0}", "--5", "1 3/2", "1e5e5", "3-4", "5 6"]


@pytest.mark.parametrize("text", [*WORDS, *BROKEN, "1e999999999"])
def test_not_read(text: str) -> None:
    assert read_number(text) is None


def test_what_is_too_long_is_not_read() -> None:
    assert read_number("9" * 5000) is None


def test_percent() -> None:
    half, fifty, percent = read_number("0.5"), read_number("50"), read_number("50\\%")
    assert half is not None
    assert fifty is not None
    assert percent == Number(Fraction(50), percent=True)
    assert equal_numbers(half, percent)
    assert equal_numbers(percent, fifty)
    assert not equal_numbers(half, fifty)


@given(st.fractions())
def test_fractions_come_back(value: Fraction) -> None:
    text = f"{value.numerator}/{value.denominator}"
    found = read_number(text)
    assert len(text) > 200 or (found is not None and found.value == value)


@given(st.text(alphabet="0123456789.,/-+eE \\frac{}%$^*"))
def test_reading_never_raises(text: str) -> None:
    read_number(text)
