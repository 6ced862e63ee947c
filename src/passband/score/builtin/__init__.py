"""The built-in scorers, one file each, named as users call them.

Importing this package registers them; none of them imports anything heavy.
"""

from passband.score.builtin import (
    bleu,
    choice,
    chrf,
    code,
    command,
    contains,
    exact_match,
    f1,
    judge,
    math,
    numeric,
    regex,
    ter,
)

__all__ = [
    "bleu",
    "choice",
    "chrf",
    "code",
    "command",
    "contains",
    "exact_match",
    "f1",
    "judge",
    "math",
    "numeric",
    "regex",
    "ter",
]
