r"""Read the number that a text states as its answer: "14 apples", "42 because 6*7=42".

Units, currencies, marks of thousands and what follows the number are taken off. A text in which
another number may be the answer just as well is ambiguous, and no number is chosen.

>>> [stated_number(text).number for text in ("14 apples.", "$1,234", "42 because 6*7=42", "5 km/h")]
['14', '1234', '42', '5']
>>> [stated_number(text).number for text in ("x = 5", "6 * 7 = 42 cm", "that she has 3 left")]
['5', '42', '3']
>>> [stated_number(text).is_ambiguous for text in ("12 or 13", "3-4", "3,14", "5 h 30 min")]
[True, True, True, True]
>>> stated_number("2^{10}"), stated_number("3x")  # formulas are left to what compares them
(Stated(number=None, is_ambiguous=False), Stated(number=None, is_ambiguous=False))
"""

from __future__ import annotations

import re
from enum import Enum
from typing import NamedTuple

from passband.score.extract.parse_number import WrittenNumber, number_at, read_number, tidied


class Stated(NamedTuple):
    """The number of a text in digits, or None, and whether several could be meant."""

    number: str | None
    is_ambiguous: bool = False


_NONE, _AMBIGUOUS = Stated(None), Stated(None, is_ambiguous=True)


class _End(Enum):
    """What follows a number."""

    CLEAR = "words, a unit or nothing"
    AMBIGUOUS = "another number that may be meant"
    FORMULA = "the rest of a formula"


def stated_number(text: str, *, exclaims: bool = False) -> Stated:
    """Return the number that a text states; `exclaims`: "3!" is 3 and no factorial."""
    if len(text) > _LONGEST:
        return _NONE
    if text.isdigit() and text.isascii():  # the usual case
        return Stated(text)
    plain = _LEAD.sub("", _plain(text), count=1).strip()
    first = number_at(_MINUS.sub("-", plain, count=1))
    if first is None:
        return _equated(plain) or _alone(plain)
    stated, end = _read(first, exclaims)
    if end is _End.CLEAR:
        return stated
    return _equated(plain) or (_AMBIGUOUS if end is _End.AMBIGUOUS else _NONE)


# -- typography ----------------------------------------------------------------------------

_LONGEST = 500  # characters
_TEXT = re.compile(r"\\(?:text|textbf|textit|mathrm|mathbf)\s?\{([^{}]*)\}")
_MARKUP = re.compile(r"(?<![\w)])\*{1,2}(?=\S)|(?<=\S)\*{1,2}(?![\w(])|`|\\[()\[\]]|\\quad")
_CURRENCY = re.compile(
    r"(?<![A-Za-z])(?:(?:US|CA|AU|NZ|HK|[ACRS])(?=\$)|(?:USD|EUR|GBP|CHF|INR|JPY|CNY|CAD|AUD|Rs\.?)"
    r"(?=\s?-?[0-9]))|[\u00a2\u0e3f\u20a9\u20aa\u20ab\u20b1\u20b9\u20ba\u20bd]"
)
_SPACED = re.compile(  # 1 234 567,8 and 1'234.5
    r"(?<![\w.,'\u2019])(\d{1,3}(?:([ '\u2019\u00a0\u2009\u202f])\d{3})(?:\2\d{3})*)"
    r"(?:[.,](\d{1,2}|\d{4,}))?(?![\d'\u2019]|[.,]\d)"
)
_DOTTED = re.compile(
    r"(?<![\w.,])(\d{1,3}(?:\.\d{3}){2,}|\d{1,3}(?:\.\d{3})+(?=,))(?:,(\d+))?(?![\d,])"
)
_PRICE = re.compile(
    r"([$\u20ac\u00a3]\s?-?\d+),(\d\d)(?![\d,])"
    r"|(?<![\d.,])(\d+),(\d\d)(?=\s?(?:[$\u20ac\u00a3]|EUR\b|euros?\b))"
)


