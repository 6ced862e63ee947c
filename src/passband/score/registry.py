"""Register scoring functions.

>>> {"choice", "code", "exact_match", "math"} <= set(scorers)
True
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import inspect
import math
import numbers
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from passband.errors import InvalidInput, WrongType, nearest
from passband.registry import Registry

if TYPE_CHECKING:
    from passband.score.filtering import FilterStep
    from passband.score.scorer import Options, Scorer


F = TypeVar("F", bound=Callable[..., Any])
_SLACK = 1e-9  # rounding: sacrebleu's best BLEU is a little above 100


@dataclass(frozen=True)
class Extra:
    """A package that has to be installed on top of passband."""

    module: str
    distribution: str
    name: str  # of the extra: pip install 'passband[name]'

    def check(self, what: str) -> None:
        """Raise if it is not installed; imports nothing."""
        if importlib.util.find_spec(self.module) is None:
            raise InvalidInput(
                f"{what} needs {self.distribution}; install it with "
                f"pip install 'passband[{self.name}]'."
            )

    @property
    def version(self) -> str:
        return importlib.metadata.version(self.distribution)


Bounds = tuple[float | None, float | None]  # the least and the largest score; None: no bound
MakeScorer = Callable[[str, "Options", "Sequence[FilterStep]"], "Scorer"]


@dataclass(frozen=True)
class ScorerFunction:
    """A function that scores an answer, and its properties."""

    name: str
    call: Callable[..., Any]
    best: float = 1.0
    worst: float | None = 0.0  # None: above the best by as much as can be
    bounds: Bounds | None = None
    takes_target: bool = True  # called once per target
    takes_reference: bool = False  # called once, with the whole reference
    takes_trial: bool = False
    is_async: bool = False
    slow: bool = False
    equates: bool = True
    check: Callable[..., bool] | None = None
    extra: Extra | None = None
    is_registered: bool = True  # False: a task's own code, which no name leads to
    make: MakeScorer | None = None  # of a scorer that is more than a function

    @property
    def lower_is_better(self) -> bool:
        """Whether the best score is the lowest."""
        return self.worst is None or self.best < self.worst

    @property
    def scale(self) -> dict[str, Any]:
        """The part of a scorer's specification that says which scores there are, and the best.

        Where there are no bounds, none is better than the best, unless that is the usual 0 or 1.
        """
        usual, end = (0.0, 0) if self.lower_is_better else (1.0, 1)
        bounds: list[float | None] = list(self.bounds or (None, None))
        if self.bounds is None and self.best != usual:
            bounds[end] = self.best
        stated: dict[str, Any] = {} if bounds == [None, None] else {"bounds": bounds}
        return stated | ({"lower_is_better": True} if self.lower_is_better else {})

    def better(self, one: float, other: float) -> bool:
        """Return whether one score is better than another."""
        return one < other if self.lower_is_better else one > other

    def is_best(self, value: float) -> bool:
        """Return whether no score could be better."""
        return not self.better(self.best, value)

    def prepared(self, options: Options) -> bool:
        """Check the options once; return whether a score may take milliseconds."""
        skipped = 1 + self.takes_target
        reserved = ("reference", "trial")
        check_options(
            f"scorer {self.name!r}", self.call, options, skipped=skipped, reserved=reserved
        )
        if self.extra is not None:
            self.extra.check(self.name)
        return (self.check(**options) if self.check is not None else False) or self.slow

    def number(self, value: Any) -> float:
        """Return the result of the function as a score; raise if it is not one."""
        if value is True or value is False:
            return float(value)
        if not isinstance(value, numbers.Real) and type(value).__name__ not in ("bool_", "bool"):
            raise WrongType(f"a scorer must return a number; got {value!r}.")
        number = float(value)  # numpy's truth values are not real numbers, but become ones
        if not math.isfinite(number):
            raise InvalidInput(f"a scorer must return a finite number; got {number}.")
        if self.bounds is not None:
            low, high = self.bounds
            if (low is not None and number < low - _SLACK * (1 + abs(low))) or (
                high is not None and number > high + _SLACK * (1 + abs(high))
            ):
                raise InvalidInput(f"{self.name} returned {number:g}, outside {_range(low, high)}.")
        return number


def _range(low: float | None, high: float | None) -> str:
    return f"{'-inf' if low is None else f'{low:g}'} to {'inf' if high is None else f'{high:g}'}"


scorers: Registry[ScorerFunction] = Registry("scorer", homes=("passband.score.builtin",))


def register_scorer(
    name: str,
    *,
    best: float = 1.0,
    worst: float = 0.0,
    bounds: Bounds | None = None,
    slow: bool = False,
    equates: bool = True,
    check: Callable[..., bool] | None = None,
    extra: Extra | None = None,
) -> Callable[[F], F]:
    """Register a scoring function, as a decorator.

    The function takes the answer, a target, and options by name; it returns a number or a bool.
    With several targets it is called for each, and the best score counts. A function with an
    argument named `reference` is called once, with the `Reference`, instead. An argument named
    `trial` gets the `ScoredTrial`. The function may be async.

    best, worst: the score of a right answer, and of no answer at all. If the best is the lower
        one, lower scores are better.
    bounds: the least and the largest possible score, None where there is no bound. Intervals end
        there, and a score beyond them is an error.
    slow: one score may take milliseconds; it is then computed outside the event loop of a run.
    equates: a best score means that answer and target are the same answer, so that votes may be
        counted with it. False for a test that holds for different answers, such as "contains".
    check: called once with the options; raises `InvalidInput` if they are wrong, returns whether
        they make it slow.
    extra: a package it needs.

    >>> @register_scorer("longer")
    ... def longer(answer, target, *, by=0):
    ...     return len(answer) > len(target) + by
    >>> scorers.remove("longer")
    """
    _check_bounds(name, bounds, best, worst)

    def add(function: F) -> F:
        takes = _arguments(name, function)
        is_async = _is_async(function)
        scorers.add(
            name,
            ScorerFunction(
                name,
                function,
                best,
                worst,
                bounds,
                takes_target="target" in takes,
                takes_reference="reference" in takes,
                takes_trial="trial" in takes,
                is_async=is_async,
                slow=slow or is_async,
                equates=equates,
                check=check,
                extra=extra,
            ),
        )
        return function

    return add


def _check_bounds(name: str, bounds: Bounds | None, best: float, worst: float) -> None:
    if bounds is None:
        return
    low, high = bounds
    if (low is not None and min(best, worst) < low) or (
        high is not None and max(best, worst) > high
    ):
        raise InvalidInput(
            f"scorer {name!r}: best {best:g} and worst {worst:g} must be within the bounds, "
            f"{_range(low, high)}."
        )


def _arguments(name: str, function: Callable[..., Any]) -> set[str]:
    """Return which of target, reference and trial a function takes beside the answer."""
    parameters = inspect.signature(function).parameters
    takes = {argument for argument in ("reference", "trial") if argument in parameters}
    positional = [
        parameter.name
        for parameter in parameters.values()
        if parameter.kind not in (parameter.KEYWORD_ONLY, parameter.VAR_KEYWORD)
        and parameter.name not in takes
    ]
    if "reference" not in takes and (len(positional) > 1 or _is_variadic(parameters)):
        takes.add("target")
    if not takes:
        raise InvalidInput(
            f"scorer {name!r}: the function must take an answer and a target, a reference or a "
            f"trial; it takes {', '.join(parameters) or 'nothing'}."
        )
    return takes


def _is_variadic(parameters: Mapping[str, inspect.Parameter]) -> bool:
    return any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters.values())


def _is_async(function: Callable[..., Any]) -> bool:
    call = getattr(function, "__call__", None)  # noqa: B004  an object may be async to call
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


def check_options(
    what: str,
    function: Callable[..., Any],
    options: Options,
    *,
    skipped: int = 0,
    reserved: Collection[str] = (),
) -> None:
    """Raise if a function has no such options.

    The first `skipped` arguments and the `reserved` ones are passed by passband, so they are none.
    """
    parameters = list(inspect.signature(function).parameters.values())
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return
    names = [parameter.name for parameter in parameters[skipped:] if parameter.name not in reserved]
    for option in options:
        if option not in names:
            hint = nearest(option, names) or f" Known: {', '.join(names) or 'none'}."
            raise InvalidInput(f"{what} has no option {option!r}.{hint}")


def source_of(function: Callable[..., Any]) -> str | None:
    """Return a hash of the source of a user's function; None without source.

    Functions of passband itself are identified by passband's version instead.
    """
    if (getattr(function, "__module__", "") or "").startswith("passband."):
        return None
    try:
        source = inspect.getsource(function)
    except (OSError, TypeError):
        return None
    return hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()[:16]
