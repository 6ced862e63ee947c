r"""The rule `code_block`: what is between the fences of a block of code.

>>> find_code_block("So:\n```python\nprint(1)\n```\nDone.")
Extracted(answer='print(1)\n', rule='code_block')
>>> find_code_block("```\nprint(1)\n``` and then\n```python\nprint(2)")
Extracted(answer=None, rule='code_block-unclosed')
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple, get_args

from passband.errors import InvalidInput
from passband.score.rules import Extracted

__all__ = ["Which", "check_block", "find_code_block"]

Which = Literal["first", "last"]

_OPENING = re.compile(r"[ \t]*(?P<fence>`{3,}|~{3,})[ \t]*(?P<language>[^\s`{]*)[^`\n]*")
_ALIASES = {
    "py": "python", "python3": "python", "py3": "python", "js": "javascript", "ts": "typescript",
    "c++": "cpp", "sh": "bash", "shell": "bash", "golang": "go", "rs": "rust",
}  # fmt: skip


class _Block(NamedTuple):
    language: str
    code: str | None  # None: the text ends within it


def find_code_block(
    text: str, which: Which = "last", language: str | None = None
) -> Extracted | None:
    """Return the code of the first or last fenced block, of a language if one is given.

    Blocks that name no language count where none names the one that is wanted. A text that ends
    within the block has no answer.
    """
    blocks = list(_blocks(text))
    if language is not None:
        wanted = _name(language)
        of_language = [block for block in blocks if block.language == wanted]
        blocks = of_language or [block for block in blocks if not block.language]
    if not blocks:
        return None
    code = blocks[0 if which == "first" else -1].code
    return Extracted(code, "code_block" if code is not None else "code_block-unclosed")


def check_block(which: object, language: object) -> None:
    """Raise for options that no block can fulfil."""
    if which not in get_args(Which):
        raise InvalidInput(f"which must be first or last; got {which!r:.60}.")
    if language is not None and (not isinstance(language, str) or not language.strip()):
        raise InvalidInput(f"language must be a name such as python; got {language!r:.60}.")


def _blocks(text: str) -> Iterator[_Block]:
    lines: list[str] = []
    opening: re.Match[str] | None = None
    for line in text.splitlines(keepends=True):
        if opening is None:
            opening = _OPENING.fullmatch(line.rstrip("\r\n"))
            lines = []
        elif _closes(line, opening["fence"]):
            yield _Block(_name(opening["language"]), "".join(lines))
            opening = None
        else:
            lines.append(line)
    if opening is not None:
        yield _Block(_name(opening["language"]), None)


def _closes(line: str, fence: str) -> bool:
    mark = line.strip()
    return len(mark) >= len(fence) and set(mark) == {fence[0]}


def _name(language: str) -> str:
    name = language.strip().lower()
    return _ALIASES.get(name, name)
