r"""Compare the output of a program with the expected output, outside of the sandbox.

exact   the same text, character by character
lines   the same lines, without blanks at their ends and without empty lines at both ends
tokens  the same words, however they are set apart

With a tolerance, words that are both numbers are equal within it, relative or absolute, whichever
is wider; 0 means equal as numbers, as in 1.0 and 1.

>>> first_difference("1 2\n3 \n", "1 2\n3", "lines")
>>> first_difference("0.30000001", "0.3", "tokens", 1e-6)
>>> first_difference("1\n2", "1\n3", "lines")
"line 2 is '2', expected '3'"
"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Literal

Comparison = Literal["exact", "lines", "tokens"]
_LONGEST_NUMBER = 400  # characters; longer words are compared as text
_LARGEST_EXPONENT = 400


def first_difference(
    output: str, expected: str, comparison: Comparison = "lines", tolerance: float | None = None
) -> str | None:
    """Return the first difference from the expected output; None if there is none."""
    if comparison == "exact":
        return None if output == expected else _differing("the output", output, expected)
    if comparison == "tokens":
        return _between(output.split(), expected.split(), "word", tolerance)
    return _between(_lines(output), _lines(expected), "line", tolerance)


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().split("\n")]


def _between(
    words: list[str], expected: list[str], unit: str, tolerance: float | None
) -> str | None:
    for number, (word, wanted) in enumerate(zip(words, expected, strict=False), 1):
        if not _same_words(word, wanted, tolerance):
            return _differing(f"{unit} {number}", word, wanted)
    if len(words) != len(expected):
        return f"there are {len(words)} {unit}s, expected {len(expected)}"
    return None


def _same_words(text: str, expected: str, tolerance: float | None) -> bool:
    if text == expected:
        return True
    if tolerance is None:
        return False
    words, others = text.split(), expected.split()
    return len(words) == len(others) and all(
        a == b or _same_number(a, b, tolerance) for a, b in zip(words, others, strict=True)
    )


def _same_number(one: str, other: str, tolerance: float) -> bool:
    """Return whether two words are numbers within a tolerance, in exact arithmetic."""
    a, b = _number(one), _number(other)
    if a is None or b is None:
        return False
    # By way of text, so that 1e-6 is a millionth and not the nearest binary fraction.
    return abs(a - b) <= Fraction(repr(tolerance)) * max(Fraction(1), abs(b))


def _number(word: str) -> Fraction | None:
    if len(word) > _LONGEST_NUMBER or not word.isascii() or "_" in word:
        return None
    try:
        number = Decimal(word)
    except InvalidOperation:
        return None
    if not number.is_finite() or abs(number.adjusted()) > _LARGEST_EXPONENT:
        return None
    return Fraction(number)


def _differing(what: str, found: str, expected: str) -> str:
    return f"{what} is {_short(found)}, expected {_short(expected)}"


def _short(text: str, most: int = 120) -> str:
    return repr(text if len(text) <= most else f"{text[: most - 3]}...")
