"""The registry of scoring functions, and the decorator that adds one.

>>> print(*sorted(scorers))
acc bleu choice chrf contains exact_match f1 math numeric regex ter
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from passband.errors import InvalidInput, nearest
from passband.registry import Registry

__all__ = ["Extra", "ScorerFunction", "check_options", "register_scorer", "scorers", "source_of"]

F = TypeVar("F", bound=Callable[..., Any])


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


@dataclass(frozen=True)
class ScorerFunction:
    """A function from an answer and what was expected to a number, and what is known of it."""

    name: str
    call: Callable[..., Any]
    takes_reference: bool  # called once with the whole reference, not once per target
    best: float
    worst: float
    slow: bool
    equates: bool
    check: Callable[..., bool] | None
    extra: Extra | None

    def better(self, one: float, other: float) -> bool:
        return one > other if self.best > self.worst else one < other

    def is_best(self, value: float) -> bool:
        return not self.better(self.best, value)

    def prepared(self, options: Mapping[str, Any]) -> bool:
        """Check options once, at the door; return whether a score may take milliseconds."""
        check_options(f"scorer {self.name!r}", self.call, options, given=2)
        if self.extra is not None:
            self.extra.check(self.name)
        return (self.check(**options) if self.check is not None else False) or self.slow


scorers: Registry[ScorerFunction] = Registry("scorer", homes=("passband.score.builtin",))


def register_scorer(
    name: str,
    *,
    best: float = 1.0,
    worst: float = 0.0,
    slow: bool = False,
    equates: bool = True,
    check: Callable[..., bool] | None = None,
    extra: Extra | None = None,
) -> Callable[[F], F]:
    """Register a scoring function, as a decorator.

    The function takes the answer, a target, and options by name; it returns a number or a bool.
    With several targets it is called for each, and the best score counts. A function with an
    argument named `reference` is called once, with the `Reference`, instead.

    best, worst: the score of a right answer, and of no answer at all. If the best is the lower
        one, lower scores are better.
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

    def add(function: F) -> F:
        takes_reference = "reference" in inspect.signature(function).parameters
        scorers.add(
            name,
            ScorerFunction(
                name, function, takes_reference, best, worst, slow, equates, check, extra
            ),
        )
        return function

    return add


def check_options(
    what: str, function: Callable[..., Any], options: Mapping[str, Any], *, given: int = 0
) -> None:
    """Raise if a function has no such options; `given` arguments in front are none."""
    parameters = list(inspect.signature(function).parameters.values())
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return
    known = [parameter.name for parameter in parameters[given:]]
    for option in options:
        if option not in known:
            hint = nearest(option, known) or f" Known: {', '.join(known) or 'none'}."
            raise InvalidInput(f"{what} has no option {option!r}.{hint}")


def source_of(function: Callable[..., Any]) -> str | None:
    """Return a hash of the source of a user's function, or None where there is no source.

    What is part of passband is known by passband's version instead.
    """
    if (getattr(function, "__module__", "") or "").startswith("passband."):
        return None
    try:
        source = inspect.getsource(function)
    except (OSError, TypeError):
        return None
    return hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()[:16]
