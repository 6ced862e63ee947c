"""`exact_match` and `acc`: whether answer and target are the same text, as in lm-eval."""

from __future__ import annotations

import string
from collections.abc import Sequence

from passband.errors import InvalidInput
from passband.score.patterns import compile_pattern
from passband.score.registry import register_scorer

__all__ = ["check_regexes", "exact_match"]

_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_NO_DIGITS = str.maketrans("", "", string.digits)


def check_regexes(regexes_to_ignore: Sequence[str] | None = None, **options: object) -> bool:
    """Compile the patterns once; return whether one of them is slow."""
    if isinstance(regexes_to_ignore, str):
        raise InvalidInput(f"regexes_to_ignore must be a list; got {regexes_to_ignore!r}.")
    patterns = [compile_pattern(source) for source in regexes_to_ignore or ()]
    return any(pattern.slow for pattern in patterns)


@register_scorer("acc", bounds=(0.0, 1.0), check=check_regexes)
@register_scorer("exact_match", bounds=(0.0, 1.0), check=check_regexes)
def exact_match(
    answer: str,
    target: str,
    *,
    ignore_case: bool = False,
    ignore_punctuation: bool = False,
    ignore_numbers: bool = False,
    regexes_to_ignore: Sequence[str] | None = None,
) -> bool:
    """Return whether answer and target are the same text, apart from the parts to ignore.

    First every pattern of `regexes_to_ignore` is removed, then letters are made lower-case, then
    punctuation and digits (those of ASCII) go, as in lm-eval.

    >>> exact_match("$1,234", "1234"), exact_match("$1,234", "1234", regexes_to_ignore=[r"[$,]"])
    (False, True)
    >>> exact_match("Paris.", "paris", ignore_case=True, ignore_punctuation=True)
    True
    """
    if answer == target:
        return True
    for source in regexes_to_ignore or ():
        pattern = compile_pattern(source)
        answer, target = pattern.remove(answer), pattern.remove(target)
    if ignore_case:
        answer, target = answer.lower(), target.lower()
    if ignore_punctuation:
        answer, target = answer.translate(_NO_PUNCTUATION), target.translate(_NO_PUNCTUATION)
    if ignore_numbers:
        answer, target = answer.translate(_NO_DIGITS), target.translate(_NO_DIGITS)
    return answer == target