def _plain(text: str) -> str:
    text = _MARKUP.sub("", _TEXT.sub(r" \1 ", text))
    text = _PRICE.sub(lambda price: f"{price[1] or price[3]}.{price[2] or price[4]}", text)
    text = _SPACED.sub(_grouped, _CURRENCY.sub("", text))
    return tidied(_DOTTED.sub(_grouped, text).replace("~", " "))


def _grouped(match: re.Match[str]) -> str:
    """Return a number without its marks of thousands, and with a point."""
    whole, decimals = re.sub(r"\D", "", match[1]), match.groups()[-1]
    return f"{whole}.{decimals}" if decimals else whole


# -- what is in front ------------------------------------------------------------------------

_LEAD = re.compile(
    r"(?:[\s\"'\u201c\u2018\u00ab(\[{}:=|\u2248\u2014]{1,20}"
    r"|(?:about|approximately|approx\.?|around|roughly|exactly|precisely|only|just|simply"
    r"|at\s(?:least|most)|equals?(?:\sto)?|(?:a|the)\s(?:total|sum)(?:\sof)?|therefore|thus|hence"
    r"|then|so|clearly|indeed|definitely|(?:the\s)?(?:number|integer|value|fraction))\b[,:]?\s{1,3}"
    r"){0,6}",
    re.IGNORECASE,
)
_MINUS = re.compile(r"^(?:minus|negative)\s(?=[0-9.])", re.IGNORECASE)
_UNSURE = re.compile(  # anywhere in front of a number, or next to it
    r"\b(?:not|none|no|never|neither|nor|if|unless|either|maybe|perhaps|twice|double|triple"
    r"|(?:half|thirds?|quarters?|square|root|cube|power)\sof)\b|n['\u2019]t\b|[<>\u2264\u2265]"
    r"|\b(?:than|between|from|over|under|above|below|almost|nearly|up to|option|choice"
    r"|step|case|page|problem|question|equation|figure|part)\s{1,3}$",
    re.IGNORECASE,
)
_FORMULA = re.compile(r"[\\^+*\u00b1\u221a\u03c0_{}]")
_DIGIT = re.compile(r"(?<![\w.^{_])[-+]?\.?[0-9]")
_EQUALS = re.compile(r"\\approx|[=\u2248](?!>)")
_SEVERAL = re.compile(r"\b(?:or|and|because|since|if|not)\b|,\s|;", re.IGNORECASE)


def _alone(plain: str) -> Stated:
    """Return the only number of a sentence, unless the sentence denies or only bounds it."""
    digit = _DIGIT.search(plain)
    if digit is None or _FORMULA.search(plain):
        return _NONE
    if _UNSURE.search(plain, 0, digit.start()):
        return _AMBIGUOUS
    first = number_at(plain[digit.start() :])
    if first is None or _DIGIT.search(first.rest):
        return _NONE
    stated, end = _read(first)
    return stated if end is _End.CLEAR else _NONE


def _equated(plain: str) -> Stated | None:
    """Return the number on the right of an equation, or else on its left: 6*7 = 42, 42 = 6*7."""
    signs = list(_EQUALS.finditer(plain))
    if not signs or _SEVERAL.search(plain, 0, signs[-1].start()):
        return None
    sides = [plain[signs[-1].end() :].strip(), plain[: signs[0].start()].strip()]
    if signs[0][0] != "=":  # the exact one is on the left
        sides.reverse()
    for side in sides:
        number = number_at(side)
        if number is not None:
            stated, end = _read(number)
            if end is _End.CLEAR:
                return stated
    return None


# -- what follows ----------------------------------------------------------------------------

