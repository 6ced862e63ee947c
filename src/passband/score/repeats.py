"""Aggregate repeats: one score per problem from the scores of its trials.

The names are those of lm-eval's `repeat_aggregation`. A score of at least 1 is correct.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from passband.errors import InvalidInput, PassbandError, WrongType
from passband.registry import Registry
from passband.score.registry import check_options
from passband.score.scorer import Options

F = TypeVar("F", bound=Callable[..., Any])
Same = Callable[[str, str], bool]
Reduction = Callable[
    [Sequence[float | None], Sequence[str | None] | None, Same | None], float | None
]

aggregations: Registry[Callable[..., Any]] = Registry("repeat aggregation")


def register_repeat_aggregation(name: str) -> Callable[[F], F]:
    """Register a function of the scores of a problem's trials, as a decorator.

    The function takes the scores, in the order of the trials, and by name `predictions` (the
    extracted answers, None where there is none), `same` (whether two answers are the same) and
    its options; it may leave out what it does not use. Scores are of trials that have one. The
    same function may be registered again, as by running a cell of a notebook twice.

    >>> @register_repeat_aggregation("last")
    ... def last(scores, predictions=None, **kwargs):
    ...     return scores[-1]
    >>> reduce_repeats("last", [0.0, 0.5, None])
    0.5
    >>> aggregations.remove("last")
    """

    if not isinstance(name, str):
        raise WrongType(f"register_repeat_aggregation needs a name, as text; got {name!r}.")

    def add(function: F) -> F:
        earlier = aggregations.registered(name)
        if earlier is not None and _is_again(function, earlier):
            aggregations.remove(name)
        aggregations.add(name, function)
        return function

    return add


def _is_again(function: Callable[..., Any], earlier: Callable[..., Any]) -> bool:
    """Return whether a function is defined where an earlier one was."""
    new, old = (
        (getattr(candidate, "__module__", None), getattr(candidate, "__qualname__", None))
        for candidate in (function, earlier)
    )
    return new == old


def reduce_repeats(
    name: str,
    scores: Sequence[float | None],
    predictions: Sequence[str | None] | None = None,
    same: Same | None = None,
    options: Options | None = None,
) -> float | None:
    """Return one score for the trials of a problem, or None if none of them has a score.

    Trials without a score (an error, a timeout) are left out together with their predictions.

    >>> reduce_repeats("mean", [1.0, None, 0.0])
    0.5
    >>> reduce_repeats("majority", [1.0, 0.0, 0.0], ["4", "5", "6"])
    1.0
    """
    return reduction(name, options)(scores, predictions, same)


def reduction(name: str, options: Options | None = None) -> Reduction:
    """Return the function behind `reduce_repeats`, its name and options checked once.

    >>> any_correct = reduction("any_correct")
    >>> any_correct([0.0, 1.0], None, None), any_correct([None], None, None)
    (1.0, None)
    """
    function = aggregations.get(name)
    chosen = dict(options or {})
    check_options(f"repeat aggregation {name!r}", function, chosen, skipped=1)
    takes = _taken(function, ("predictions", "same"))

    def reduce(
        scores: Sequence[float | None], predictions: Sequence[str | None] | None, same: Same | None
    ) -> float | None:
        if predictions is not None and len(predictions) != len(scores):
            raise InvalidInput(f"{len(scores)} scores, but {len(predictions)} predictions.")
        kept = [index for index, score in enumerate(scores) if score is not None]
        if not kept:
            return None
        answers = None if predictions is None else [predictions[index] for index in kept]
        known = {"predictions": answers, "same": same}
        arguments = {key: known[key] for key in takes}
        return _called(name, function, [scores[index] for index in kept], arguments | chosen)

    return reduce


def _called(
    name: str, function: Callable[..., Any], scores: list[float | None], arguments: dict[str, Any]
) -> float:
    """Call an aggregation, which may be the user's own, and check what it returns."""
    try:
        result = function(scores, **arguments)
    except PassbandError:
        raise
    except Exception as error:
        message = f"{type(error).__name__}: {error}"
        raise InvalidInput(f"repeat aggregation {name!r} failed: {message}.") from error
    return _checked(name, result)


def _taken(function: Callable[..., Any], names: Sequence[str]) -> list[str]:
    """Return the names that a function takes as arguments."""
    parameters = inspect.signature(function).parameters
    takes_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
    return [name for name in names if takes_all or name in parameters]


def _checked(name: str, result: Any) -> float:
    try:
        number = float(result)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise InvalidInput(
            f"repeat aggregation {name!r} must return a finite number; got {result!r}."
        )
    return number


# -- the aggregations ----------------------------------------------------------------------


@register_repeat_aggregation("first")
def _first(scores: Sequence[float]) -> float:
    """The score of the first trial."""
    return scores[0]


@register_repeat_aggregation("mean")
def _mean(scores: Sequence[float]) -> float:
    """The mean score."""
    return math.fsum(scores) / len(scores)


@register_repeat_aggregation("max")
def _max(scores: Sequence[float]) -> float:
    """The largest score."""
    return max(scores)


@register_repeat_aggregation("min")
def _min(scores: Sequence[float]) -> float:
    """The smallest score."""
    return min(scores)


@register_repeat_aggregation("any_correct")
def _any_correct(scores: Sequence[float]) -> float:
    """1 if any score is at least 1."""
    return float(any(score >= 1 for score in scores))


@register_repeat_aggregation("all_correct")
def _all_correct(scores: Sequence[float]) -> float:
    """1 if every score is at least 1."""
    return float(all(score >= 1 for score in scores))


@register_repeat_aggregation("majority")
def _majority(
    scores: Sequence[float],
    predictions: Sequence[str | None] | None = None,
    same: Same | None = None,
) -> float:
    """The score of the answer that most trials give.

    Trials whose answers are the same vote together, and the score is that of the first of them.
    Among the largest groups, the one whose first trial came first wins. A trial without an answer
    does not vote; if none votes, the score is that of the first trial, which is the score of no
    answer. Without predictions, the scores are voted on.
    """
    if predictions is None:
        return max(dict.fromkeys(scores), key=scores.count)
    groups = _groups(predictions, same)
    return scores[max(groups, key=len)[0]] if groups else scores[0]


def _groups(predictions: Sequence[str | None], same: Same | None) -> list[list[int]]:
    """Return the trials of each answer, in the order of their first trials."""
    by_text: dict[str, list[int]] = {}
    groups: list[list[int]] = []
    for index, prediction in enumerate(predictions):
        if prediction is None:
            continue
        if prediction not in by_text:  # each text is compared once, however many votes it has
            by_text[prediction] = _group_of(prediction, predictions, groups, same)
        by_text[prediction].append(index)
    return groups


def _group_of(
    prediction: str,
    predictions: Sequence[str | None],
    groups: list[list[int]],
    same: Same | None,
) -> list[int]:
    for group in groups:
        leader = predictions[group[0]]
        if same is not None and leader is not None and same(leader, prediction):
            return group
    groups.append([])
    return groups[-1]
