"""Check the arguments that the statistics share: level, target, numbers, names.

``as_...`` returns the argument as the type that is computed with; ``check_...`` returns nothing.
Both raise `WrongType` for another type and `InvalidInput` for a value out of range, with the name
of the argument, the rule and the value. Nothing heavy is imported, so that the command line can
use them before it needs numpy.

`ROUNDING` is the tolerance below which a difference is a rounding error.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Literal, get_args

from passband.errors import InvalidInput, UnknownName, WrongType, nearest

Over = Literal["problems", "trials"]

ROUNDING = 1e-12  #: relative size below which a difference is what rounding leaves
ROUNDING_DIGITS = 12  #: decimals to which values are rounded before equal ones are counted


# -- numbers -----------------------------------------------------------------------------------


def as_number(name: str, value: object) -> float:
    """Return a real number as a float; one of single precision as it is written.

    >>> import numpy as np
    >>> as_number("delta", np.float32(0.95))
    0.95
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        raise WrongType(f"{name} must be a number; got {value!r}.")
    short = getattr(value, "itemsize", 8) < 8 and not isinstance(value, Integral)
    try:
        return float(str(value)) if short else float(value)
    except OverflowError:
        raise InvalidInput(f"{name} is too large a number.") from None


def as_share(name: str, value: object) -> float:
    """Return a number strictly between 0 and 1.

    >>> as_share("power", 1.5)
    Traceback (most recent call last):
    ...
    passband.errors.InvalidInput: power must be a number between 0 and 1; got 1.5.
    """
    rule = f"{name} must be a number between 0 and 1; got {value!r}."
    if isinstance(value, bool) or not isinstance(value, Real):
        raise WrongType(rule)
    share = as_number(name, value)
    if not 0.0 < share < 1.0:
        raise InvalidInput(rule)
    return share


def as_level(level: object, name: str = "level") -> float:
    """Return a confidence level, which is strictly between 0 and 1.

    >>> as_level("0.95")
    Traceback (most recent call last):
    ...
    passband.errors.WrongType: level must be a number between 0 and 1; got '0.95'.
    """
    return as_share(name, level)


def as_positive(name: str, value: object) -> float:
    """Return a finite number above 0."""
    number = as_number(name, value)
    if not (math.isfinite(number) and number > 0.0):
        raise InvalidInput(f"{name} must be a number above 0; got {value!r}.")
    return number


def as_variance(name: str, value: object) -> float:
    """Return a finite number of at least 0."""
    number = as_number(name, value)
    if not (math.isfinite(number) and number >= 0.0):
        raise InvalidInput(f"{name} is a variance and must not be negative; got {value!r}.")
    return number


def as_correlation(correlation: object) -> float:
    """Return a number from -1 to 1."""
    number = as_number("correlation", correlation)
    if not -1.0 <= number <= 1.0:
        raise InvalidInput(f"correlation must be between -1 and 1; got {correlation!r}.")
    return number


def as_whole(name: str, value: object) -> int:
    """Return a whole number of at least 1."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise WrongType(f"{name} must be a whole number; got {value!r}.")
    if value < 1:
        raise InvalidInput(f"{name} must be at least 1; got {value}.")
    return int(value)


# -- everything else ---------------------------------------------------------------------------


def check_over(over: object) -> None:
    """Refuse a target that is neither "problems" nor "trials"."""
    if not isinstance(over, str) or over not in get_args(Over):
        raise InvalidInput(f"over must be 'problems' or 'trials'; got {over!r}.")


def check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Refuse a value that is none of the named choices, with the nearest of them."""
    expected = f"{name} must be one of {', '.join(choices)}; got {value!r}."
    if not isinstance(value, str):
        raise WrongType(expected)
    if value not in choices:
        raise UnknownName(f"{expected}{nearest(value, choices)}")


def check_text(name: str, value: object, example: str) -> None:
    """Refuse an argument that is not text."""
    if not isinstance(value, str):
        raise WrongType(f"{name} must be text such as {example!r}; got {value!r}.")


def names_in(metrics: object) -> list[str]:
    """Return the metric names of a list of them.

    >>> names_in(None)
    Traceback (most recent call last):
    ...
    passband.errors.WrongType: metrics must be the name of a metric or a list of names; got None.
    """
    names = list(metrics) if isinstance(metrics, Iterable) else None
    if names is None or not all(isinstance(name, str) for name in names):
        raise WrongType(
            f"metrics must be the name of a metric or a list of names; got {metrics!r}."
        )
    return names
