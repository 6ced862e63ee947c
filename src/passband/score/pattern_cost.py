r"""Bound the time that Python's engine takes over a regular expression, from its syntax tree.

The engine backtracks: from every place of a text it tries one way of matching after another. The
tree gives two numbers for each part of a pattern: the time to try everything that it can match, and
the number of ways in which it can match. What follows a part is tried once for each of its ways:

    time(A B) = time(A) + ways(A) * time(B)          ways(A B) = ways(A) * ways(B)
    time(A|B) = time(A) + time(B)                    ways(A|B) = ways(A) + ways(B)

A repetition adds up those of every count. Look-around and atomic groups have one way, however long
they take. A repetition at the very end never has to give anything back: it succeeds, and what it
took is not looked at again. Fixed text that does not repeat itself matches at few places, so it is
usually given up after a letter or two, and lets few ways through. Back-references have no bound.

Times are in nanoseconds. `benchmarks/regexes.py` compares them with the worst texts it finds.
"""

from __future__ import annotations

import importlib
import math
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

_STEP = 9.0  # one operation of the engine
_BOUNDARY = 14.0  # ^, $, or the edge of a word, which looks at two characters
_RETRY = 15.0  # one more way to match, tried
_ROUND = 25.0  # one more round of a repetition of more than a character
_CHARACTER = 1.5  # one character taken by a repetition of single characters
_MEMBER = 1.0  # one entry of a set such as [a-z0-9], looked at
_MATCH = 250.0  # one match, as a text or several
_SCAN = 20.0  # one character passed over while looking for a fixed beginning
_IN_FRONT = 2  # single characters that may come before a fixed beginning
_LONGEST_TEXT = 64  # letters of fixed text that are looked at for repetitions

_SINGLE = frozenset({"ANY", "CATEGORY", "IN", "LITERAL", "NOT_LITERAL", "RANGE"})
_WHOLE = frozenset({"ASSERT", "ASSERT_NOT", "ATOMIC_GROUP"})


@dataclass(frozen=True)
class _Text:
    """The lengths of a text that a bound depends on."""

    length: int
    line: int  # length of the longest line, which a dot does not go beyond


@dataclass(frozen=True)
class PatternCost:
    """The syntax tree of a pattern, and fixed texts: every match begins with one of them."""

    tree: Any
    beginnings: tuple[re.Pattern[str], ...]
    overlaps: int  # matches of a beginning that may share a character
    dots_end_with_the_line: bool

    @classmethod
    def of(cls, source: str) -> PatternCost:
        """Return the cost of a pattern that compiles."""
        # The parser moved into the package re with Python 3.11; neither place is public.
        name = "re._parser" if sys.version_info >= (3, 11) else "sre_parse"
        tree = importlib.import_module(name).parse(source)
        texts = _beginnings(tree)
        ignored = re.IGNORECASE if _FLAGGED["i"].search(source) else re.RegexFlag(0)
        return cls(
            tree,
            tuple(re.compile(re.escape(text), ignored) for text in texts),
            max((len(text) for text in texts if _matched_letters(text)[1] < len(text)), default=1),
            not _FLAGGED["s"].search(source),
        )

    def anywhere(self, length: int) -> float:
        """Return the nanoseconds that any text of some length may take at most."""
        return (length + 1) * self._once(_Text(length, length)) + self._matches(length)

    def within(self, text: str) -> float:
        """Return the nanoseconds that this text may take.

        Counts where matches can begin, and the length of the longest line.
        """
        line = max(map(len, text.split("\n"))) if self.dots_end_with_the_line else len(text)
        once = self._once(_Text(len(text), line))
        if not self.beginnings:
            return (len(text) + 1) * once + self._matches(len(text))
        starts = self.overlaps * sum(len(beginning.findall(text)) for beginning in self.beginnings)
        return (starts + 1) * (once + _MATCH) + _SCAN * len(text)

    def _matches(self, length: int) -> float:
        shortest: int = self.tree.getwidth()[0]
        return _MATCH * (length / max(1, shortest) + 1)

    def _once(self, text: _Text) -> float:
        return _STEP + _sequence(self.tree, text, is_end=True)[0]


_FLAGGED = {flag: re.compile(rf"\(\?[a-zA-Z]*{flag}") for flag in "is"}  # (?s), (?i:...)


def _beginnings(tree: Any) -> tuple[str, ...]:
    """Return fixed texts, one of which is in every match, at or shortly after its start."""
    longest, in_front = "", 0
    for part in _parts(tree):
        if isinstance(part, str):
            longest = max(longest, part, key=len)
            continue
        name, argument = str(part[0]), part[1]
        if name == "ASSERT" and argument[0] < 0:
            inner = list(_parts(argument[1]))
            longest = max(longest, *(text for text in inner if isinstance(text, str)), "", key=len)
        elif name in ("SUBPATTERN", "BRANCH") and not longest:
            trees = [argument[-1]] if name == "SUBPATTERN" else argument[1]
            each = [_beginnings(inner) for inner in trees]
            return tuple(text for texts in each for text in texts) if all(each) else ()
        elif (name not in _SINGLE and name != "AT") or in_front == _IN_FRONT:
            break
        in_front += 1
    return (longest,) if longest else ()


