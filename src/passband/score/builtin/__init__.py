"""The built-in scorers, one file each, named as users call them.

Importing this package registers them; none of them imports anything heavy.
"""

from passband.score.builtin import (
    choice,
    contains,
    exact_match,
    f1,
    math,
    numeric,
    regex,
    translation,
)

__all__ = ["choice", "contains", "exact_match", "f1", "math", "numeric", "regex", "translation"]
