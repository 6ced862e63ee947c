"""`regex`: whether a pattern matches the answer."""

from __future__ import annotations

from passband.errors import InvalidInput
from passband.score.patterns import compile_pattern
from passband.score.registry import register_scorer
from passband.score.scorer import Reference

__all__ = ["regex"]


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
