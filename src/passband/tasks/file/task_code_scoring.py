"""Scoring by a trusted task's own functions: metrics, process_results, custom filters.

In lm-evaluation-harness such functions see all repeats of a problem at once. Here every trial is
scored by itself, as if it were the only repeat; a repeat aggregation reduces the scores later.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from passband.errors import InvalidInput, WrongType, describe
from passband.score import FilterStep, Reference, ScorerFunction
from passband.tasks.file.task_code import code_digests, import_function
from passband.tasks.file.yaml_file import FunctionReference, plain_json


class MetricFunction:
    """A function of ``metric: !function``, which returns a number, or several by their names.

    It gets references and predictions, one of each, and the options of its entry; or, if that is
    not what it takes, the list of the target and the answer.
    """

    def __init__(self, code: FunctionReference) -> None:
        self._code = code
        self._function = import_function(code)
        self._last: tuple[Any, Any] = (None, None)

    def metric(self, value: str | None, *, keeps_all: bool, falls: bool = False) -> ScorerFunction:
        """Return the scoring function of its number, or of one of its values.

        Of several targets the best counts: with `falls`, the one of the lowest score.
        """
        best = min if falls else max

        def score(answer: str, reference: Reference, **options: Any) -> Any:
            prediction = [answer] if keeps_all else answer
            targets: tuple[Any, ...] = reference.targets or (None,)
            return best(self._one(target, prediction, options, value) for target in targets)

        return _scorer_function(self._code, score, value or "", falls=falls)

    def _one(self, target: Any, prediction: Any, options: Any, value: str | None) -> float:
        arguments = (target, prediction, options)
        last, result = self._last
        # The values of a trial are taken one after another, so one call serves all of them.
        if value is None or last != arguments:
            result = self._called(target, prediction, options)
            self._last = (arguments, result)
        if isinstance(result, Mapping):
            result = _single(result, self._code.name, value)
        elif value is not None:
            raise InvalidInput(f"{self._code} must return {value!r} by its name; got {result!r}.")
        return float(result)

    def _called(self, target: Any, prediction: Any, options: Mapping[str, Any]) -> Any:
        named = {"references": [target], "predictions": [prediction], **options}
        if _takes(self._function, named):
            return self._function(**named)
        return self._function([target, prediction])


def _takes(function: Callable[..., Any], named: Mapping[str, Any]) -> bool:
    try:
        inspect.signature(function).bind(**named)
    except TypeError:
        return False
    return True


def _single(values: Mapping[str, Any], name: str, wanted: str | None) -> Any:
    """Return the wanted value of a trial, or else that of the metric's name, or pass@1."""
    names = ", ".join(map(str, values))
    if wanted is not None and wanted not in values:
        raise InvalidInput(f"{name} gives no {wanted!r} for one trial, only {names or 'nothing'}.")
    for key in (name, "pass@1") if wanted is None else (wanted,):
        if key in values:
            return values[key]
    if len(values) == 1:
        return next(iter(values.values()))
    if not values:
        raise InvalidInput(f"{name} returned no value for one trial; it must return a number.")
    raise InvalidInput(
        f"{name} returned several values ({names}), none named {name} or pass@1; name those that "
        f"are wanted in its entry of metric_list, values: [{names}]."
    )


class ResultsFunction:
    """A task's process_results, which returns the values of all its metrics at once."""

    def __init__(self, code: FunctionReference) -> None:
        self._code = code
        self._function = import_function(code)
        self._last: tuple[Any, Any, Mapping[str, Any]] = (None, None, {})

    def metric(self, name: str, *, keeps_all: bool, falls: bool = False) -> ScorerFunction:
        """Return the scoring function of one of its metrics."""

        def score(answer: str, reference: Reference) -> Any:
            values = self._values(answer, reference, keeps_all)
            if name not in values:
                raise InvalidInput(
                    f"{self._code} gives no {name!r}, only {', '.join(map(str, values))}."
                )
            return values[name]

        return _scorer_function(self._code, score, name, falls=falls)

    def _values(self, answer: str, reference: Reference, keeps_all: bool) -> Mapping[str, Any]:
        # The metrics of a trial are computed one after another, so one call serves all of them.
        arguments, doc, values = self._last
        if arguments != (answer, keeps_all) or doc is not reference.doc:
            values = self._function(dict(reference.doc), [[answer] if keeps_all else answer])
            if not isinstance(values, Mapping):
                raise WrongType(f"{self._code} must return a mapping; got {values!r:.60}.")
            self._last = ((answer, keeps_all), reference.doc, values)
        return values


def custom_step(options: Mapping[str, Any]) -> FilterStep:
    """Return the step of ``function: custom``, whose filter_fn changes one completion."""
    code = options.get("filter_fn")
    if not isinstance(code, FunctionReference) or len(options) != 1:
        raise InvalidInput("it needs filter_fn, a !function, and nothing else.")
    return _step(code, import_function(code), {})


def class_step(code: FunctionReference, options: Mapping[str, Any]) -> FilterStep:
    """Return the step of ``function: !function``, a class whose `apply` changes completions."""
    try:
        apply = import_function(code)(**options).apply
    except Exception as error:
        raise InvalidInput(f"cannot be made: {describe(error)}") from error
    return _step(code, apply, options)


def _step(
    code: FunctionReference, apply: Callable[..., Any], options: Mapping[str, Any]
) -> FilterStep:
    """Return a step that applies a filter of all completions to one, as if it were the only."""

    def run(text: str, reference: Reference) -> str | None:
        answer: Any = next(iter(apply([[text]], [dict(reference.doc)])))
        if not isinstance(answer, str):
            answer = next(iter(answer or ()), None)
        return None if answer is None else str(answer)

    identity = {"function": "custom", "options": {**plain_json(options), **_identity(code)}}
    return FilterStep(run, True, identity)


def _scorer_function(
    code: FunctionReference, score: Callable[..., Any], metric: str, *, falls: bool
) -> ScorerFunction:
    return ScorerFunction(
        name=" ".join(filter(None, [*_identity(code).values(), metric])),  # part of identities
        call=score,
        best=0.0 if falls else 1.0,
        worst=None if falls else 0.0,
        takes_target=False,
        takes_reference=True,
        slow=True,  # nothing is known of how long it takes
        equates=False,
        is_registered=False,
    )


def _identity(code: FunctionReference) -> dict[str, str]:
    return {"function": str(code), "code": code_digests(code)[code.module]}
