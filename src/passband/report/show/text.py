"""Wrap any text into lines that fit a terminal and cannot control it.

Control characters, invisible ones and halves of characters are written as escapes, so that what
a model wrote can neither move the cursor nor hide a part of itself.

How text is set on a terminal, or on none: width, emphasis, and which characters it has.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from passband.report.rendering import printable

_RESET = "\x1b[0m"
_CODES = {
    "heading": "\x1b[1m",
    "label": "\x1b[2m",
    "right": "\x1b[34m",
    "wrong": "\x1b[31m",
    "odd": "\x1b[33m",
    "mark": "\x1b[1;4m",
    "removed": "\x1b[31m",
    "added": "\x1b[34m",
}


@dataclass(frozen=True)
class TerminalStyle:
    """The width of lines in columns, and whether colours and characters beyond ASCII show."""

    width: int = 80
    colour: bool = False
    unicode: bool = True

    def set(self, text: str, kind: str) -> str:
        """Return text in the emphasis of its kind; as it is where there are no colours.

        >>> TerminalStyle().set("wrong", "wrong"), TerminalStyle(colour=True).set("no", "wrong")
        ('wrong', '\\x1b[31mno\\x1b[0m')
        """
        return f"{_CODES[kind]}{text}{_RESET}" if self.colour and text else text

    @property
    def rule(self) -> str:
        """The character that lines are drawn with."""
        return "\u2500" if self.unicode else "-"

    @property
    def ellipsis(self) -> str:
        """The mark of a cut."""
        return "\u2026" if self.unicode else "..."


_TAB = "    "
_LONGEST_BACK = 0.4  # of a line: a break at a blank may cost at most this

Span = tuple[int, int]


class Mark(NamedTuple):
    """A marked part of a line, and the number of the mark."""

    start: int
    end: int
    number: int


@dataclass(frozen=True)
class Piece:
    """One line as it is printed, and which parts of it are marked."""

    text: str
    marks: tuple[Mark, ...] = ()


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


def wrapped(text: str, width: int, marks: Sequence[Span] = ()) -> Iterator[Piece]:
    """Yield a text line by line, none wider than `width`; `marks` are parts of it, in order.

    >>> [piece.text for piece in wrapped("so 93 + 88 is 181", 9)]
    ['so 93 +', '88 is 181']
    """
    start, first = 0, 0
    while start <= len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        while first < len(marks) and marks[first][1] <= start:
            first += 1
        line = text[start:end]
        if end < len(text):
            line = line.removesuffix("\r")
        yield from _broken(line, width, _within(line, marks, first, start))
        start = end + 1


def _within(line: str, marks: Sequence[Span], first: int, start: int) -> list[Mark]:
    """Return the marks from `first` on that are in a line, as parts of it when it is clean."""
    found = []
    for number in range(first, len(marks)):
        low, high = marks[number][0] - start, marks[number][1] - start
        if low >= len(line):
            break
        low, high = max(0, low), min(high, len(line))
        if low < high:
            found.append(Mark(len(clean(line[:low])), len(clean(line[:high])), number))
    return found


def _broken(line: str, width: int, marks: Sequence[Mark]) -> Iterator[Piece]:
    """Yield the pieces of one line."""
    text = clean(line)
    start = 0
    while True:
        end, following = _break(text, start, width)
        yield Piece(text[start:end], tuple(_overlaps(marks, start, end)))
        if following >= len(text):
            return
        start = following


def _overlaps(marks: Sequence[Mark], start: int, end: int) -> Iterator[Mark]:
    for mark in marks:
        low, high = max(mark.start, start) - start, min(mark.end, end) - start
        if low < high:
            yield Mark(low, high, mark.number)


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
    """Return the end of the characters that fit into a width, one at least."""
    if text[start : start + width].isascii():
        return max(min(start + width, len(text)), min(start + 1, len(text)))
    taken, end = 0, start
    while end < len(text):
        taken += _cells_of(text[end])
        if taken > width and end > start:
            break
        end += 1
    return end
