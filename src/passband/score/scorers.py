"""Scoring functions by name: those of passband, and those that users register.

>>> print(*sorted(functions))
acc bleu choice chrf contains exact_match f1 math numeric regex ter
"""

from __future__ import annotations

# Importing a module registers its functions; none of them imports anything heavy.
from passband.score import (  # noqa: F401
    choice,
    exact_match,
    matches,
    math_answer,
    numeric,
    token_f1,
    translation,
)
from passband.score.register import ScorerFunction, functions, register_scorer

__all__ = ["ScorerFunction", "functions", "register_scorer"]