_TIMES = {
    "hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12,
    "dozen": 12,
}  # fmt: skip
_TIMES_WORD = re.compile(rf"\s?({'|'.join(_TIMES)})s?\b", re.IGNORECASE)
_PERCENT_WORD = re.compile(r"\s?per\s?cent\b", re.IGNORECASE)
_DEGREES = re.compile(r"\s?(?:\^?\{?\\circ\}?|\u00b0)\s?[CF]?\b|\s?\u00b0")
_CLOSING = re.compile(r"[)\]}\"'\u201d\u2019\u00bb*]{1,4}")
_OTHER = re.compile(  # more digits, as of a time, or more numbers
    r"[:,/.'-]?[0-9]|\.\.|\u2026|\s?-\s?[0-9]"
    r"|\s(?:or|and)\s(?:more|less|fewer|so|up|above|below|over|under|higher|lower|an?|one|two"
    r"|three)\b"
    r"|\s(?:halves|thirds|quarters|(?:four|fif|six|seven|eigh|nin|ten|hundred|thousand)ths?)\b"
)
_ROUNDED = re.compile(
    r"\bround(?:s|ed|ing)?\b.{0,20}\bto\s[0-9]+\b(?!\s(?:dec|sig|dig|place|d\.?p|s\.?f))"
)
_OPERATOR = re.compile(
    r"\s?(?:[+*^=<>\u2248\u2260\u2264\u2265\u00b1\u00d7\u00b7\u00f7\u221a\u03c0\u2192\u21d2_]"
    r"|\\(?!\\|n)|/(?![A-Za-z]{2})|-(?!\s?[A-Za-z]{2})|[xyz](?![A-Za-z])"
    r"|(?:pi|sqrt|sin|cos|tan|log|ln|exp|mod|choose|times|plus|minus|divided|squared|cubed"
    r"|factorial|to the power)(?![a-z]))"
    r"|[(\[{!\u00b2\u00b3\u0391-\u03bb\u03bd-\u03c9]|[A-Za-z](?![A-Za-z])"
    r"|\s(?!m\^)[A-Za-z](?:\s?[-+*^=]|/[^A-Za-z])"
)
_TAG = re.compile(r"\s?(?:</?[a-z]|\||$)")
_STOP = re.compile(
    r"[;:.?!](?=\s|$)|\s[-\u2014\u2013]\s|\u2014|\((?!\s?or\b)|,(?!\s?(?:or|and|plus|-?[0-9]))"
    r"|\b(?:because|since|as|so|which|that|where|when|if|given|before|after|from|out|of|per|in|for"
    r"|with|at|on|is|are|was|were|will|has|have|had|rounded|to the nearest|not|due"
    r"|assuming|using|until|left after)\b",
    re.IGNORECASE,
)


class _Reading(NamedTuple):
    stated: Stated
    end: _End


def _read(number: WrittenNumber, exclaims: bool = False) -> _Reading:
    """Return a number with the word that multiplies it, and how the text goes on."""
    text, rest = number.text, number.rest
    while (times := _TIMES_WORD.match(rest)) and (value := read_number(text)):
        text, rest = str(value.value * _TIMES[times[1].lower()]), rest[times.end() :]
    if percent := _PERCENT_WORD.match(rest):
        text, rest = f"{text}%", rest[percent.end() :]
    return _Reading(Stated(text), _end(text, rest, exclaims))


def _end(text: str, rest: str, exclaims: bool) -> _End:
    for pattern in (_DEGREES, _CLOSING):
        if taken := pattern.match(rest):
            rest = rest[taken.end() :]
    if exclaims and re.match(r"!+(?=\W|$)", rest):
        return _End.CLEAR
    if _TAG.match(rest):
        return _End.CLEAR
    if _OTHER.match(rest) or _ROUNDED.search(rest):
        return _End.AMBIGUOUS
    if _OPERATOR.match(rest):
        return _End.FORMULA
    stop = _STOP.search(rest)
    clause = rest[: stop.start()] if stop else rest
    another = _DIGIT.search(clause)
    other = number_at(clause[another.start() :]) if another else None
    is_same = another is None or (other is not None and other.text == text)
    return _End.CLEAR if is_same else _End.AMBIGUOUS
