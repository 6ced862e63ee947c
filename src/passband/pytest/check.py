"""Assert success rates, of one function or of two against each other.

A test with the marker `pass_rate` is itself the function that is tried.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NoReturn, Protocol, get_args

import pytest

from passband.errors import InvalidInput, nearest
from passband.pytest.measure import (
    RoundsTest,
    measure_cases,
    measure_pair,
    measure_rate,
    measure_results,
    rounds_of,
)
from passband.pytest.plugin import session
from passband.pytest.result import RateResult
from passband.pytest.trial import Errors, Trial
from passband.stats import as_level, as_share
from passband.stats.sequential import RatePlan

Undecided = Literal["skip", "fail", "xfail", "pass"]
_TRIALS = 100  # by default, without cases
_ENOUGH = 10_000  # trials within which any rate that is asked for with cases could be shown


def assert_pass_rate(
    function: Callable[..., Any] | Sequence[Any],
    at_least: float,
    *,
    trials: int | None = None,
    cases: Sequence[Any] | None = None,
    tolerance: float = 0.0,
    level: float = 0.95,
    errors: Errors = "raise",
    undecided: Undecided | None = None,
    name: str = "",
) -> RateResult:
    """Try a function until its success rate is shown to be high enough, or not, or `trials` end.

    It fails where the rate is shown to be below `at_least` and passes where it is shown to be above
    `at_least - tolerance`; each false verdict has probability (1 - level) / 2 at most, though it
    looks after every trial. Else it is undecided, which skips the test unless `undecided` or
    `passband_undecided` says otherwise. The function is called with what it names among `trial`,
    `seed` and `case`. With `cases` it is the mean rate over them, and `trials` counts those of each
    case. A list of results in place of a function is looked at once.

    >>> assert_pass_rate([True] * 60, at_least=0.9).message()
    'the pass rate is above 0.9: 1.000 [0.940, 1.000] at level 0.95 after 60 trials (at most 60).'
    """
    __tracebackhide__ = True
    check_choices(errors, undecided)
    if not callable(function):
        if trials is not None or cases is not None:
            raise InvalidInput(
                "trials and cases say how a function is tried; results that are there already "
                "have neither."
            )
        result = measure_results(function, at_least, tolerance, level)
    elif cases is not None:
        plan = RatePlan(at_least, _ENOUGH, tolerance, level)
        result = measure_cases(function, cases, plan, rounds_of(cases, trials), errors=errors)
    else:
        plan = RatePlan(at_least, _TRIALS if trials is None else trials, tolerance, level)
        result = measure_rate(function, plan, errors=errors)
    return conclude(replace(result, name=name), undecided)


def assert_no_worse(
    new: Callable[..., Any],
    base: Callable[..., Any],
    *,
    tolerance: float,
    trials: int | None = None,
    cases: Sequence[Any] | None = None,
    level: float = 0.95,
    errors: Errors = "raise",
    undecided: Undecided | None = None,
    name: str = "",
) -> RateResult:
    """Try two functions in turn until the new one is shown to be worse, or no worse, or trials end.

    It fails where the success rate of `new` is shown to be below that of `base`, and passes where
    it is shown to be less than `tolerance` below it; each false verdict has probability
    (1 - level) / 2 at most. `trials` (200 without cases) are those of each function and case.

    >>> assert_no_worse(lambda: True, lambda: True, tolerance=0.1).trials
    67
    """
    __tracebackhide__ = True
    check_choices(errors, undecided)
    as_share("tolerance", tolerance)
    rounds = rounds_of(cases, trials)
    test = RoundsTest(0.0, -tolerance, tolerance, as_level(level), rounds, pair=True)
    result = measure_pair(new, base, test, cases, errors=errors)
    return conclude(replace(result, name=name), undecided)


def conclude(result: RateResult, undecided: Undecided | None) -> RateResult:
    """Record a result for the table at the end, and end the test as its verdict asks."""
    __tracebackhide__ = True
    session.results.append(result)
    if result.verdict == "fail":
        raise AssertionError(result.message())
    if result.verdict == "undecided":
        _end_undecided(result.message(), undecided or session.undecided)
    return result


def _end_undecided(message: str, how: str) -> None:
    __tracebackhide__ = True
    import pytest

    if how == "fail":
        raise AssertionError(message)
    if how == "skip":
        pytest.skip(message)
    if how == "xfail":
        pytest.xfail(message)


def check_choices(errors: str, undecided: str | None) -> None:
    """Refuse misspelt choices before anything is tried."""
    if errors not in get_args(Errors):
        _unknown("errors", errors, get_args(Errors))
    if undecided is not None and undecided not in get_args(Undecided):
        _unknown("undecided", undecided, get_args(Undecided))


def _unknown(what: str, value: str, known: tuple[str, ...]) -> NoReturn:
    hint = nearest(str(value), known)
    raise InvalidInput(f"{what} must be one of {', '.join(known)}; got {value!r}.{hint}")


class Marker(Protocol):
    """The attributes of a marker that are used."""

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
    """Parse the arguments of a marker."""
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
