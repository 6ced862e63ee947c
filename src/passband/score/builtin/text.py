"""Score answers as text: `exact_match` and `acc` as in lm-eval, `contains`, `regex`, `f1`."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence

from passband.errors import InvalidInput
from passband.score.patterns import compile_pattern
from passband.score.registry import register_scorer
from passband.score.scorer import Reference

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


@register_scorer("contains", bounds=(0.0, 1.0), equates=False)
def contains(answer: str, target: str, *, ignore_case: bool = False) -> bool:
    """Return whether the target occurs anywhere in the answer.

    >>> contains("It is Paris.", "Paris"), contains("It is Paris.", "paris", ignore_case=True)
    (True, True)
    """
    if ignore_case:
        answer, target = answer.lower(), target.lower()
    return target in answer


def _check(pattern: str | None = None) -> bool:
    return pattern is not None and compile_pattern(pattern).slow


@register_scorer("regex", bounds=(0.0, 1.0), equates=False, check=_check)
def regex(answer: str, reference: Reference, *, pattern: str | None = None) -> bool:
    """Return whether a pattern matches anywhere in the answer.

    Without the option `pattern`, the targets of the problem are the patterns.

    >>> regex("I cannot help.", Reference(()), pattern="^I (cannot|will not)")
    True
    >>> regex("colour", Reference(("^colou?r$",)))
    True
    """
    patterns = reference.targets if pattern is None else (pattern,)
    if not patterns:
        raise InvalidInput("regex needs a target or the option pattern.")
    return any(compile_pattern(source).search(answer) for source in patterns)


_ARTICLE = re.compile(r"\b(?:a|an|the)\b")


@register_scorer("f1", bounds=(0.0, 1.0))
def f1(answer: str, target: str) -> float:
    """Return the harmonic mean of precision and recall over words.

    Words are lower-case, without punctuation and articles; each counts as often as it occurs in
    both. Precision is their share of the answer's words, recall that of the target's. If either
    side has no words, the score is 1 if both have none and else 0. Rajpurkar et al. (2016),
    arXiv:1606.05250.

    >>> f1("The cat sat.", "a cat"), f1("the", "an")
    (0.6666666666666666, 1.0)
    """
    words, expected = _words(answer), _words(target)
    if not words or not expected:
        return float(words == expected)
    common = sum((Counter(words) & Counter(expected)).values())
    return 2 * common / (len(words) + len(expected))


def _words(text: str) -> list[str]:
    return _ARTICLE.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split()
