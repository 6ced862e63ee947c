r"""The rule `code_block`: what is between the fences of a block of code.

>>> find_code_block("So:\n```python\nprint(1)\n```\nDone.")
Extracted(answer='print(1)\n', rule='code_block')
>>> find_code_block("```\nprint(1)\n``` and then\n```python\nprint(2)")
Extracted(answer=None, rule='code_block-unclosed')
"""

from __future__ import annotations

from typing import Literal, get_args

from passband.errors import InvalidInput
from passband.score.fences import fenced_blocks, language_name
from passband.score.rules import Extracted

__all__ = ["Which", "check_block", "find_code_block"]

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
