r"""Match regular expressions of users without hanging a run.

Python's engine backtracks: ``(a+)+$`` needs 2**n steps on n letters and cannot be interrupted.
The syntax tree of a pattern bounds the time that a text may take. If that is a few milliseconds, as
it is for ordinary patterns and texts, the pattern runs in this process; otherwise it runs in a
worker process that is killed if it takes longer than a few seconds. The result is the same either
way. Patterns with back-references always run in a worker.

Between two requests of a run there is no time to wait for a worker: see `quickly`.

>>> compile_pattern(r"#### (-?[0-9.,]+)").findall("#### 12")
['12']
>>> compile_pattern(r"(a+)+$").inline_up_to < 20 < compile_pattern(r"a+$").inline_up_to
True
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeVar

from passband.errors import InvalidInput
from passband.score.pattern_cost import PatternCost
from passband.score.workers.worker_pool import pool

REGEX_SECONDS = 3.0
ORDINARY_TEXT = 300  # characters
MOST_NANOSECONDS = 12e6  # that one pattern may take over one text in this process
MOST_SHARES = 2.0  # of those, that one score may take between two requests
_LONGEST_TEXT = 10_000_000
_KNOWN = 4096  # patterns that are kept compiled

Result = TypeVar("Result")


class NeedsWorker(BaseException):
    """A call of `quickly` would take longer than a moment. No scorer should catch this."""


class _Turn(threading.local):
    """The time left to a call of `quickly`; None outside of one."""

    left: float | None = None


_turn = _Turn()


def quickly(function: Callable[..., Result], *arguments: object) -> Result:
    """Call a function; raise `NeedsWorker` if its patterns might take more than a moment.

    The engine holds the interpreter while it works, so that a thread would be of no help; the call
    has to be repeated where it may wait for a worker process.
    """
    _turn.left = MOST_SHARES
    try:
        return function(*arguments)
    finally:
        _turn.left = None


class Pattern:
    """A compiled regular expression whose methods end in any case, if with `WorkerTimeout`."""

    def __init__(self, source: str) -> None:
        try:
            self._compiled = re.compile(source)
        except (re.error, OverflowError, RecursionError) as error:
            raise InvalidInput(f"{source!r} is not a regular expression: {error}.") from None
        self.source = source
        self._cost = PatternCost.of(source)

    @cached_property
    def inline_up_to(self) -> int:
        """The length up to which any text is searched in this process."""
        low, high = 0, _LONGEST_TEXT
        while high - low > low // 16:
            middle = (low + high + 1) // 2
            if self._cost.anywhere(middle) <= MOST_NANOSECONDS:
                low = middle
            else:
                high = middle - 1
        return low

    @property
    def slow(self) -> bool:
        """Whether it needs a worker even for a text of ordinary length."""
        return self.inline_up_to < ORDINARY_TEXT and not (
            self._cost.within(" " * ORDINARY_TEXT) <= MOST_NANOSECONDS / 4
        )

    def _is_quick(self, text: str) -> bool:
        """Return whether to search a text in this process; within `quickly` raise if not."""
        if len(text) <= self.inline_up_to:
            share = len(text) / (self.inline_up_to or 1)
        else:
            share = self._cost.within(text) / MOST_NANOSECONDS
        if _turn.left is None:
            return share <= 1.0
        _turn.left -= share
        if not (share <= 1.0 and _turn.left >= 0):
            raise NeedsWorker
        return True

    def findall(self, text: str) -> list[Any]:
        """Return all matches, as `re.findall` does; several groups are a list or a tuple."""
        if self._is_quick(text):
            return self._compiled.findall(text)
        matches: list[Any] = self._elsewhere("findall", text)
        return matches

    def search(self, text: str) -> bool:
        """Return whether it matches anywhere."""
        if self._is_quick(text):
            return self._compiled.search(text) is not None
        return bool(self._elsewhere("search", text))

    def remove(self, text: str) -> str:
        """Return the text without the matches."""
        if self._is_quick(text):
            return self._compiled.sub("", text)
        return str(self._elsewhere("sub", text))

    def replace(self, text: str, replacement: str, count: int = 0) -> str:
        """Return the text with the matches, or the first `count` of them, replaced."""
        if self._is_quick(text):
            return self._compiled.sub(replacement, text, count=count)
        return str(self._elsewhere("sub", text, replacement, count))

    def _elsewhere(self, function: str, text: str, *arguments: object) -> Any:
        return pool.call(function, [self.source, text, *arguments], seconds=REGEX_SECONDS)


def compile_pattern(source: object) -> Pattern:
    """Return a pattern; raise `InvalidInput` if the source is not a regular expression."""
    if not isinstance(source, str):
        raise InvalidInput(f"a regular expression must be a text; got {source!r}.")
    pattern = _known.get(source)
    if pattern is None:
        if _turn.left is not None:
            raise NeedsWorker  # compiling may take long, too
        pattern = _known.setdefault(source, Pattern(source))
        while len(_known) > _KNOWN:
            _known.pop(next(iter(_known)), None)
    return pattern


_known: dict[str, Pattern] = {}


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
