r"""Score mathematical answers: `math`.

Three steps, the cheap ones first: equal text apart from typography, equal numbers as fractions,
and then math-verify on sympy in a worker process that can be killed.
"""

from __future__ import annotations

import functools
import re
from fractions import Fraction

from passband.errors import InvalidInput
from passband.score.extract.parse_number import equal_numbers, read_number
from passband.score.extract.rules import find_boxed
from passband.score.registry import Extra, register_scorer
from passband.score.workers.worker_pool import WorkerTimeout, pool

MATH_VERIFY = Extra("math_verify", "math-verify")
LONGEST = 1_000  # characters
DEEPEST = 50  # brackets

_MINUS = str.maketrans(dict.fromkeys("\u2212\u2013\ufe63\uff0d", "-"))
# A backslash after another one ends the row of a matrix; it does not start a command.
_TYPOGRAPHY = re.compile(
    r"(?<!\\)\\(?:(?:left|right|displaystyle|limits)(?![A-Za-z])|[!,;: ])|\$|~"
)
_FRAC = re.compile(r"\\[dt]frac(?![A-Za-z])")
_SHORT = re.compile(r"\\frac\s*([0-9])\s*([0-9])(?![0-9])")
_TEXT = re.compile(r"\\(?:text|textbf|textit|mathrm|mathbf)\s*\{([^{}]*)\}")
_SPACE = re.compile(r"(?<![A-Za-z0-9]) | (?![A-Za-z0-9])")  # not between words or numbers
_WORDS = re.compile(r"[A-Za-z]{4,}(?:[ ,-]+[A-Za-z]+)*")
_SIX_DECIMALS = re.compile(r"\.[0-9]{6}")  # enough for 0.333333 to mean 1/3
_HALF_A_DIGIT = Fraction(1, 2_000_000)  # of the sixth decimal, to which math-verify rounds too
_BRACKET = re.compile(r"[\[({]|([\])}])")


def _check(timeout: object = 3.0) -> bool:
    if not (isinstance(timeout, (int, float)) and 0 < timeout <= 600):
        raise InvalidInput(f"timeout must be seconds above 0 and at most 600; got {timeout!r}.")
    return False


@register_scorer("math", bounds=(0.0, 1.0), slow=True, check=_check, extra=MATH_VERIFY)
def math_equal(answer: str, target: str, *, timeout: float = 3.0) -> bool:
    r"""Return whether an answer is mathematically equal to the target.

    An answer of more than 1,000 characters or 50 open brackets that is not equal as text is an
    error: it could be right, and comparing it could take for ever, so it has no score rather than
    0. An answer whose comparison takes more than `timeout` seconds is a timeout. Target and answer
    may contain their box. Numbers must be equal exactly, or to six decimals if one of them is
    written with that many.

    >>> math_equal(r"\dfrac12", r"\frac{1}{2}"), math_equal("0.50", "1/2"), math_equal("2", "3")
    (True, True, False)
    """
    gold, plain = normalise(target), normalise(answer)
    if gold == plain:
        return True
    expected, number = read_number(gold), read_number(plain)
    if expected is not None and number is not None:
        rounded = _SIX_DECIMALS.search(gold) or _SIX_DECIMALS.search(plain)
        slack = min(_HALF_A_DIGIT, abs(expected.value) / 10_000) if rounded else 0
        return equal_numbers(number, expected, absolute=slack)
    if _WORDS.fullmatch(gold):
        # sympy would read Monday as a product of letters, and equal to dynamo.
        return gold.casefold() == plain.casefold()
    for text in (gold, plain):
        if len(text) > LONGEST or _depth(text) > DEEPEST:
            raise InvalidInput(
                f"too long to compare: {len(text)} characters, {_depth(text)} open brackets."
            )
    same = _verified(gold, plain, float(timeout))
    if same is None:
        raise WorkerTimeout(f"took longer than {timeout:g} s")
    return same


# A timeout is cached too: the same answer would only take as long again.
@functools.lru_cache(maxsize=100_000)
def _verified(gold: str, answer: str, seconds: float) -> bool | None:
    try:
        return bool(pool.call("math", [gold, answer], seconds=seconds))
    except WorkerTimeout:
        return None


def normalise(answer: str) -> str:
    r"""Return an answer without typography, so that equal answers are mostly equal text.

    >>> normalise(r"$\left( 1,\, \dfrac{1}{2} \right)$."), normalise(r"\boxed{5 \text{ cm}}")
    ('(1,\\frac{1}{2})', '5 cm')
    >>> normalise("1 1/2")  # a mixed number, not 11/2
    '1 1/2'
    """
    boxed = find_boxed(answer)
    if boxed is not None and boxed.answer is not None:
        answer = boxed.answer
    text = answer.translate(_MINUS).replace("{,}", ",").replace("\\$", "").replace("\\%", "%")
    text = _TYPOGRAPHY.sub(" ", text)
    text = _FRAC.sub(r"\\frac", _TEXT.sub(r" \1 ", text))
    text = " ".join(_SHORT.sub(r"\\frac{\1}{\2}", text).split())
    if text.endswith(".") and not text.endswith(".."):
        text = text[:-1]
    return _SPACE.sub("", text)


def _depth(text: str) -> int:
    depth = deepest = 0
    for bracket in _BRACKET.finditer(text):
        depth += -1 if bracket.group(1) else 1
        deepest = max(deepest, depth)
    return deepest
