r"""Score by a pipeline: filter steps, then a scoring function.

>>> scorer = make_scorer("exact_match", steps=[{"function": "extract"}])
>>> scorer.score(r"So \boxed{42}.", Reference(("42",)))
Score(value=1.0, status='ok', answer='42', rule='boxed', detail=None)
>>> scorer.score("I do not know.", Reference(("42",)))
Score(value=0.0, status='no_answer', answer=None, rule=None, detail=None)
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from passband.errors import InvalidInput, describe
from passband.score.extract.rules import Extracted
from passband.score.filtering import INVALID, FilterStep, apply_steps, make_step
from passband.score.registry import ScorerFunction, scorers, source_of
from passband.score.scorer import Options, Reference, Score, ScoredTrial, Scorer
from passband.score.workers.worker_pool import WorkerTimeout, pool

VERSION = 2  # part of every identity; goes up when a built-in step or function scores differently
ASYNC_SECONDS = 600.0  # for one score of an async function


def make_scorer(
    name: str,
    function: str | None = None,
    options: Options | None = None,
    steps: Sequence[Options | str] = (),
    bounds: Sequence[float | None] | None = None,
    lower_is_better: bool = False,
) -> Scorer:
    """Return a scorer from names and options, all checked here.

    `function` is the name of a scoring function, by default that of the scorer; `steps` are
    entries of a filter list, run in order. `bounds` and `lower_is_better` are part of a
    `Scorer.spec` for its readers; a scorer always has those that its function is registered with.
    """
    chosen = scorers.get(function or name)
    return assemble(name, chosen, dict(options or {}), [make_step(step) for step in steps])


def assemble(
    name: str, function: ScorerFunction, options: Options, steps: Sequence[FilterStep]
) -> Scorer:
    """Return a scorer of a function and steps; a function that is more than one makes its own."""
    if function.make is None:
        return Pipeline(name, function, options, steps)
    function.prepared(options)
    return function.make(name, options, steps)


def filters_in(identity: str) -> list[str]:
    """Return the names of the filters in the identity of a scorer; none for one of another tool.

    >>> filters_in(make_scorer("exact_match", steps=["extract", "lowercase"]).identity)
    ['extract', 'lowercase']
    """
    try:
        parts, _ = json.JSONDecoder().raw_decode(identity)  # a grader may add to the identity
        return [step["function"] for step in parts["steps"]]
    except (ValueError, KeyError, TypeError):
        return []


class Pipeline(Scorer):
    """Filter steps and a scoring function under one name; see `make_scorer`."""

    def __init__(
        self,
        name: str,
        function: ScorerFunction,
        options: Options,
        steps: Sequence[FilterStep],
    ) -> None:
        self.name = name
        self._function, self._options, self._steps = function, options, tuple(steps)
        slow = function.prepared(options)
        self.slow = slow or any(step.slow for step in steps)
        self.is_async, self.takes_trial = function.is_async, function.takes_trial
        self._is_plain = function.takes_target and not function.takes_trial
        self.identity = self._identity()

    @property
    def spec(self) -> Options | None:
        """The arguments of `make_scorer` for this scorer; None if it has a task's own code."""
        steps = [step.spec for step in self._steps]
        if not self._function.is_registered or None in steps:
            return None
        spec = {
            "name": self.name,
            "function": self._function.name,
            "options": dict(self._options),
            "steps": steps,
        }
        return {**spec, **self._function.scale}

    def score(
        self, text: str | None, reference: Reference, trial: ScoredTrial | None = None
    ) -> Score:
        """Score one completion. Failures are in the score's status; nothing is raised."""
        if self.is_async:
            from passband.system import complete_anywhere

            return complete_anywhere(self.score_async(text, reference, trial))
        answer = rule = None
        try:
            answer, rule = self._extracted(text, reference)
            if answer is None:
                return self._unanswered(rule)
            trial = trial or (ScoredTrial(text) if self.takes_trial else None)
            return Score(self._value(answer, reference, trial), "ok", answer, rule)
        except WorkerTimeout as error:
            return Score(None, "timeout", answer, rule, describe(error))
        except Exception as error:
            return Score(None, "error", answer, rule, describe(error))

    def score_all(self, pairs: Sequence[tuple[str | None, Reference]]) -> list[Score]:
        """Score completions, each with its reference, as `score` does one by one.

        One step and a function of one target, which is the usual pipeline, take a third less time
        here; whatever is not as usual goes to `score`.
        """
        if len(self._steps) != 1 or not self._is_plain or self.is_async:
            return [self.score(text, reference) for text, reference in pairs]
        run, call, options = self._steps[0].run, self._function.call, self._options
        make = tuple.__new__  # what Score(...) does, without the call of a function
        scores = []
        for text, reference in pairs:
            score = None
            try:
                found = None if text is None else run(text, reference)
                if type(found) is Extracted and len(reference.targets) == 1:
                    answer, rule = found.answer, found.rule or None
                    if answer is None:
                        score = self._unanswered(rule)
                    elif answer and not answer.isspace() and answer.casefold() != INVALID:
                        value = call(answer, reference.targets[0], **options)
                        # Other values go the long way, where they are checked.
                        if value is True or value is False:
                            number = 1.0 if value else 0.0
                            score = make(Score, (number, "ok", answer, rule, None))
            except Exception:
                score = None
            scores.append(self.score(text, reference) if score is None else score)
        return scores

    async def score_async(
        self, text: str | None, reference: Reference, trial: ScoredTrial | None = None
    ) -> Score:
        """Score one completion by an async function; by any other, at once."""
        if not self.is_async:
            return self.score(text, reference, trial)
        import asyncio

        answer = rule = None
        try:
            answer, rule = self._extracted(text, reference)
            if answer is None:
                return self._unanswered(rule)
            scoring = self._value_async(answer, reference, trial or ScoredTrial(text))
            return Score(await asyncio.wait_for(scoring, ASYNC_SECONDS), "ok", answer, rule)
        except asyncio.TimeoutError:
            detail = f"took longer than {ASYNC_SECONDS:g} s"
            return Score(None, "timeout", answer, rule, detail)
        except Exception as error:
            return Score(None, "error", answer, rule, describe(error))

    def same(self, one: str, other: str) -> bool:
        """Return whether two extracted answers are the same answer.

        They are if they are the same text, or if either scores in full with the other as target.
        Answers that cannot be compared are different. A function that is async or looks at the
        whole trial is not called: there is no trial of a comparison.
        """
        if one == other:
            return True
        if not self._function.equates or self.is_async or self.takes_trial:
            return False
        return self._matches(one, other) or self._matches(other, one)

    def close(self) -> None:
        """End the worker processes that wait for work; they start again when needed."""
        pool.close()

    def _extracted(self, text: str | None, reference: Reference) -> Extracted:
        """Run the steps; an answer that is empty or marked as invalid is none."""
        extracted = apply_steps(self._steps, text, reference)
        if extracted.answer is None or not _is_no_answer(extracted.answer, reference):
            return extracted
        return Extracted(None, extracted.rule)

    def _unanswered(self, rule: str | None) -> Score:
        """Return the score of a completion without an answer: the worst, if there is one."""
        worst = self._function.worst
        if worst is None:
            return Score(None, "error", None, rule, "no answer, and no worst score to give it")
        return Score(worst, "no_answer", None, rule)

    def _matches(self, answer: str, target: str) -> bool:
        try:
            return self._function.is_best(self._value(answer, Reference((target,)), None))
        except Exception:
            return False

    def _value(self, answer: str, reference: Reference, trial: ScoredTrial | None) -> float:
        if self._is_plain and len(reference.targets) == 1:  # the usual case, a microsecond faster
            function = self._function
            return function.number(function.call(answer, reference.targets[0], **self._options))
        best = _BestTarget(self._function)
        for call in self._calls(answer, reference, trial):
            try:
                best.add(call())
            except Exception as error:
                best.failure = error
            if best.is_met:
                break
        return best.result()

    async def _value_async(self, answer: str, reference: Reference, trial: ScoredTrial) -> float:
        best = _BestTarget(self._function)
        for call in self._calls(answer, reference, trial):
            try:
                best.add(await call())
            except Exception as error:
                best.failure = error
            if best.is_met:
                break
        return best.result()

    def _calls(
        self, answer: str, reference: Reference, trial: ScoredTrial | None
    ) -> Iterator[Callable[[], Any]]:
        """Yield a call of the function for each target, or one with the whole reference."""
        function = self._function
        options = {**self._options, "trial": trial} if self.takes_trial else self._options
        if function.takes_target:
            for target in reference.targets:
                yield functools.partial(function.call, answer, target, **options)
        elif function.takes_reference:
            yield functools.partial(function.call, answer, reference=reference, **options)
        else:
            yield functools.partial(function.call, answer, **options)

    def _identity(self) -> str:
        function = self._function
        parts: dict[str, object] = {
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


def _is_no_answer(answer: str, reference: Reference) -> bool:
    if answer.casefold() == INVALID:
        return True
    # Nothing but white space answers only the question whose target is that.
    return not answer.strip() and all(target.strip() for target in reference.targets)


class _BestTarget:
    """The best score over the targets of a problem."""

    def __init__(self, function: ScorerFunction) -> None:
        self._function = function
        self._best: float | None = None
        self.failure: Exception | None = None  # of a target that could not be compared
        self.is_met = False

    def add(self, value: object) -> None:
        number = self._function.number(value)
        if self._best is None or self._function.better(number, self._best):
            self._best = number
        self.is_met = self._function.is_best(number)

    def result(self) -> float:
        """Return the score; raise if a target failed and none is met: it might have been."""
        if self.failure is not None and not self.is_met:
            raise self.failure
        if self._best is None:
            raise InvalidInput("the problem has no target.")
        return self._best
