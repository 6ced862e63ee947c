r"""A scorer: filter steps, then a scoring function.

>>> scorer = make_scorer("exact_match", steps=[{"function": "extract"}])
>>> scorer.score(r"So \boxed{42}.", Reference(("42",)))
Score(value=1.0, status='ok', answer='42', rule='boxed', detail=None)
>>> scorer.score("I do not know.", Reference(("42",)))
Score(value=0.0, status='no_answer', answer=None, rule=None, detail=None)
"""

from __future__ import annotations

import json
import math
import numbers
from collections.abc import Mapping, Sequence
from typing import Any

from passband.errors import InvalidInput, WrongType
from passband.score.extract import Extracted
from passband.score.filters import INVALID, FilterStep, make_step
from passband.score.registry import ScorerFunction, scorers, source_of
from passband.score.scorer import Reference, Score, Scorer
from passband.score.workers.pool import WorkerTimeout, pool

__all__ = ["VERSION", "Pipeline", "make_scorer"]

VERSION = 1  # part of every identity; goes up when a built-in step or function scores differently
_DETAIL = 200  # characters


def make_scorer(
    name: str,
    function: str | None = None,
    options: Mapping[str, Any] | None = None,
    steps: Sequence[Mapping[str, Any] | str] = (),
) -> Scorer:
    """Return a scorer from names and options, all checked here.

    `function` is the name of a scoring function, by default that of the scorer; `steps` are
    entries of a filter list, run in order.
    """
    chosen = scorers.get(function or name)
    return Pipeline(name, chosen, dict(options or {}), [make_step(step) for step in steps])


class Pipeline:
    """Filter steps and a scoring function under one name; see `make_scorer`."""

    def __init__(
        self,
        name: str,
        function: ScorerFunction,
        options: Mapping[str, Any],
        steps: Sequence[FilterStep],
    ) -> None:
        self.name = name
        self._function, self._options, self._steps = function, options, tuple(steps)
        slow = function.prepared(options)
        self.slow = slow or any(step.slow for step in steps)
        self.identity = self._identity()

    def score(self, text: str | None, reference: Reference) -> Score:
        """Score one completion. What goes wrong is in the score's status; nothing is raised."""
        answer = rule = None
        try:
            answer, rule = self._extracted(text, reference)
            if answer is None:
                return Score(self._function.worst, "no_answer", None, rule)
            return Score(self._value(answer, reference), "ok", answer, rule)
        except WorkerTimeout as error:
            return Score(None, "timeout", answer, rule, _told(error))
        except Exception as error:
            return Score(None, "error", answer, rule, _told(error))

    def same(self, one: str, other: str) -> bool:
        """Tell whether two extracted answers are the same answer.

        They are if they are the same text, or if either scores in full with the other as target;
        what cannot be compared is different.
        """
        if one == other:
            return True
        if not self._function.equates:
            return False
        return self._matches(one, other) or self._matches(other, one)

    def close(self) -> None:
        """End the worker processes that wait for work; they start again when needed."""
        if self.slow:
            pool.close()

    def _extracted(self, text: str | None, reference: Reference) -> Extracted:
        """Run the steps; the rule is that of the last step that names one."""
        rule = None
        for step in self._steps:
            if text is None:
                break
            text, fired = step.apply(text, reference)
            rule = fired or rule
        return Extracted(None if _is_no_answer(text, reference) else text, rule)

    def _matches(self, answer: str, target: str) -> bool:
        try:
            return self._function.is_best(self._value(answer, Reference((target,))))
        except Exception:
            return False

    def _value(self, answer: str, reference: Reference) -> float:
        function = self._function
        if function.takes_reference:
            return _number(function.call(answer, reference=reference, **self._options))
        best: float | None = None
        failure: Exception | None = None
        for target in reference.targets:
            try:
                value = _number(function.call(answer, target, **self._options))
            except Exception as error:
                failure = error
                continue
            if function.is_best(value):
                return value
            best = value if best is None or function.better(value, best) else best
        if failure is not None:
            raise failure  # this target might have been the one that matches
        if best is None:
            raise InvalidInput("the problem has no target.")
        return best

    def _identity(self) -> str:
        function = self._function
        parts: dict[str, Any] = {
            "passband": VERSION,
            "steps": [step.identity for step in self._steps],
            "function": function.name,
            "options": self._options,
        }
        if source := source_of(function.call):
            parts["source"] = source
        if function.extra is not None:
            parts["package"] = f"{function.extra.distribution} {function.extra.version}"
        try:
            return json.dumps(parts, sort_keys=True, separators=(",", ":"), allow_nan=False)
        except (TypeError, ValueError) as error:
            raise InvalidInput(f"options of {self.name!r} must be plain values: {error}.") from None


def _is_no_answer(answer: str | None, reference: Reference) -> bool:
    if answer is None or answer.casefold() == INVALID:
        return True
    # Nothing but white space answers only the question whose target is that.
    return not answer.strip() and all(target.strip() for target in reference.targets)


def _number(value: Any) -> float:
    if not isinstance(value, numbers.Real):  # True and numpy's numbers are real ones
        if type(value).__name__ in ("bool_", "bool"):  # numpy's truth values are not
            return float(value)
        raise WrongType(f"a scorer must return a number; got {value!r}.")
    number = float(value)
    if not math.isfinite(number):
        raise InvalidInput(f"a scorer must return a finite number; got {number}.")
    return number


def _told(error: Exception) -> str:
    """Return the type and message of an error, shortened; a message may fail or be huge."""
    try:
        message = str(error)
    except Exception:
        message = "?"
    name = type(error).__name__
    return (f"{name}: {message}" if message else name)[:_DETAIL]
