r"""Parse numbers as people and models write them, exactly.

>>> read_number("1,234.50%")
Number(value=Fraction(2469, 2), percent=True)
>>> [str(read_number(text).value) for text in (r"-\frac{3}{4}", "1.5e3", "2 1/2")]
['-3/4', '1500', '5/2']
>>> read_number("12 apples") is None, read_number("3,14") is None
(True, True)
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import NamedTuple

_LONGEST = 200  # characters; a longer text is no number in practice, and 1e999999999 would hang
_LARGEST_EXPONENT = 400


class Number(NamedTuple):
    """A number and whether a percent sign followed it."""

    value: Fraction
    percent: bool


class WrittenNumber(NamedTuple):
    """A number in plain digits, as in -1234.5, 3/4, 2 1/2, 6e23 or 50%, and the text after it."""

    text: str
    rest: str


_PARTS = {"\u00bd": " 1/2", "\u00bc": " 1/4", "\u00be": " 3/4", "\u2153": " 1/3", "\u2154": " 2/3"}
_TIDY = str.maketrans(
    {**dict.fromkeys("\u2212\u2013\ufe63\uff0d", "-"), "\u00d7": "\\times ", "$": "", "\u2044": "/"}
    | _PARTS
)
_LATEX = re.compile(r"\\(?:[,;:! ]|left|right|displaystyle)|[\u20ac\u00a3\u00a5]|\\(?=%)")
_DECIMAL = r"(?:[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]*)?|[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
_NUMBER = re.compile(
    rf"""
    (?P<sign>[+-])? \s*
    (?:
      (?: (?P<whole>[0-9]+) (?:\s+|\s*(?=\\)) )?        # of a mixed number
      (?: (?P<top>{_DECIMAL}) \s*/\s* (?P<bottom>[+-]?{_DECIMAL})
        | \\[dt]?frac \s* (?: \{{\s*(?P<top2>[+-]?{_DECIMAL})\s*\}} | (?P<top3>[0-9]) )
                      \s* (?: \{{\s*(?P<bottom2>[+-]?{_DECIMAL})\s*\}} | (?P<bottom3>[0-9]) )
      )
    | (?P<plain>{_DECIMAL})
      (?: [eE](?P<e>[+-]?[0-9]+)
        | \s*(?:\\times|\\cdot|\*)\s*10\s*(?:\^|\*\*)\s*\{{?\s*(?P<power>[+-]?[0-9]+)\s*\}}? )?
    )
    \s* (?P<percent>%)? \.?
    """,
    re.VERBOSE,
)


def read_number(text: str) -> Number | None:
    """Return the number a text consists of, or None if it is anything else or divides by 0."""
    if len(text) > _LONGEST:
        return None
    match = _NUMBER.fullmatch(tidied(text))
    value = None if match is None else _value(match)
    if match is None or value is None:
        return None
    return Number(-value if match["sign"] == "-" else value, match["percent"] is not None)


def tidied(text: str) -> str:
    """Return a text with plain signs, and without the typography of LaTeX and of currencies."""
    bare = text.replace("\\$", "$").translate(_TIDY).replace("{,}", ",")
    return _LATEX.sub("", bare).strip()


def number_at(tidy: str) -> WrittenNumber | None:
    r"""Return the number that a tidied text begins with.

    >>> number_at("1,234.50 m"), number_at(r"2\frac{1}{2}.")
    (WrittenNumber(text='1234.50', rest=' m'), WrittenNumber(text='2 1/2', rest='.'))
    """
    match = _NUMBER.match(tidy)
    if match is None or _value(match) is None:
        return None
    sign, percent = "-" if match["sign"] == "-" else "", match["percent"] or ""
    end = len(match[0].rstrip(" ."))  # a final dot is that of the sentence
    return WrittenNumber(f"{sign}{_digits(match)}{percent}", tidy[end:])


def _digits(match: re.Match[str]) -> str:
    if match["plain"]:
        exponent = match["e"] or match["power"]
        plain = match["plain"].replace(",", "").removesuffix(".")
        return f"{plain}e{int(exponent)}" if exponent else plain
    top = match["top"] or match["top2"] or match["top3"]
    bottom = match["bottom"] or match["bottom2"] or match["bottom3"]
    fraction = f"{top}/{bottom}".replace(",", "")
    return f"{match['whole']} {fraction}" if match["whole"] else fraction


def _value(match: re.Match[str]) -> Fraction | None:
    return _plain(match) if match["plain"] else _fraction(match)


def equal_numbers(
    number: Number, other: Number, *, relative: Fraction | int = 0, absolute: Fraction | int = 0
) -> bool:
    """Return whether two numbers agree; tolerances are relative to the second, or absolute.

    Half is 50%, and if only one side has a percent sign it may also be left out: the question
    "what percentage" is answered by 50 as well as by 50%.
    """
    if number.percent == other.percent:
        return _close(number.value, other.value, relative, absolute)
    if number.percent:
        ways = [(number.value, other.value), (number.value / 100, other.value)]
    else:
        ways = [(number.value, other.value), (number.value, other.value / 100)]
    return any(_close(left, right, relative, absolute) for left, right in ways)


def _close(
    one: Fraction, other: Fraction, relative: Fraction | int, absolute: Fraction | int
) -> bool:
    return abs(one - other) <= max(absolute, relative * abs(other))


def _plain(match: re.Match[str]) -> Fraction | None:
    exponent = match["e"] or match["power"] or "0"
    if len(exponent) > 4 or abs(int(exponent)) > _LARGEST_EXPONENT:
        return None
    return _decimal(match["plain"]) * Fraction(10) ** int(exponent)


def _fraction(match: re.Match[str]) -> Fraction | None:
    top = _decimal(match["top"] or match["top2"] or match["top3"])
    bottom = _decimal(match["bottom"] or match["bottom2"] or match["bottom3"])
    if not bottom:
        return None
    if match["whole"] is None:
        return top / bottom
    # "2 1/2" is a mixed number; "2 3/2" or "2 -1/2" is something else.
    proper = 0 <= top < bottom
    return int(match["whole"]) + top / bottom if proper else None


def _decimal(text: str) -> Fraction:
    return Fraction(text.replace(",", "").removesuffix("."))