def _sequence(tree: Any, text: _Text, *, is_end: bool) -> tuple[float, float]:
    time, ways, last = 0.0, 1.0, 1.0  # ways without those of the last part, which are apart
    for part in _parts(tree):
        if isinstance(part, str):
            most_tried, period = _matched_letters(part)
            time += ways * last * _STEP * most_tried
            # Of the ways of a repetition in front, each ends elsewhere: few fit.
            ways, last = ways * min(last, last / period + 1), 1.0
        else:
            operation, argument, is_last = part
            ways *= last
            further, last = _part(str(operation), argument, text, is_end and is_last)
            time += ways * further
    return time, ways * last


def _parts(tree: Any) -> Iterator[str | tuple[Any, Any, bool]]:
    """Yield fixed texts, and operations with whether they are the last."""
    letters = ""
    for position, (operation, argument) in enumerate(tree):
        if str(operation) == "LITERAL":
            letters += chr(argument)
            continue
        if letters:
            yield letters
            letters = ""
        yield operation, argument, position == len(tree) - 1
    if letters:
        yield letters


@lru_cache(maxsize=256)
def _matched_letters(text: str) -> tuple[float, int]:
    """Return how many letters are compared at a place, averaged over many, and the text's period.

    The beginning of a text that repeats itself may match at places that are its period apart.
    """
    text = text.lower()
    seen = text[:_LONGEST_TEXT]
    periods = [
        next(step for step in range(1, size + 1) if seen.startswith(seen[step:size]))
        for size in range(1, len(seen) + 1)
    ]
    shares = [size / period for size, period in enumerate(periods, start=1)]
    return 1 + max(shares) + max(0, len(text) - _LONGEST_TEXT), periods[-1]


def _part(name: str, argument: Any, text: _Text, is_end: bool) -> tuple[float, float]:
    """Return the time and the ways of one operation."""
    if name.endswith("_REPEAT"):
        least, most, body = argument
        return _repeat(name, least, int(most), body, text, is_end)
    if name == "SUBPATTERN":
        time, ways = _sequence(argument[-1], text, is_end=is_end)
        return time + 2 * _STEP, ways
    if name == "BRANCH":
        parts = [_sequence(branch, text, is_end=is_end) for branch in argument[1]]
        return sum(time + _RETRY for time, _ in parts), sum(ways for _, ways in parts)
    if name in _WHOLE:
        inner = argument if name == "ATOMIC_GROUP" else argument[1]
        return _STEP + _sequence(inner, text, is_end=False)[0], 1.0
    if name in _SINGLE:
        return _STEP + _members(name, argument), 1.0
    if name == "AT":
        return _BOUNDARY, 1.0
    if name in ("FAILURE", "SUCCESS"):
        return _STEP, 1.0
    return math.inf, 1.0  # a back-reference, or what a later version of Python brings


def _members(name: str, argument: Any) -> float:
    return _MEMBER * len(argument) if name == "IN" else 0.0


def _repeat(
    name: str, least: int, most: int, body: Any, text: _Text, is_end: bool
) -> tuple[float, float]:
    is_dot = len(body) == 1 and str(body[0][0]) == "ANY"
    longest = (text.line if is_dot else text.length) // max(1, body.getwidth()[0]) + 1
    most = max(least, min(most, longest))
    if len(body) == 1 and str(body[0][0]) in _SINGLE:
        round_time, ways = _CHARACTER + _members(str(body[0][0]), body[0][1]), 1.0
    else:
        round_time, ways = _sequence(body, text, is_end=False)
        round_time += _ROUND
    if is_end:
        # Rounds beyond the least succeed, and take text that is then not looked at again.
        return _STEP + round_time + round_time * _rounds(ways, 0, least), 1.0
    time = _STEP + round_time * _rounds(ways, 0, most)
    if name.startswith("POSSESSIVE"):
        return time, 1.0
    tries = _rounds(ways, least, most) if ways > 1 else most - least + 1.0
    return time + _RETRY * tries, tries


def _rounds(ways: float, least: int, most: int) -> float:
    """Return the sum of ways**i from `least` to `most`, how often a repeated part is entered."""
    if ways <= 1.0:
        return most - least + 1.0
    if math.isinf(ways):
        return ways
    try:
        return (math.pow(ways, most + 1) - math.pow(ways, least)) / (ways - 1)
    except OverflowError:
        return math.inf
