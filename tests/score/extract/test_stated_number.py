"""The number that a text states: by hand, and what no text may do."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.score.extract.parse_number import read_number
from passband.score.extract.stated_number import Stated, stated_number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("14 apples", "14"),
        ("about $1,234.50 a year", "1234.50"),
        ("1 234,5 km", "1234.5"),
        ("1.234,56", "1234.56"),
        ("12,50 €", "12.50"),
        ("2 million dollars", "2000000"),
        ("-2 1/2 million", "-2500000"),
        ("3 dozen eggs", "36"),
        ("5½ hours", "5 1/2"),
        ("50 percent", "50%"),
        ("42 - because", "42"),
        ("42 m/s^2", "42"),
        ("42 (6 times 7)", "42"),
        ("41.73, rounded to 2 decimal places", "41.73"),
        ("22/7 ≈ 3.14", "22/7"),
        ("\\sqrt{2} ≈ 1.414", "1.414"),
        ("Total: 1,000 + 234 = 1,234", "1234"),
        ("it is 7 days", "7"),
        ("at least 5 boxes", "5"),
    ],
)
def test_stated(text: str, number: str) -> None:
    assert stated_number(text) == Stated(number)
    assert read_number(number) is not None


@pytest.mark.parametrize(
    "text",
    [
        *(
            "12 or 13",
            "12 and 13",
            "12, 13",
            "12-13",
            "12 to 13",
            "5 feet 10 inches",
            "7:30",
            "3,14",
        ),
        *("1.2.3", "5'10", "0.333...", "42 and a half", "3 quarters", "5 or more", "> 5", "not 5"),
        *(
            "less than 5",
            "41.7, which rounds to 42",
            "half of 50",
            "option 2",
            "1,23,456",
            "7 over 3",
        ),
    ],
)
def test_ambiguous(text: str) -> None:
    assert stated_number(text) == Stated(None, is_ambiguous=True)


@pytest.mark.parametrize(
    "text",
    ["", "five", "2^{10}", "3x", "3x + 2", "5²", "2 * 3", "3π", "3!", "x2", "±5", "5k", "9" * 501],
)
def test_nothing_stated(text: str) -> None:
    assert stated_number(text) == Stated(None)


def test_an_exclamation_is_no_factorial() -> None:
    assert stated_number("3!", exclaims=True) == Stated("3")


PIECES = ["12", "0", ".", ",", " ", "-", "/", "$", "%", "*", "(", ")", "\\frac", "{", "}", "^", "="]
WORDS = ["apples", "and", "or", "because", "million", "x", "\\text{cm}", "½", "€", "'", ":", "!"]


@given(st.lists(st.sampled_from(PIECES + WORDS), max_size=25).map("".join) | st.text(max_size=60))
def test_what_is_stated_is_a_number(text: str) -> None:
    stated = stated_number(text)
    assert stated.number is None or read_number(stated.number) is not None
    assert stated.number is None or not stated.is_ambiguous


@given(st.integers(-(10**9), 10**9), st.sampled_from(["", " apples", " cm because", ", I think"]))
def test_every_whole_number_comes_back(number: int, after: str) -> None:
    for text in (f"{number}{after}", f"{number:,}{after}", f"**{number}**{after}"):
        assert stated_number(text) == Stated(str(number))


def test_hostile_texts_take_no_time() -> None:
    start = time.process_time()
    for piece in (
        "1",
        "1 ",
        "1,",
        "(",
        "the ",
        "so, ",
        "$",
        "*",
        "1 or ",
        "=",
        "million ",
        "'",
        "{",
    ):
        stated_number(piece * (500 // len(piece)))
        stated_number("1" + piece * (499 // len(piece)))
    assert time.process_time() - start < 5
