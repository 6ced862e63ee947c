"""How the trials that are labelled were drawn, and the probability that each had of being drawn."""

from __future__ import annotations

from typing import Literal, get_args

from passband.errors import InvalidInput

__all__ = ["Design", "check_design"]

Design = Literal["spread", "trial", "problem", "verdict", "unknown", "chosen"]


def check_design(design: object) -> None:
    """Refuse a design that has no name here."""
    if not isinstance(design, str) or design not in get_args(Design):
        names = ", ".join(map(repr, get_args(Design)))
        raise InvalidInput(f"design must be one of {names}; got {design!r}.")
