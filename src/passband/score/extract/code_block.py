r"""Find blocks of code between fences: the rule `code_block`.

>>> find_code_block("So:\n```python\nprint(1)\n```\nDone.")
Extracted(answer='print(1)\n', rule='code_block')
>>> find_code_block("```\nprint(1)\n``` and then\n```python\nprint(2)")
Extracted(answer=None, rule='code_block-unclosed')

Fences are read as CommonMark has them and as models write them.

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
from typing import Literal, get_args

from passband.errors import InvalidInput
from passband.score.extract.rules import Extracted

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


Which = Literal["first", "last"]


def find_code_block(
    text: str, which: Which = "last", language: str | None = None
) -> Extracted | None:
    """Return the code of the first or last fenced block, of a language if one is given.

    Blocks that name no language count where none names the one that is wanted. A text that ends
    within the block has no answer.
    """
    blocks = list(fenced_blocks(text))
    if language is not None:
        wanted = language_name(language)
        of_language = [block for block in blocks if block.language == wanted]
        blocks = of_language or [block for block in blocks if not block.language]
    if not blocks:
        return None
    block = blocks[0 if which == "first" else -1]
    if not block.is_closed:
        return Extracted(None, "code_block-unclosed")
    return Extracted(block.text, "code_block")


def check_block(which: object, language: object) -> None:
    """Raise for options that no block can fulfil."""
    if which not in get_args(Which):
        raise InvalidInput(f"which must be first or last; got {which!r:.60}.")
    if language is not None and (not isinstance(language, str) or not language.strip()):
        raise InvalidInput(f"language must be a name such as python; got {language!r:.60}.")
