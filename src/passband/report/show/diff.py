"""Merge two texts into one, with what only one of them has marked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import islice

from passband.report.show.text import Piece, TerminalStyle, wrapped

_MOST_WORDS = 3_000  # on either side, between the common beginning and end; beyond, all differs
_WORD = re.compile(r"\s+|\w+|[^\w\s]")
_LONGEST = 1_000  # characters shown at either end of what only one side has
_CONTEXT = 160  # characters of what both have, before and after a change


@dataclass(frozen=True)
class TextChange:
    """A stretch of both texts: common, or a replacement."""

    first: str
    second: str

    @property
    def is_same(self) -> bool:
        return self.first == self.second


def word_changes(first: str, second: str) -> list[TextChange]:
    """Return two texts as stretches that agree and stretches that do not.

    >>> [(c.first, c.second) for c in word_changes("so it is 171.", "so it is 181.")]
    [('so it is ', 'so it is '), ('171', '181'), ('.', '.')]
    """
    start = _common(first, second)
    end = _common(first[start:][::-1], second[start:][::-1])
    middle = first[start : len(first) - end], second[start : len(second) - end]
    changes = [
        TextChange(first[:start], second[:start]),
        *_changes(*middle),
        TextChange(first[len(first) - end :], second[len(second) - end :]),
    ]
    return [change for change in changes if change.first or change.second]


def _common(first: str, second: str) -> int:
    """Return the length of the common beginning, in whole words."""
    low, high = 0, min(len(first), len(second))
    while low < high:  # the longest equal beginning, by halving
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    within = low < max(len(first), len(second)) and low > 0 and first[low - 1].isalnum()
    while within and low > 0 and first[low - 1].isalnum():
        low -= 1
    return low


def _changes(first: str, second: str) -> list[TextChange]:
    one, other = _words(first), _words(second)
    if max(len(one), len(other)) > _MOST_WORDS:
        return [TextChange(first, second)]
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    return [
        TextChange("".join(one[a:b]), "".join(other[c:d]))
        for _, a, b, c, d in matcher.get_opcodes()
    ]


def _words(text: str) -> list[str]:
    """Return the words of a text that are compared."""
    return [match.group() for match in islice(_WORD.finditer(text), _MOST_WORDS + 1)]


def diff_lines(
    first: str, second: str, style: TerminalStyle, *, full: bool = False, indent: int = 0
) -> Iterator[str]:
    """Yield two texts as one, with [-only in the first-] and {+only in the second+}."""
    parts, marks, kinds = list[str](), list[tuple[int, int]](), list[str]()
    length = 0
    for text, kind in _stretches(word_changes(first, second), full):
        if kind:
            marks.append((length, length + len(text)))
            kinds.append(kind)
        parts.append(text)
        length += len(text)
    for piece in wrapped("".join(parts), style.width - indent, marks):
        yield " " * indent + _coloured(piece, kinds, style)


def _stretches(changes: list[TextChange], full: bool) -> Iterator[tuple[str, str]]:
    """Yield the text of each stretch, and its kind: removed, added, or none."""
    for number, change in enumerate(changes):
        if change.is_same:
            same = change.first if full else _shortened(change.first, number, len(changes))
            yield same, ""
            continue
        first, second = (text if full else _cut(text) for text in (change.first, change.second))
        if first:
            yield f"[-{first}-]", "removed"
        if second:
            yield f"{{+{second}+}}", "added"


def _cut(text: str) -> str:
    """Return the beginning and the end of a long text that only one side has."""
    if len(text) <= 2 * _LONGEST + 80:
        return text
    left_out = f"[{len(text) - 2 * _LONGEST:,} characters left out; --full shows them]"
    return f"{text[:_LONGEST]}\n{left_out}\n{text[-_LONGEST:]}"


def _coloured(piece: Piece, kinds: list[str], style: TerminalStyle) -> str:
    parts, end = list[str](), 0
    for mark in piece.marks:
        marked = style.set(piece.text[mark.start : mark.end], kinds[mark.number])
        parts += [piece.text[end : mark.start], marked]
        end = mark.end
    return "".join([*parts, piece.text[end:]])


def _shortened(text: str, number: int, count: int) -> str:
    """Return common text, shortened to the context of changes."""
    head = 0 if number == 0 else _CONTEXT
    tail = 0 if number == count - 1 else _CONTEXT
    if len(text) <= head + tail + 80:
        return text
    left_out = f"[{len(text) - head - tail:,} characters are the same]"
    parts = [text[:head], left_out, text[len(text) - tail :] if tail else ""]
    return "\n".join(part for part in parts if part)
