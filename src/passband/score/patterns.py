r"""Regular expressions of users, which may not hang a run.

Python's engine backtracks: ``(a+)+$`` needs 2**n steps on n letters and cannot be interrupted.
The syntax tree of a pattern bounds the number of ways of matching. If that is small enough, as it
is for ordinary patterns and texts, the pattern runs in this process; otherwise it runs in a worker
process that is killed if it takes longer than a few seconds. The result is the same either way.

>>> compile_pattern(r"#### (-?[0-9.,]+)").findall("#### 12")
['12']
>>> compile_pattern(r"(a+)+$").inline_up_to < 20 < compile_pattern(r"a+$").inline_up_to
True
"""

from __future__ import annotations

import functools
import importlib
import math
import re
import sys
from typing import Any

from passband.errors import InvalidInput
from passband.score.workers.pool import pool

__all__ = [
    "ORDINARY_TEXT",
    "REGEX_SECONDS",
    "Pattern",
    "compile_pattern",
    "findall_here",
    "search_here",
    "sub_here",
]

REGEX_SECONDS = 3.0
ORDINARY_TEXT = 5_000  # characters
_LONGEST_TEXT = 10_000_000
_MOST_WAYS = 20_000.0**2  # one open repetition, such as ".*", over 20,000 characters


class Pattern:
    """A compiled regular expression whose methods end in any case, if with `WorkerTimeout`."""

    def __init__(self, source: str) -> None:
        try:
            self._compiled = re.compile(source)
        except (re.error, OverflowError, RecursionError) as error:
            raise InvalidInput(f"{source!r} is not a regular expression: {error}.") from None
        self.source = source
        self.inline_up_to = _inline_up_to(source)

    @property
    def slow(self) -> bool:
        """Whether it needs a worker even for a text of ordinary length."""
        return self.inline_up_to < ORDINARY_TEXT

    def findall(self, text: str) -> list[Any]:
        """Return all matches, as `re.findall` does; several groups are a list or a tuple."""
        if len(text) <= self.inline_up_to:
            return self._compiled.findall(text)
        matches: list[Any] = self._elsewhere("findall", text)
        return matches

    def search(self, text: str) -> bool:
        """Return whether it matches anywhere."""
        if len(text) <= self.inline_up_to:
            return self._compiled.search(text) is not None
        return bool(self._elsewhere("search", text))

    def remove(self, text: str) -> str:
        """Return the text without the matches."""
        if len(text) <= self.inline_up_to:
            return self._compiled.sub("", text)
        return str(self._elsewhere("sub", text))

    def replace(self, text: str, replacement: str, count: int = 0) -> str:
        """Return the text with the matches, or the first `count` of them, replaced."""
        if len(text) <= self.inline_up_to:
            return self._compiled.sub(replacement, text, count=count)
        return str(self._elsewhere("sub", text, replacement, count))

    def _elsewhere(self, function: str, text: str, *arguments: Any) -> Any:
        return pool.call(function, [self.source, text, *arguments], seconds=REGEX_SECONDS)


def compile_pattern(source: Any) -> Pattern:
    """Return a pattern; raise `InvalidInput` if the source is not a regular expression."""
    if not isinstance(source, str):
        raise InvalidInput(f"a regular expression must be a text; got {source!r}.")
    return _compiled(source)


@functools.lru_cache(maxsize=1024)
def _compiled(source: str) -> Pattern:
    return Pattern(source)


# -- in the worker -------------------------------------------------------------------------


def findall_here(source: str, text: str) -> list[Any]:
    """Return all matches; runs in the worker."""
    return re.findall(source, text)


def search_here(source: str, text: str) -> bool:
    """Return whether there is a match; runs in the worker."""
    return re.search(source, text) is not None


def sub_here(source: str, text: str, replacement: str = "", count: int = 0) -> str:
    """Return the text with the matches replaced; runs in the worker."""
    return re.sub(source, replacement, text, count=count)


# -- how many ways -------------------------------------------------------------------------


def _inline_up_to(source: str) -> int:
    """Return the length of text up to which a pattern has few enough ways to match."""
    # The parser moved into the package re with Python 3.11; neither place is public.
    parser = importlib.import_module("re._parser" if sys.version_info >= (3, 11) else "sre_parse")
    tree = parser.parse(source)
    low, high = 0, _LONGEST_TEXT
    while low < high:
        middle = (low + high + 1) // 2
        if middle * _ways(tree, middle) <= _MOST_WAYS:
            low = middle
        else:
            high = middle - 1
    return low


def _ways(tree: Any, length: int) -> float:
    """Return an upper bound of the ways in which backtracking may match a text of some length.

    A sequence multiplies, a branch adds, and a repetition adds up those of every count.
    """
    result = 1.0
    for operation, argument in tree:
        name = str(operation)
        if name.endswith("_REPEAT"):
            least, most, body = argument
            result *= _repeated(_ways(body, length), least, max(least, min(int(most), length)))
        elif name == "BRANCH":
            result *= sum(_ways(branch, length) for branch in argument[1])
        else:
            for part in argument if isinstance(argument, tuple) else (argument,):
                if hasattr(part, "getwidth"):  # a part of the pattern: a group, a look-around
                    result *= _ways(part, length)
    return result


def _repeated(ways: float, least: int, most: int) -> float:
    if ways <= 1.0:
        return max(1.0, most - least + 1.0)
    try:
        # A choice taken again and again costs more than a character in the engine's inner loop.
        return 30 * (math.pow(ways, most + 1) - math.pow(ways, least)) / (ways - 1)
    except OverflowError:
        return math.inf
