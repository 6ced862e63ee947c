"""The built-in scorers, by kind: importing this package registers them and loads nothing heavy."""

from passband.score.builtin import choice, made, math, numeric, text, translation

__all__ = ["choice", "made", "math", "numeric", "text", "translation"]
