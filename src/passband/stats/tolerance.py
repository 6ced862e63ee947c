"""Tolerances below which a difference is a rounding error."""

from __future__ import annotations

__all__ = ["ROUNDING", "ROUNDING_DIGITS"]

ROUNDING = 1e-12  #: relative size below which a difference is what rounding leaves
ROUNDING_DIGITS = 12  #: decimals to which values are rounded before equal ones are counted
