r"""Extract the final answer of a completion by named rules.

Reasoning is dropped first; then the rules are tried in order, and the first that applies decides.
A rule that applies but finds a broken answer, such as a box cut off by the token limit, ends the
search: an earlier, superseded answer must not win.

>>> extract(r"So \boxed{3}. Wait, no: \boxed{7}.")
Extracted(answer='7', rule='boxed')
>>> extract(r"First \boxed{3}, then \boxed{4")
Extracted(answer=None, rule='boxed-unclosed')
>>> extract("**Final Answer:** $42$.")
Extracted(answer='42', rule='marker')
>>> extract("The answer is 42 because 6*7=42.", targets=("42",))
Extracted(answer='42', rule='marker')
>>> extract("That makes 1,200 in all.", rules=("boxed", "marker", "last_number"))
Extracted(answer='1200', rule='last_number')

Every rule reads the text a fixed number of times, whatever is in it.

A boxed or marked answer is then narrowed to the kind of the targets: to its number where they are
numbers, to its letter where they are letters or there are choices.

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
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Literal

from passband.errors import InvalidInput, UnknownName, nearest
from passband.score.extract.code_block import find_code_block
from passband.score.extract.letter import find_letter
from passband.score.extract.parse_number import number_at, read_number, tidied
from passband.score.extract.rules import (
    Extracted,
    Rule,
    find_boxed,
    find_last_number,
    find_marked,
    find_whole,
)
from passband.score.extract.stated_number import stated_number

Kind = Literal["letter", "number", "text"]

_LETTER = re.compile(r"[(\[]?([A-J])[)\]]?[.:]?")
_LETTERS = re.compile(r"\W{0,3}[A-J]\W{0,3}(?:,|/|&|\b(?:or|and)\b)\s?(?:and|or)?\W{0,3}[A-J]\b")


def narrowed(
    extracted: Extracted,
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
    answer = extracted.answer
    if answer is None or answer in targets:
        return extracted
    kind = _kind(targets) if targets else "number" if are_numbers else "text"
    if choices or kind == "letter":
        letter = find_letter(f"Answer: {answer}", choices)
        if letter is not None and letter.answer is not None:
            return extracted._replace(answer=_as_target(letter.answer, targets, _letter))
        if not choices and _LETTERS.match(answer):
            return _ambiguous(extracted)
    if kind != "number":
        return extracted
    stated = stated_number(answer, exclaims=extracted.rule == "marker")
    if stated.is_ambiguous:
        return _ambiguous(extracted)
    if stated.number is None:
        return extracted
    return extracted._replace(answer=_as_target(stated.number, targets, _digits))


def _ambiguous(extracted: Extracted) -> Extracted:
    is_marked = extracted.rule == "marker"
    return Extracted(None, "marker-ambiguous") if is_marked else extracted


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


DEFAULT_RULES = ("boxed", "marker")
_NARROWED = ("boxed", "marker", "letter")  # what they find is written as the targets are


def extract(
    text: str | None,
    rules: Sequence[str] = DEFAULT_RULES,
    *,
    strip_reasoning: bool = True,
    targets: tuple[str, ...] = (),
    choices: tuple[str, ...] = (),
) -> Extracted:
    """Return the final answer of a completion and the rule that found it.

    `targets` are what it is compared with: where they are numbers or letters, so is what a box or
    a marker gives; without any, a number is where `last_number` is one of the rules. `choices` are
    the texts behind the letters, where the question has some.
    """
    if text is None:
        return Extracted(None, None)
    if strip_reasoning:
        text = without_reasoning(text)
        if text is None:
            return Extracted(None, "reasoning-unclosed")
    for name in rules:
        extracted = find_letter(text, choices) if name == "letter" else RULES[name](text)
        if extracted is None:
            continue
        if name in _NARROWED:
            return narrowed(extracted, targets, choices, are_numbers="last_number" in rules)
        return extracted
    return Extracted(None, None)


def check_rules(rules: object) -> tuple[str, ...]:
    """Return the rules; raise `UnknownName` if one of them does not exist."""
    if isinstance(rules, str) or not isinstance(rules, Sequence) or not rules:
        raise InvalidInput(f"rules must be a list such as [boxed, marker]; got {rules!r:.60}.")
    for name in rules:
        if not isinstance(name, str) or name not in RULES:
            hint = nearest(str(name), RULES) or f" Known: {', '.join(RULES)}."
            raise UnknownName(f"no extraction rule named {name!r}.{hint}")
    return tuple(rules)


# -- reasoning -----------------------------------------------------------------------------

_FINAL = "<|channel|>final<|message|>"


def without_reasoning(text: str) -> str | None:
    """Return the text after the reasoning, or None if the text ends within it.

    Reasoning is everything up to the last ``</think>``, whether or not its ``<think>`` is part of
    the text (chat templates often open it in the prompt). Text with channels keeps the last final
    one.

    >>> without_reasoning("<think>2 + 2</think>4")
    '4'
    >>> without_reasoning("<think>2 + 2 is") is None
    True
    >>> without_reasoning("<|channel|>analysis<|message|>2 + 2<|end|>" + _FINAL + "4<|return|>")
    '4'
    """
    if "<|channel|>" in text:
        _, mark, text = text.rpartition(_FINAL)
        if not mark:
            return None
        text = text.partition("<|")[0]
    _, _, answer = text.rpartition("</think>")  # the whole text, if there is no such tag
    return None if "<think>" in answer else answer


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "boxed": find_boxed,
        "marker": find_marked,
        "last_number": find_last_number,
        "letter": find_letter,
        "code_block": find_code_block,
        "whole": find_whole,
    }
)
