r"""Any text as lines that fit a terminal and cannot command it.

Control characters, invisible ones and halves of characters are written as escapes, so that what
a model wrote can neither move the cursor nor hide a part of itself.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from passband.report.render import printable

__all__ = ["Piece", "cells", "clean", "one_line", "wrapped"]

_TAB = "    "
_LONGEST_BACK = 0.4  # of a line: a break at a blank may cost at most this

Span = tuple[int, int]


@dataclass(frozen=True)
class Piece:
    """One line as it is printed, and which part of it is marked."""

    text: str
    mark: Span | None = None


def clean(text: str) -> str:
    r"""Return a text without line breaks as a terminal can show it.

    >>> clean("a\tb\x1b[2J\u202e\ud800")
    'a    b\\x1b[2J\\u202e\\ud800'
    """
    return printable(text.replace("\t", _TAB))


def cells(text: str) -> int:
    """Return how many columns a clean text takes.

    >>> cells("abc"), cells("漢字"), cells("e\u0301")
    (3, 4, 1)
    """
    return len(text) if text.isascii() else sum(map(_cells_of, text))


def _cells_of(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def one_line(text: str, width: int, ellipsis: str = "...") -> str:
    r"""Return the beginning of a text in one line.

    >>> one_line("two\nlines", 20), one_line("much too long", 8)
    ('two\\nlines', 'much ...')
    """
    line = clean(text[: 4 * width + 4])
    if cells(line) <= width and len(text) <= 4 * width + 4:
        return line
    end = _end(line, 0, max(0, width - cells(ellipsis)))
    return f"{line[:end]}{ellipsis}"


def wrapped(text: str, width: int, mark: Span | None = None) -> Iterator[Piece]:
    """Yield a text line by line, none wider than `width`; `mark` is a part of the text.

    >>> [piece.text for piece in wrapped("so 93 + 88 is 181", 9)]
    ['so 93 +', '88 is 181']
    """
    start = 0
    while True:
        end = text.find("\n", start)
        last = end < 0
        end = len(text) if last else end
        line = text[start : end - 1] if text[start:end].endswith("\r") and not last else None
        yield from _broken(text[start:end] if line is None else line, width, _within(mark, start))
        if last:
            return
        start = end + 1


def _within(mark: Span | None, start: int) -> Span | None:
    return None if mark is None else (mark[0] - start, mark[1] - start)


def _broken(line: str, width: int, mark: Span | None) -> Iterator[Piece]:
    """Yield the pieces of one line."""
    text = clean(line)
    if mark is not None:
        low, high = (min(max(0, end), len(line)) for end in mark)
        mark = (len(clean(line[:low])), len(clean(line[:high]))) if low < high else None
    start = 0
    while True:
        end, following = _break(text, start, width)
        yield Piece(text[start:end], _overlap(mark, start, end))
        if following >= len(text):
            return
        start = following


def _overlap(mark: Span | None, start: int, end: int) -> Span | None:
    if mark is None:
        return None
    low, high = max(mark[0], start) - start, min(mark[1], end) - start
    return (low, high) if low < high else None


def _break(text: str, start: int, width: int) -> tuple[int, int]:
    """Return where a line that begins at `start` ends, and where the next one begins."""
    end = _end(text, start, width)
    if end >= len(text):
        return end, end
    if text[end] == " ":
        return end, end + 1
    blank = text.rfind(" ", start, end)
    if blank > start + (end - start) * (1 - _LONGEST_BACK) and text[start:blank].strip():
        return blank, blank + 1
    return end, end


def _end(text: str, start: int, width: int) -> int:
    """Return the end of what fits into a width; at least one character does."""
    if text[start : start + width].isascii():
        return max(min(start + width, len(text)), min(start + 1, len(text)))
    taken, end = 0, start
    while end < len(text):
        taken += _cells_of(text[end])
        if taken > width and end > start:
            break
        end += 1
    return end
