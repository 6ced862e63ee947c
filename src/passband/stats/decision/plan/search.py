"""The least whole number at which a half-width that falls like a square root is small enough."""

from __future__ import annotations

import math
from collections.abc import Callable

__all__ = ["least"]

_CLOSE = 1.01  # simulated half-widths are not known more closely than that
_STEPS = 8  # of the secant; then the bracket is halved


def least(
    width: Callable[[int], float], target: float, start: float, low: int, high: int
) -> tuple[int, float] | None:
    """Return the least number from `low` to `high` whose width is at most `target`, and the width.

    Widths are taken to fall roughly with the square root of the number, and large numbers are found
    to 1 % only. None if even `high` is too wide.

    >>> least(lambda n: n**-0.5, 0.1, 7, 1, 10**6)
    (100, 0.1)
    >>> least(lambda n: n**-0.5, 0.1, 7, 1, 99) is None
    True
    """
    failed, passed, reached = low - 1, high + 1, math.inf
    number = math.ceil(min(max(start, low), high))
    step = 0
    while passed - failed > 1 and passed > _CLOSE * failed:
        now = width(number)
        if now <= target:
            passed, reached = number, now
        else:
            failed = number
        if passed - failed <= 1:
            break
        step += 1
        ratio = now / target
        guess = number * ratio * ratio  # infinite where ** would raise
        number = high if guess > high else _next(guess, failed, passed, step)
    return (passed, reached) if reached <= target else None


def _next(guess: float, failed: int, passed: int, step: int) -> int:
    """Return the guess if it lies within the bracket and is still worth a try, or a middle."""
    if step <= _STEPS and guess < passed and math.ceil(guess) > failed:
        return min(math.ceil(guess), passed - 1)
    middle = math.isqrt(max(failed, 1) * passed)
    return min(max(middle, failed + 1), passed - 1)
