r"""Locate an extracted answer in its completion.

>>> steps = steps_of([{"function": "extract", "rules": ["last_number"]}])
>>> text = "12 apples and 1,200 pears are 1,212."
>>> start, end = find_span(text, "1212", steps)
>>> text[start:end]
'1,212'

Extraction returns a text, not a place, and may have changed it: commas are gone, signs are
plain. A candidate is the place if the answer comes out differently when other letters and digits
are put there, or none at all.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence

from passband.errors import PassbandError
from passband.score.filtering import FilterStep, apply_steps, make_step
from passband.score.scorer import Options, Reference

_LONGEST = 500_000  # characters of a text that is searched
_LONGEST_ANSWER = 5_000
_LONGEST_PATTERN = 100  # a longer answer is searched as it is, whose time no text can stretch
_CANDIDATES = 4  # places that are tried, from the end
_MINUS = "[-\u2212\u2013\ufe63\uff0d]"
_BETWEEN = "[{}, '\u00a0\u2009\u202f]{0,3}"  # what extraction takes out of numbers
_OTHER = "\u00a4"  # nothing that an answer has
_FOLLOWING = str.maketrans(
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "1234567898bcdefghijklmnopqrstuvwxyzyBCDEFGHIJKLMNOPQRSTUVWXYZY",
)

Span = tuple[int, int]


def steps_of(specs: Sequence[Options | str] | None) -> list[FilterStep] | None:
    """Return the filters of a recorded scorer; None where they cannot be made here."""
    if specs is None:
        return None
    try:
        return [make_step(spec) for spec in specs]
    except (PassbandError, ValueError, TypeError):
        return None


def find_span(
    text: str,
    answer: str,
    steps: Sequence[FilterStep] | None,
    reference: Reference | None = None,
) -> Span | None:
    """Return where in a text the answer was found; None where that is not certain.

    `steps` are the filters that extracted it. Without them, those of another tool, the place is
    certain only if there is just one.
    """
    if not answer.strip() or len(text) > _LONGEST or len(answer) > _LONGEST_ANSWER:
        return None
    places = _candidates(text, answer)
    if steps is None:
        return places[0] if len(places) == 1 else None
    try:
        return _overwritten(text, places, steps, reference or Reference(()))
    except Exception:  # of a filter that somebody registered; only the mark is lost
        return None


def _candidates(text: str, answer: str) -> list[Span]:
    """Return the last places where an answer can have been read, the last one first."""
    if len(answer) > _LONGEST_PATTERN:
        start = text.rfind(answer)
        return [] if start < 0 else [(start, start + len(answer))]
    pattern = re.compile(_pattern(answer))
    found = deque((match.span() for match in pattern.finditer(text)), maxlen=_CANDIDATES)
    return list(reversed(found))


def _pattern(answer: str) -> str:
    """Return a pattern of an answer as it may have been written, and not within a word."""
    inner = _BETWEEN if re.fullmatch(r"[-0-9.eE/+]+", answer) else ""
    letters = [_MINUS if letter == "-" else re.escape(letter) for letter in answer.strip()]
    before = r"(?<!\w)" if answer.strip()[0].isalnum() else ""
    after = r"(?!\w)" if answer.strip()[-1].isalnum() else ""
    return f"{before}{inner.join(letters)}{after}"


def _overwritten(
    text: str, places: Sequence[Span], steps: Sequence[FilterStep], reference: Reference
) -> Span | None:
    """Return the first place that changes the answer when it is overwritten."""
    answer = apply_steps(steps, text, reference).answer
    for start, end in places:
        for other in (text[start:end].translate(_FOLLOWING), _OTHER * (end - start)):
            changed = f"{text[:start]}{other}{text[end:]}"
            if apply_steps(steps, changed, reference).answer != answer:
                return start, end
    return None
