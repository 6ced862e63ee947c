"""Numbers that a plan is asked for: Python's or numpy's, and within their range."""

from __future__ import annotations

import math
import operator

import numpy as np

from passband.errors import InvalidInput, WrongType

__all__ = ["as_number", "as_positive", "as_share", "as_variance", "as_whole"]


def as_number(name: str, value: object) -> float:
    """Return a number as a float.

    >>> as_number("delta", np.float32(0.5))
    0.5
    """
    if isinstance(value, (bool, np.bool_)) or not isinstance(
        value, (int, float, np.integer, np.floating)
    ):
        raise WrongType(f"{name} must be a number; got {value!r}.")
    try:
        return float(value)
    except OverflowError:
        raise InvalidInput(f"{name} is too large a number.") from None


def as_positive(name: str, value: object) -> float:
    found = as_number(name, value)
    if not (math.isfinite(found) and found > 0.0):
        raise InvalidInput(f"{name} must be a number above 0; got {value!r}.")
    return found


def as_variance(name: str, value: object) -> float:
    found = as_number(name, value)
    if not (math.isfinite(found) and found >= 0.0):
        raise InvalidInput(f"{name} is a variance and must not be negative; got {value!r}.")
    return found


def as_share(name: str, value: object) -> float:
    """Return a number between 0 and 1, as it was written if numpy's is a short one.

    >>> as_share("level", np.float32(0.95))
    0.95
    """
    found = as_number(name, value)
    if isinstance(value, (np.float16, np.float32)):
        found = float(str(value))
    if not 0.0 < found < 1.0:
        raise InvalidInput(f"{name} must be a number between 0 and 1; got {value!r}.")
    return found


def as_whole(name: str, value: object) -> int:
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool):
        raise WrongType(f"{name} must be a whole number; got {value!r}.")
    found = operator.index(value)
    if found < 1:
        raise InvalidInput(f"{name} must be at least 1; got {found}.")
    return found
