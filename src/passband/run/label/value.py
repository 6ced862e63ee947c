"""Labels as people write them: pass or fail, yes or no, 1 or 0, or numbers of a scale."""

from __future__ import annotations

import math
from typing import Any

from passband.errors import InvalidInput

_PASS = frozenset(("pass", "passed", "yes", "y", "true", "t", "right", "correct", "1", "1.0"))
_FAIL = frozenset(("fail", "failed", "no", "n", "false", "f", "wrong", "incorrect", "0", "0.0"))


def is_empty(cell: Any) -> bool:
    """Return whether a cell holds no label yet."""
    return cell is None or cell != cell or not str(cell).strip()


def parse_label(cell: Any, scale: tuple[float, float] | None = None) -> float | None:
    """Return the number of a label; None where there is none yet.

    With a `scale`, labels are numbers from its least to its largest; without, 0 or 1.

    >>> parse_label("Pass"), parse_label(" no "), parse_label(""), parse_label("3", (0, 4))
    (1.0, 0.0, None, 3.0)
    """
    if is_empty(cell):
        return None
    text = str(cell).strip().casefold()
    if scale is None:
        if text in _PASS or text in _FAIL:
            return float(text in _PASS)
        raise InvalidInput(
            f"{cell!r:.60} is no label; write pass or fail (or yes and no, 1 and 0), or nothing "
            f"where there is none yet.{_scale_hint(text)}"
        )
    return _graded(cell, text, scale)


def _graded(cell: Any, text: str, scale: tuple[float, float]) -> float:
    number = _number(text)
    low, high = scale
    if number is None or not low <= number <= high:
        raise InvalidInput(
            f"{cell!r:.60} is no label; with --scale {low:g} {high:g}, a label is a number from "
            f"{low:g} to {high:g}, or nothing where there is none yet."
        )
    return number


def _scale_hint(text: str) -> str:
    is_number = _number(text) is not None
    return " Labels of another scale need it: --scale 0 4." if is_number else ""


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def parse_scale(scale: tuple[float, float] | None) -> tuple[float, float] | None:
    """Return the scale of labels, checked; None for labels of pass and fail."""
    if scale is None:
        return None
    low, high = scale
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise InvalidInput(
            f"a scale is two numbers, the least first, such as --scale 0 4; got {low:g} {high:g}."
        )
    return low, high


def label_word(value: float, scale: tuple[float, float] | None = None) -> str:
    """Return a label as it is written into a file.

    >>> label_word(1.0), label_word(0.0), label_word(3.0, (0, 4))
    ('pass', 'fail', '3')
    """
    if scale is None:
        return "pass" if value == 1.0 else "fail"
    return f"{value:g}"
