"""The functions of the statistics, for any source of trials.

Wherever a function of `passband.stats` takes `Outcomes`, the function of the same name here takes
a matrix, a list of lists, a data frame, a list of records, a file or a run directory as well.
``passband.estimate`` is ``passband.api.estimate``: ``passband.stats.interval.estimation.estimate``
behind `passband.readers.outcomes_of`, with its signature and documentation.

>>> from passband import estimate
>>> print(estimate([[1, 0, 1, 1], [0, 0, 1, 0], [1, 1, 1, 1]], "pass@1"))
pass@1 0.67 [0.25, 0.94]
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterable, Mapping
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, overload

from passband.errors import WrongType

if TYPE_CHECKING:
    from passband.readers import Data
    from passband.stats import Over
    from passband.stats.data import Policy
    from passband.stats.decision import (
        Abilities,
        Comparison,
        Detectable,
        Plan,
        Ranking,
        RankingModel,
        Test,
        VarianceSplit,
    )
    from passband.stats.interval import Band, Estimate, Extrapolation, Labels, Stratified, Weights
    from passband.stats.metric import Curve, Measurement

_DECISION, _INTERVAL, _METRIC = (f"passband.stats.{n}" for n in ("decision", "interval", "metric"))

#: Each function's home, and which of its arguments are outcomes.
_FUNCTIONS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "band": (f"{_INTERVAL}.bands", ("outcomes",)),
    "bounds": (f"{_METRIC}.measurement", ("outcomes",)),
    "combine": (f"{_INTERVAL}.strata.combination", ("strata",)),
    "compare": (f"{_DECISION}.comparison", ("a", "b")),
    "compare_all": (f"{_DECISION}.ranking", ("models",)),
    "curve": (f"{_METRIC}.measurement", ("outcomes",)),
    "detectable": (f"{_DECISION}.planning.plans", ("outcomes", "against")),
    "estimate": (f"{_INTERVAL}.estimation", ("outcomes",)),
    "extrapolate": (f"{_INTERVAL}.extrapolation", ("outcomes",)),
    "measure": (f"{_METRIC}.measurement", ("outcomes",)),
    "measure_all": (f"{_METRIC}.measurement", ("outcomes",)),
    "plan": (f"{_DECISION}.planning.plans", ("pilot",)),
    "plan_difference": (f"{_DECISION}.planning.plans", ("pilot",)),
    "plan_width": (f"{_DECISION}.planning.plans", ("pilot",)),
    "rank_models": (f"{_DECISION}.ranking", ("models",)),
    "split_variance": (f"{_DECISION}.variance", ("outcomes",)),
}


def __getattr__(name: str) -> Any:
    """Wrap a function of the statistics when it is first asked for."""
    if name not in _FUNCTIONS:
        raise AttributeError(f"module 'passband.api' has no attribute {name!r}")
    return _wrapped(name)


@cache
def _wrapped(name: str) -> Callable[..., Any]:
    home, arguments = _FUNCTIONS[name]
    return _for_any_source(getattr(importlib.import_module(home), name), arguments)


def _for_any_source(function: Callable[..., Any], arguments: tuple[str, ...]) -> Callable[..., Any]:
    """Return a function that turns the named arguments into outcomes before it calls this one."""
    from passband.stats.data import Outcomes

    positional = function.__code__.co_varnames[: function.__code__.co_argcount]
    positions = {name: positional.index(name) for name in arguments if name in positional}

    @wraps(function)
    def call(*values: Any, **options: Any) -> Any:
        answers = _wants_answers(values, options)
        for name, position in positions.items():
            if position < len(values) and not isinstance(values[position], Outcomes):
                converted = _converted(name, values[position], answers)
                values = (*values[:position], converted, *values[position + 1 :])
        for name in arguments:
            if name in options and not isinstance(options[name], Outcomes):
                options[name] = _converted(name, options[name], answers)
        return function(*values, **options)

    call.__module__ = __name__  # where pickle finds it
    return call


def _wants_answers(values: tuple[Any, ...], options: Mapping[str, Any]) -> bool:
    """Return whether a metric among the arguments is a vote, which needs the answers too."""
    from passband.stats.metric import needs_answers

    chosen = [*values[1:], options.get("metric"), options.get("metrics")]
    names = [name for one in chosen for name in (one if isinstance(one, (list, tuple)) else [one])]
    return needs_answers(name for name in names if isinstance(name, str))


def _converted(argument: str, source: Any, answers: bool) -> Any:
    """Return the outcomes of a source, or of each of several models or strata."""
    from passband.readers import outcomes_of, read

    if argument in ("against", "pilot") and source is None:
        return None
    if argument == "strata" and not isinstance(source, Mapping):
        return source  # which `combine` refuses
    if argument not in ("models", "strata"):
        _refuse_no_source(argument, source)
        return outcomes_of(source, answers=answers)
    if isinstance(source, Mapping):
        return {name: outcomes_of(model, answers=answers) for name, model in source.items()}
    groups = read(source, answers=answers).groups
    return {" / ".join(group.key): group.outcomes for group in groups}


def _refuse_no_source(argument: str, source: Any) -> None:
    """Raise `WrongType` for what nothing could be read from."""
    from passband.readers import Log

    kinds = (str, os.PathLike, Iterable, Log)
    if not isinstance(source, kinds) and not hasattr(source, "__array__"):
        raise WrongType(
            f"{argument} must be Outcomes, a matrix, a data frame, a file or a run directory; "
            f"got {source!r:.60}."
        )


# -- types, which a test compares with the functions themselves -----------------------------

if TYPE_CHECKING:

    def band(
        outcomes: Data,
        metric: str,
        *,
        over: Over = "problems",
        level: float = 0.95,
        policy: Policy = "drop",
    ) -> Band: ...
    def bounds(outcomes: Data, metric: str) -> tuple[float, float] | None: ...
    def combine(
        strata: Mapping[str, Data],
        metric: str,
        *,
        weights: Weights = "equal",
        over: Over = "problems",
        level: float = 0.95,
        policy: Policy = "drop",
    ) -> Stratified: ...
    def compare(
        a: Data,
        b: Data,
        metric: str,
        *,
        over: Over = "problems",
        level: float = 0.95,
        paired: bool = True,
        policy: Policy = "drop",
        seed: int | str | None = None,
        margin: float | None = None,
        test: Test = "interval",
        settle: bool | None = None,
    ) -> Comparison: ...
    def compare_all(
        models: Mapping[str, Data] | Data,
        metric: str,
        *,
        over: Over = "problems",
        level: float = 0.95,
        policy: Policy = "drop",
        seed: int | str | None = None,
        family: int = 1,
    ) -> Ranking: ...
    def curve(outcomes: Data, metric: str, *, policy: Policy = "drop") -> Curve: ...
    def detectable(
        outcomes: Data,
        metric: str,
        *,
        against: Data | None = None,
        correlation: float = 0.5,
        level: float = 0.95,
        power: float = 0.8,
        policy: Policy = "drop",
    ) -> Detectable: ...
    @overload
    def estimate(
        outcomes: Data,
        metrics: str,
        *,
        over: Over = "problems",
        method: str = "auto",
        level: float = 0.95,
        policy: Policy = "drop",
        seed: int | str | None = None,
        certify: bool = False,
        calibrate: bool = False,
        by: Labels | None = None,
        weights: Weights | None = None,
        population: int | None = None,
    ) -> Estimate: ...
    @overload
    def estimate(
        outcomes: Data,
        metrics: list[str] | tuple[str, ...],
        *,
        over: Over = "problems",
        method: str = "auto",
        level: float = 0.95,
        policy: Policy = "drop",
        seed: int | str | None = None,
        certify: bool = False,
        calibrate: bool = False,
        by: Labels | None = None,
        weights: Weights | None = None,
        population: int | None = None,
    ) -> list[Estimate]: ...
    def estimate(outcomes: Data, metrics: Any, **options: Any) -> Any: ...
    def extrapolate(
        outcomes: Data, metric: str, *, level: float = 0.95, policy: Policy = "drop"
    ) -> Extrapolation: ...
    def measure(outcomes: Data, metric: str, *, policy: Policy = "drop") -> Measurement: ...
    def measure_all(
        outcomes: Data, metrics: Iterable[str], *, policy: Policy = "drop"
    ) -> list[Measurement]: ...
    def plan(
        *,
        half_width: float | None = None,
        difference: float | None = None,
        pilot: Data | None = None,
        metric: str = "pass@1",
        over: Over | None = None,
        between: float | None = None,
        within: float | None = None,
        trials: int | None = None,
        problems: int | None = None,
        correlation: float | None = None,
        level: float = 0.95,
        power: float | None = None,
        assurance: float | None = None,
        policy: Policy = "drop",
    ) -> Plan: ...
    def plan_difference(
        delta: float,
        *,
        between: float | None = None,
        within_a: float | None = None,
        within_b: float | None = None,
        pilot: Data | None = None,
        correlation: float | None = None,
        trials: int | None = None,
        level: float = 0.95,
        power: float = 0.8,
        assurance: float | None = None,
        metric: str | None = None,
        policy: Policy = "drop",
    ) -> Plan: ...
    def plan_width(
        half_width: float,
        *,
        pilot: Data | None = None,
        metric: str = "pass@1",
        over: Over = "problems",
        between: float | None = None,
        within: float | None = None,
        problems: int | None = None,
        level: float = 0.95,
        assurance: float = 0.8,
        policy: Policy = "drop",
    ) -> Plan: ...
    def rank_models(
        models: Mapping[str, Data] | Data,
        metric: str,
        *,
        model: RankingModel = "logit",
        over: Over = "problems",
        level: float = 0.95,
        policy: Policy = "drop",
        seed: int | str | None = None,
    ) -> Abilities: ...
    def split_variance(
        outcomes: Data, metric: str, *, policy: Policy = "drop"
    ) -> VarianceSplit: ...
