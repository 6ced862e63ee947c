r"""Blocks of code between fences, as CommonMark has them and as models write them.

A fence is three or more backticks or tildes; it is closed by at least as many of the same. It may
be indented by more than CommonMark allows, as below an item of a list, and it may never be closed,
as where the limit of tokens cut the answer off.

>>> [block.code for block in fenced_blocks("So:\n  ```python\n  x = 1\n  ```\n~~~\ny")]
['x = 1\n', 'y']
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["FencedBlock", "fenced_blocks", "language_name"]

_OPENING = re.compile(
    r"(?P<indent>[ \t]*)(?P<fence>`{3,}|~{3,})[ \t]*(?P<language>[^\s`{]*)[^`\n]*"
)
_ALIASES = {
    "py": "python", "python3": "python", "py3": "python", "js": "javascript", "ts": "typescript",
    "c++": "cpp", "sh": "bash", "shell": "bash", "golang": "go", "rs": "rust",
}  # fmt: skip


@dataclass(frozen=True)
class FencedBlock:
    """The text between two fences, or between one and the end."""

    language: str  # "" where none is named
    text: str  # as it was written
    indent: str  # in front of the opening fence
    is_closed: bool
    start: int  # number of the line of the opening fence, from 0

    @property
    def code(self) -> str:
        """The text without the indentation of the fence, as far as lines have it."""
        if not self.indent:
            return self.text
        lines = self.text.splitlines(keepends=True)
        return "".join(_outdented(line, len(self.indent)) for line in lines)


def fenced_blocks(text: str) -> Iterator[FencedBlock]:
    """Yield the blocks of a text in order, in time proportional to its length."""
    lines: list[str] = []
    opening: re.Match[str] | None = None
    start = 0
    for number, line in enumerate(text.splitlines(keepends=True)):
        if opening is None:
            opening, start, lines = _OPENING.fullmatch(line.rstrip("\r\n")), number, []
        elif _closes(line, opening["fence"]):
            yield _block(opening, lines, start, is_closed=True)
            opening = None
        else:
            lines.append(line)
    if opening is not None:
        yield _block(opening, lines, start, is_closed=False)


def language_name(language: str) -> str:
    """Return the usual name of a language.

    >>> language_name("Py"), language_name("Rust")
    ('python', 'rust')
    """
    name = language.strip().lower()
    return _ALIASES.get(name, name)


def _block(opening: re.Match[str], lines: list[str], start: int, *, is_closed: bool) -> FencedBlock:
    language = language_name(opening["language"])
    return FencedBlock(language, "".join(lines), opening["indent"], is_closed, start)


def _closes(line: str, fence: str) -> bool:
    mark = line.strip()
    return len(mark) >= len(fence) and set(mark) == {fence[0]}


def _outdented(line: str, width: int) -> str:
    blanks = len(line) - len(line.lstrip(" \t"))
    return line[min(width, blanks) :]
