"""Sandboxes for tests: real ones where they are installed, and what is tried in them."""

from collections.abc import Iterator
from functools import cache

import pytest

from passband.errors import PassbandError
from passband.score.sandbox.find import make_sandbox
from passband.score.sandbox.protocol import Limits, UnitTests
from passband.score.sandbox.zygotes import Zygotes

AMPLE = Limits(wall=60, cpu=30)  # for a busy machine
SQUARE = "def square(x):\n    return x * x\n"
CHECK = "def check(candidate):\n    assert candidate(2) == 4\n    assert candidate(3) == 9\n"


def square(program: str = SQUARE, test: str = CHECK, **options: str) -> UnitTests:
    """Return tests of a function that squares."""
    return UnitTests(program, test, "square", **options)  # type: ignore[arg-type]


@cache
def reason_for_none() -> str | None:
    """Return why there is no bubblewrap to test; None if there is."""
    try:
        sandbox = make_sandbox("bubblewrap", size=1)
        sandbox.facts()
    except PassbandError as error:
        return str(error)
    sandbox.close()
    return None


def opened(name: str, size: int = 1) -> Iterator[Zygotes]:
    """Yield a new sandbox; skip the test where it cannot be made."""
    if name == "bubblewrap" and (reason := reason_for_none()):
        pytest.skip(reason)
    sandbox = make_sandbox(name, size)
    try:
        yield sandbox
    finally:
        sandbox.close()
