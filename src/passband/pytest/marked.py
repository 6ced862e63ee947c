"""A test with the marker `pass_rate`: the test itself is the function that is tried."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import pytest

from passband.errors import InvalidInput
from passband.pytest.check import check_choices, conclude
from passband.pytest.measure import measure_rate
from passband.pytest.trial import Trial
from passband.stats.sequential import RatePlan


class Marker(Protocol):
    """What is read of a marker."""

    @property
    def args(self) -> tuple[Any, ...]: ...
    @property
    def kwargs(self) -> Mapping[str, Any]: ...


def run_marked(function: Callable[..., Any], arguments: dict[str, Any], marker: Marker) -> None:
    """Run a test until its rate of success is decided, and end it accordingly."""
    __tracebackhide__ = True
    wants_trial = isinstance(arguments.get("trial"), Trial)

    def once(trial: Trial) -> Any:
        return function(**{**arguments, **({"trial": trial} if wants_trial else {})})

    plan, errors, undecided = _read(marker)
    result = measure_rate(once, plan, errors=errors)
    try:
        conclude(result, undecided)
    except AssertionError as error:
        message = str(error)
    else:
        return
    pytest.fail(message, pytrace=False)


def _read(marker: Marker) -> tuple[RatePlan, Any, Any]:
    """Return what a marker asks for."""
    __tracebackhide__ = True
    try:
        return pass_rate(*marker.args, **marker.kwargs)
    except (TypeError, InvalidInput) as error:
        message = str(error)
    pytest.fail(f"marker pass_rate: {message.removeprefix('pass_rate() ')}", pytrace=False)


def pass_rate(
    at_least: float,
    trials: int = 100,
    *,
    tolerance: float = 0.0,
    level: float = 0.95,
    errors: str = "raise",
    undecided: str | None = None,
) -> tuple[RatePlan, str, str | None]:
    """Take the arguments of a marker; it has its name for the sake of Python's messages."""
    check_choices(errors, undecided)
    return RatePlan(at_least, trials, tolerance, level), errors, undecided
