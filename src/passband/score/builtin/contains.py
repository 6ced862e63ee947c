"""`contains`: whether the target occurs in the answer."""

from __future__ import annotations

from passband.score.registry import register_scorer

__all__ = ["contains"]


@register_scorer("contains", bounds=(0.0, 1.0), equates=False)
def contains(answer: str, target: str, *, ignore_case: bool = False) -> bool:
    """Return whether the target occurs anywhere in the answer.

    >>> contains("It is Paris.", "Paris"), contains("It is Paris.", "paris", ignore_case=True)
    (True, True)
    """
    if ignore_case:
        answer, target = answer.lower(), target.lower()
    return target in answer
