"""The options of the scorer `code`, checked and put together."""

from __future__ import annotations

import math
from typing import Any, get_args

from passband.errors import InvalidInput
from passband.score.code.check import Rules
from passband.score.code.output import Comparison
from passband.score.sandbox.job import VerdictMode
from passband.score.sandbox.limits import Limits

__all__ = ["rules_of"]

_MEGABYTE = 1 << 20


def rules_of(
    timeout: float = 3.0,
    memory: float = 1024,
    verdict: str = "split",
    compare: str = "lines",
    tolerance: float | None = 0.0,
) -> Rules:
    """Return how programs are run; raise `InvalidInput` for options that cannot be.

    >>> rules_of(timeout=5).limits.wall
    10.0
    """
    _check_number("timeout", timeout, "seconds of processor time", 0, 3600)
    _check_number("memory", memory, "megabytes", 16, 1 << 20)
    _check_name("verdict", verdict, get_args(VerdictMode))
    _check_name("compare", compare, get_args(Comparison))
    if tolerance is not None and not (_is_number(tolerance) and 0 <= tolerance < 1):
        raise InvalidInput(f"tolerance must be a number from 0 to 1, or null; got {tolerance!r}.")
    limits = Limits(wall=2.0 * timeout, cpu=timeout, memory=int(memory * _MEGABYTE))
    return Rules(limits, verdict, compare, tolerance)  # type: ignore[arg-type]  # checked above


def _is_number(value: Any) -> bool:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and math.isfinite(value)


def _check_number(name: str, value: Any, unit: str, least: float, most: float) -> None:
    if not (_is_number(value) and least < value <= most):
        raise InvalidInput(
            f"{name} must be {unit}, above {least} and at most {most}; got {value!r}."
        )


def _check_name(name: str, value: Any, known: tuple[str, ...]) -> None:
    if value not in known:
        raise InvalidInput(f"{name} must be {' or '.join(known)}; got {value!r:.60}.")
