r"""Compare mathematical answers by math-verify; runs in a worker process.

Answers are read as LaTeX only. math-verify's other reader hands text to a parser of sympy that
evaluates Python, so it is never used.
"""

from __future__ import annotations

import itertools
import logging
import re
from typing import Any

_PI = re.compile(r"(?<![A-Za-z\\])pi(?![A-Za-z])")
_RELATIVE = 1e-4  # math-verify rounds to six decimals, whatever the size of a number


def equal(gold: str, answer: str) -> bool:
    """Return whether an answer equals the gold answer; the order matters.

    math-verify accepts the interval (-oo, 1) as an answer to x < 1, but not the other way round.
    """
    import math_verify

    # It warns that its own time limit is off; the parent process kills this one instead.
    logging.getLogger("math_verify").setLevel(logging.ERROR)
    exhausted: Exception | None = None
    for expected, parsed in itertools.product(_parse(gold), _parse(answer)):
        try:
            same = math_verify.verify(expected, parsed, timeout_seconds=None, raise_on_error=True)
            if same and not _differ(expected, parsed):
                return True
        except (MemoryError, RecursionError) as error:
            exhausted = error
        except Exception:
            continue  # sympy cannot compare these two, so they do not count as equal
    if exhausted is not None:
        raise exhausted
    return False


def warm_up() -> None:
    """Compare a few answers, so that no answer's time limit includes the imports."""
    for gold, answer in (("x = 5", "5"), ("x < 1", r"(-\infty, 1)"), (r"\sqrt{8}", r"2\sqrt{2}")):
        equal(gold, answer)


def _parse(text: str) -> list[Any]:
    import math_verify

    logging.getLogger("math_verify").setLevel(logging.ERROR)
    bare = _PI.sub(r"\\pi ", text.strip())
    latex = bare if "$" in bare.replace("\\$", "") else f"${bare}$"
    parsed: list[Any] = math_verify.parse(
        latex, [math_verify.LatexExtractionConfig()], parsing_timeout=None
    )
    return parsed


def _differ(number: Any, other: Any) -> bool:
    """Return whether two numbers only look equal because both round to 0: 2**-99, 2**-98."""
    if number == other or not (getattr(number, "is_number", 0) and getattr(other, "is_number", 0)):
        return False
    left, right = number.evalf(15), other.evalf(15)
    try:
        return bool(abs(left - right) > _RELATIVE * abs(left))
    except TypeError:  # infinities do not subtract
        return False
