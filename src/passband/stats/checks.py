"""Checks of what an interval is asked for, the same for one run and for a comparison of two."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Real

from passband.errors import InvalidInput, WrongType
from passband.stats.data.outcomes import Outcomes

__all__ = ["check_level", "check_outcomes", "check_over", "check_text", "names_in"]


def check_outcomes(name: str, value: object) -> None:
    """Refuse an argument that should be outcomes and is not.

    >>> check_outcomes("outcomes", [[0, 1]])
    Traceback (most recent call last):
    ...
    passband.errors.WrongType: outcomes must be Outcomes, see Outcomes.from_array; got list.
    """
    if not isinstance(value, Outcomes):
        kind = type(value).__name__
        raise WrongType(f"{name} must be Outcomes, see Outcomes.from_array; got {kind}.")


def check_over(over: object) -> None:
    """Refuse a target that is neither problems nor trials."""
    if not isinstance(over, str) or over not in ("problems", "trials"):
        raise InvalidInput(f"over must be 'problems' or 'trials'; got {over!r}.")


def check_level(level: object) -> None:
    """Refuse a level that is not a number strictly between 0 and 1.

    >>> check_level("0.95")
    Traceback (most recent call last):
    ...
    passband.errors.WrongType: level must be a number between 0 and 1; got '0.95'.
    """
    rule = f"level must be a number between 0 and 1; got {level!r}."
    if not isinstance(level, Real):
        raise WrongType(rule)
    if not 0.0 < float(level) < 1.0:
        raise InvalidInput(rule)


def check_text(name: str, value: object, example: str) -> None:
    """Refuse an argument that should be a name and is not text."""
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
