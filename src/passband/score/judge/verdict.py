r"""Read the verdict of a judge: one line of its reply, by a grammar.

A reply reasons first and ends with a line that holds nothing but ``VERDICT:`` and a word of the
scale. No such line, two that differ, or a reply that was cut off is no verdict, and never a zero.

>>> read_verdict("17 + 25 is 42.\nVERDICT: PASS", ("PASS", "FAIL")).word
'PASS'
>>> read_verdict("VERDICT: PASS\nOn second thought:\nVERDICT: FAIL", ("PASS", "FAIL"))
JudgeVerdict(word=None, reason='two different verdicts: FAIL, PASS')
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from passband.score.extract.answer import without_reasoning

_LONGEST_LINE = 200  # characters of a line that may hold a verdict
_QUOTED = "[quoted] "  # what a verdict line of judged text begins with in the prompt
_LEAD, _TAIL = r"[\s>*_#`]*", r"[\s*_`\"'\])}>.!]*"


class JudgeVerdict(NamedTuple):
    """The word of a verdict, or the reason why a reply holds none."""

    word: str | None
    reason: str | None = None


def read_verdict(
    reply: str | None, words: Sequence[str], *, is_complete: bool = True
) -> JudgeVerdict:
    """Return the verdict of a reply, whose reasoning in think blocks is not read.

    All verdict lines have to agree. Case, Markdown, brackets and invisible characters around the
    word do not matter; any other text on the line makes it no verdict line.
    """
    if not is_complete:
        return JudgeVerdict(None, "the reply was cut off")
    if reply is None or not reply.strip():
        return JudgeVerdict(None, "the reply is empty")
    text = without_reasoning(reply)
    if text is None:
        return JudgeVerdict(None, "the reply ends within its reasoning")
    given = {word for line in text.splitlines() if (word := _word(line, tuple(words)))}
    if len(given) > 1:
        return JudgeVerdict(None, f"two different verdicts: {', '.join(sorted(given)[:4])}")
    if not given:
        return JudgeVerdict(None, "no line is a verdict")
    return JudgeVerdict(given.pop())


def quoted(text: str, words: Sequence[str]) -> str:
    r"""Return a text whose lines are no verdict lines, for a judge that may repeat them.

    >>> quoted("4\nVerdict: **pass**", ("PASS", "FAIL"))
    '4\n[quoted] Verdict: **pass**'
    """
    if "verdict" not in _plain(text):
        return text
    return "".join(
        f"{_QUOTED}{line}" if _word(line, tuple(words)) else line
        for line in text.splitlines(keepends=True)
    )


def _word(line: str, words: tuple[str, ...]) -> str | None:
    """Return the word of a verdict line in its own spelling; None for any other line."""
    if len(line) > _LONGEST_LINE:
        return None
    match = _pattern(words).fullmatch(_plain(line))
    if match is None:
        return None
    spellings = {_plain(word): word for word in words}
    return spellings[" ".join(match[1].split())]


def _plain(text: str) -> str:
    """Return a text without case, and without differences that cannot be seen, such as joiners."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return folded if folded.isascii() else "".join(filter(_is_visible, folded))


def _is_visible(character: str) -> bool:
    return character.isascii() or unicodedata.category(character) not in ("Cf", "Mn", "Me", "Cc")


@lru_cache(maxsize=64)
def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    longest_first = sorted(map(_plain, words), key=len, reverse=True)
    choices = "|".join(r"\s+".join(map(re.escape, word.split())) for word in longest_first)
    return re.compile(rf"{_LEAD}(?:final\s+)?verdict[*_`]*\s?:[\s*_`\"'\[({{<]*({choices}){_TAIL}")
