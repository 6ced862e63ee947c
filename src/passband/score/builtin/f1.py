"""`f1`: the overlap of words between an answer and the target, as in SQuAD."""

from __future__ import annotations

import re
import string
from collections import Counter

from passband.score.registry import register_scorer

__all__ = ["f1"]

_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
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
