"""Score multiple-choice answers: `choice`."""

from __future__ import annotations

import re
import string

from passband.score.extract.rules import last_match
from passband.score.registry import register_scorer
from passband.score.scorer import Reference

_ALONE = re.compile(r"[(\[*$ ]*([A-Za-z])[)\]*$.: ]*")
_IN_FRONT = re.compile(r"[(\[*]{0,3}([A-Z])[)\].:*]{1,4}\s")
_NAMED = re.compile(
    r"(?:answer|option|choice)[*_ ]{0,4}(?:is|:)?[:*_ ]{0,4}[(\[*]{0,3}([A-Z])(?![A-Za-z'])",
    re.IGNORECASE,
)
_TEXT = re.compile(r"\\(?:text|textbf|mathrm|mathbf)\s*\{([^{}]*)\}")


@register_scorer("choice", bounds=(0.0, 1.0))
def choice(answer: str, reference: Reference, *, letters: bool = False) -> bool:
    """Return whether an answer picks a choice that is a target.

    Answer and target may be letters, "(B)", "B.", "b", "B. Paris", "Answer: B", or the text of the
    choice. An answer that picks none is wrong. With `letters` choices were asked for by letter: a
    letter alone is one even where it is also the text of a choice, targets are texts, and of two
    choices with the same text both are right.

    >>> cities = Reference(targets=("B",), choices=("London", "Paris", "Rome"))
    >>> [choice(text, cities) for text in ("(B)", "b", "B. Paris", "paris", "Answer: B", "C")]
    [True, True, True, True, True, False]
    >>> blood = Reference(targets=("B",), choices=("B", "AB", "A", "0"))
    >>> choice("A", blood, letters=True), choice("A", blood)
    (True, False)
    """
    if letters and reference.choices:
        return _is_right_letter(answer, reference)
    picked = read_choice(answer, reference.choices)
    if picked is None:
        return False
    return any(picked == read_choice(target, reference.choices) for target in reference.targets)


def _is_right_letter(answer: str, reference: Reference) -> bool:
    alone = _ALONE.fullmatch(_TEXT.sub(r"\1", answer).strip())
    letter = alone.group(1).upper() if alone else read_choice(answer, reference.choices)
    targets = set(map(_plain, reference.targets))
    if alone and letter and letter not in string.ascii_uppercase[: len(reference.choices)]:
        return _plain(alone.group(1)) in targets  # the text of a choice: z is none of A to D
    texts = zip(string.ascii_uppercase, reference.choices, strict=False)
    return letter in {name for name, text in texts if _plain(text) in targets}


def read_choice(text: str, choices: tuple[str, ...] = ()) -> str | None:
    """Return the capital letter of the choice that a text picks, or None.

    >>> read_choice("I pick option (C), since it rains."), read_choice("A dog") is None
    ('C', True)
    """
    text = _TEXT.sub(r"\1", text).strip()
    letters = string.ascii_uppercase[: len(choices) or 26]
    plain = _plain(text)
    for letter, words in zip(letters, choices, strict=False):
        if plain == _plain(words):  # before letters: the text of the second choice may be "A"
            return letter
    match = _ALONE.fullmatch(text) or _IN_FRONT.match(text) or last_match(_NAMED, text)
    letter = match.group(1).upper() if match else ""
    return letter if letter and letter in letters else None


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(". ")
