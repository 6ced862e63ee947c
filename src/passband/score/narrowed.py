r"""A marked answer that is more than was asked for, narrowed to its number or its letter.

What the targets are decides: beside numbers an answer is a number, beside letters or choices a
letter, and else it is all that was marked.

>>> sentence = Extracted("B, because 6*7 = 42", "marker")
>>> narrowed(sentence, ("(B)",), ()).answer, narrowed(sentence, ("Paris",), ()).answer
('(B)', 'B, because 6*7 = 42')
>>> narrowed(Extracted("$1,234 in all", "marker"), ("1234",), ()).answer
'1234'
>>> narrowed(Extracted("12 or 13", "marker"), ("12",), ())
Extracted(answer=None, rule='marker-ambiguous')
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Literal

from passband.score.letter import find_letter
from passband.score.parse_number import number_at, read_number, tidied
from passband.score.rules import Extracted
from passband.score.stated_number import stated_number

__all__ = ["narrowed"]

Kind = Literal["letter", "number", "text"]

_LETTER = re.compile(r"[(\[]?([A-J])[)\]]?[.:]?")
_LETTERS = re.compile(r"\W{0,3}[A-J]\W{0,3}(?:,|/|&|\b(?:or|and)\b)\s?(?:and|or)?\W{0,3}[A-J]\b")


def narrowed(
    found: Extracted,
    targets: tuple[str, ...],
    choices: tuple[str, ...],
    *,
    are_numbers: bool = False,
) -> Extracted:
    """Return the number or letter of a boxed or marked answer, written as in the targets.

    An answer that is a target, or that states neither, stays as it is. One that could be read as
    several numbers or letters is no answer after a marker, and in a box left to the comparison.
    Without targets `are_numbers` says what they are.
    """
    answer = found.answer
    if answer is None or answer in targets:
        return found
    kind = _kind(targets) if targets else "number" if are_numbers else "text"
    if choices or kind == "letter":
        letter = find_letter(f"Answer: {answer}", choices)
        if letter is not None and letter.answer is not None:
            return found._replace(answer=_as_target(letter.answer, targets, _letter))
        if not choices and _LETTERS.match(answer):
            return _ambiguous(found)
    if kind != "number":
        return found
    stated = stated_number(answer, exclaims=found.rule == "marker")
    if stated.is_ambiguous:
        return _ambiguous(found)
    if stated.number is None:
        return found
    return found._replace(answer=_as_target(stated.number, targets, _digits))


def _ambiguous(found: Extracted) -> Extracted:
    return Extracted(None, "marker-ambiguous") if found.rule == "marker" else found


@functools.lru_cache(maxsize=4096)
def _kind(targets: tuple[str, ...]) -> Kind:
    if all(read_number(target) for target in targets):
        return "number"
    return "letter" if all(_LETTER.fullmatch(target.strip()) for target in targets) else "text"


def _as_target(answer: str, targets: tuple[str, ...], bare: Callable[[str], str]) -> str:
    """Return the target that is the same number or letter, so that texts are compared as well."""
    return next((one for one in targets if bare(one) == bare(answer)), answer)


def _letter(text: str) -> str:
    match = _LETTER.fullmatch(text.strip())
    return match[1] if match else text


@functools.lru_cache(maxsize=4096)
def _digits(text: str) -> str:
    number = number_at(tidied(text))
    return text if number is None else number.text.removesuffix("%")
