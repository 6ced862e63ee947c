"""Fences around judged text: marks that no answer can know, because they are a hash of it.

A judge is asked about text that a model wrote, and that text may be written to be obeyed. It is put
between two marks with a code which depends on the text itself, so that it cannot hold them; lines
that look like a verdict are marked as quoted, control words of chat templates lose their brackets,
and a text beyond all measure is cut, which the prompt says outside the fence.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence

from passband.score.judge.verdict import quoted

__all__ = ["LONGEST", "cut", "fence_code", "fenced"]

LONGEST = 60_000  # characters of one text that a judge is shown, by default
_HEAD = 3 / 4  # the part of a text that is cut which its beginning gets
# Words by which chat templates separate turns; a server may read them even within a turn.
_CONTROL = re.compile(
    r"<(?=(?:\|[A-Za-z0-9_ ]{1,40}\||/?s|/?(?:start|end)_of_turn|/?think|\uff5c[^>]{1,40}\uff5c)>)"
    r"|\[(?=/?INST\])|<(?=<?/?SYS>)",
    re.IGNORECASE,
)


def fence_code(texts: Iterable[str]) -> str:
    """Return a code that is none of the texts' own words: 16 hex digits of their hash.

    >>> fence_code(["4"]) == fence_code(["4"]), fence_code(["4"]) == fence_code(["5"])
    (True, False)
    """
    texts = list(texts)
    content = "\0".join(f"{len(text)} {text}" for text in texts).encode("utf-8", "surrogatepass")
    number = 0
    while True:
        code = hashlib.sha256(b"%d %s" % (number, content)).hexdigest()[:16]
        if not any(code in text for text in texts):
            return code
        number += 1


def fenced(name: str, text: str, code: str, words: Sequence[str]) -> str:
    """Return a text between its two marks, harmless to a judge that repeats it."""
    title = name.replace("_", " ").upper()
    safe = quoted(_CONTROL.sub(_bracket, text), words)
    return f"<<<{title} {code}>>>\n{safe}\n<<<END OF {title} {code}>>>"


def cut(text: str, longest: int) -> str:
    """Return a text of bounded length: of one that is longer, the beginning and the end.

    >>> cut("abcdefgh", 4)
    'abc\\n[... 4 characters left out ...]\\nh'
    """
    if len(text) <= longest:
        return text
    head = int(longest * _HEAD)
    tail = longest - head
    mark = f"\n[... {len(text) - longest} characters left out ...]\n"
    return f"{text[:head]}{mark}{text[len(text) - tail :] if tail else ''}"


def _bracket(match: re.Match[str]) -> str:
    return "(" if match[0] == "[" else "\u2039"
