"""Call the function under test once, and say whether it succeeded."""

from __future__ import annotations

import asyncio
import hashlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from passband.errors import WrongType, describe

Errors = Literal["raise", "fail"]
_NO_CASE: Any = object()


@dataclass(frozen=True)
class Trial:
    """Which trial is being made; a function under test that has an argument `trial` gets it."""

    number: int  #: from 0
    seed: int  #: the same in every session, unless --passband-seed is given
    case: Any = None


class Outcome(NamedTuple):
    """The outcome of a trial, and the reason of a failure."""

    score: float
    reason: str = ""


def seed_of(name: str, session: int, *numbers: int) -> int:
    """Return a seed below 2^31 for a trial of the test with this name.

    >>> seed_of("test_a.py::test_x", 0, 1) == seed_of("test_a.py::test_x", 0, 1)
    True
    """
    text = "\0".join([name, *map(str, (session, *numbers))])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") >> 1


class Caller:
    """Calls a function for one trial after the other, with the arguments that it asks for.

    These are `trial` (a `Trial`), `seed` and `case`, by name; a case goes to the first parameter
    with another name, if there is one. Coroutines run in one event loop, closed at the end.
    """

    def __init__(self, function: Callable[..., object], *, errors: Errors, graded: bool) -> None:
        self._function, self._errors, self._graded = function, errors, graded
        self._loop: asyncio.AbstractEventLoop | None = None
        self._wanted, self._first = _parameters(function)

    def __enter__(self) -> Caller:
        return self

    def __exit__(self, *_: object) -> None:
        if self._loop is not None:
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.close()

    def outcome(self, trial: Trial, *, has_case: bool = False) -> Outcome:
        """Make a trial: an AssertionError is a failure, any other error depends on the policy."""
        import pytest

        try:
            value = self._call(trial, has_case)
        except pytest.xfail.Exception:  # which is a kind of fail.Exception
            raise
        except (AssertionError, pytest.fail.Exception) as error:
            return Outcome(0.0, describe(error))
        except Exception as error:
            if self._errors == "fail":
                return Outcome(0.0, describe(error))
            _say_where(error, trial, has_case)
            raise
        return _outcome_of(value, self._graded)

    def _call(self, trial: Trial, has_case: bool) -> object:
        offered: Mapping[str, object] = {"trial": trial, "seed": trial.seed}
        if has_case:
            offered = {**offered, "case": trial.case}
        named = {name: value for name, value in offered.items() if name in self._wanted}
        if has_case and "case" not in named and self._first is not None:
            value = self._function(trial.case, **named)
        else:
            value = self._function(**named)
        return self._awaited(value) if inspect.isawaitable(value) else value

    def _awaited(self, value: object) -> Any:
        if self._loop is None:
            _refuse_running_loop(value)
            self._loop = asyncio.new_event_loop()
        return self._loop.run_until_complete(_await(value))


def _refuse_running_loop(value: object) -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    if inspect.iscoroutine(value):
        value.close()
    raise WrongType(
        "an async function cannot be tried while an event loop is running: make the assertion in a "
        "test that is not async, or try the function there and give the results as a list."
    )


async def _await(value: Any) -> object:
    return await value


def _parameters(function: Callable[..., object]) -> tuple[set[str], str | None]:
    """Return the names of a function's parameters, and the first that can take a case."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # some built-in functions have none
        return set(), ""
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    named = {one.name for one in parameters if one.kind is not inspect.Parameter.POSITIONAL_ONLY}
    free = [one.name for one in parameters if one.kind in positional]
    free += [one.name for one in parameters if one.kind is inspect.Parameter.VAR_POSITIONAL]
    return named, next((name for name in free if name not in ("trial", "seed", "case")), None)


def _outcome_of(value: Any, graded: bool) -> Outcome:
    """Convert a trial's return value: None is a success, else True, False, 1 or 0."""
    if value is None:
        return Outcome(1.0)
    try:
        score = float(value) if not isinstance(value, str) else float("nan")
    except (TypeError, ValueError):
        score = float("nan")
    if score in (0.0, 1.0) or (graded and 0.0 <= score <= 1.0):
        return Outcome(score, "" if score == 1.0 else f"returned {value!r}")
    among = "a number from 0 to 1" if graded else "True, False, 1, 0"
    raise WrongType(
        f"a trial must return {among} or None (a success), or raise AssertionError; got {value!r}."
    )


def _say_where(error: Exception, trial: Trial, has_case: bool) -> None:
    if hasattr(error, "add_note"):  # from Python 3.11 on
        case = f" of case {trial.case!r}" if has_case else ""
        error.add_note(
            f'in trial {trial.number}{case} (seed {trial.seed}); errors="fail" counts an error '
            "like this as a failed trial"
        )
