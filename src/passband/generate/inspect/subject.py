"""A task of Inspect as a subject: Inspect executes every trial, and passband records it.

Inspect makes all the attempts that there will be, so every fault of a sample is final.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from passband.errors import describe
from passband.generate.inspect.calls import TrialCalls
from passband.generate.inspect.evaluation import InspectEvaluation
from passband.generate.inspect.generation import finish_of, reasoning_of
from passband.generate.inspect.source import InspectTask
from passband.generate.problem import Problem
from passband.generate.provider import (
    Completion,
    Filtered,
    GaveUp,
    Hopeless,
    InvalidReply,
    JsonObject,
    Provider,
    ProviderFault,
    Rejected,
    Sampling,
    TaskError,
)
from passband.generate.registry import Connection
from passband.generate.secrets import learn_secrets, redacted_values
from passband.generate.subject import Model, Seeds, Subject
from passband.score import Score, inspect_scores

if TYPE_CHECKING:
    from inspect_ai.log import EvalSample
    from inspect_ai.model import ChatMessage, ModelAPI, ModelUsage

_HOPELESS = (401, 402, 403, 404, 405)
_LONGEST = 500  # characters of an error


def final_fault(error: Exception, api: ModelAPI) -> ProviderFault:
    """Return the fault that a trial ends with, of the error of its model."""
    if isinstance(error, ProviderFault):
        return _of_provider(error)
    status = _status(error)
    detail = describe(error, _LONGEST)
    if status in _HOPELESS:
        return Hopeless(detail, http=status)
    if _is_transient(error, api):
        return GaveUp(detail, http=status)
    if status is not None and 400 <= status < 500:
        return Rejected(detail, http=status)
    return TaskError(detail, http=status)


def _of_provider(fault: ProviderFault) -> ProviderFault:
    """Return a fault of passband's own providers; none of them may be tried again."""
    if isinstance(fault, (Filtered, GaveUp, Hopeless, Rejected, TaskError)):
        return fault
    kind = Rejected if isinstance(fault, InvalidReply) else GaveUp
    return kind(fault.detail, http=fault.http)


def _status(error: Exception) -> int | None:
    for name in ("status_code", "code", "status"):
        value = getattr(error, name, None)
        if type(value) is int:
            return value
    return None


def _is_transient(error: Exception, api: ModelAPI) -> bool:
    """Return whether Inspect would have tried again, and so has done it to no avail."""
    decision = api.should_retry(error)
    return bool(getattr(decision, "retry", decision))


_CANCELLED = ("CancelledError(", "Cancelled(")


def completion_of(sample: EvalSample, trial: TrialCalls, model: Any) -> Completion:
    """Return what became of a trial, or raise the fault that ended it."""
    if sample.error is not None:
        raise _fault(sample.error, trial, model)
    output, usage = sample.output, sample.model_usage.get(str(model))
    return Completion(
        text=redacted_values(output.completion) if output.choices else None,
        finish="limit" if sample.limit is not None else finish_of(output),
        reasoning=redacted_values(reasoning_of(output)),
        prompt_tokens=None if usage is None else _prompt_tokens(usage),
        completion_tokens=None if usage is None else usage.output_tokens,
        seed=trial.seed,
        request_id=sample.uuid,
        transcript=redacted_values(_transcript(sample.messages, trial.calls)),
        cost=getattr(usage, "total_cost", None),
        scores=_scores(sample.scores),
        latency_ms=None if sample.working_time is None else int(1000 * sample.working_time),
        reasoning_tokens=getattr(usage, "reasoning_tokens", None),
        cached_tokens=getattr(usage, "input_tokens_cache_read", None),
    )


def _fault(error: Any, trial: TrialCalls, model: Any) -> ProviderFault:
    """Return the fault of a sample that ended in an error: the model's, or the task's own."""
    if error.message.startswith(_CANCELLED):
        return TaskError("the sample was cancelled by the task's own code")
    kind = type(trial.fault).__name__  # a solver may have caught it, and failed for another reason
    if trial.fault is not None and (kind in error.message or kind in error.traceback):
        return final_fault(trial.fault, model.api)
    return TaskError(" ".join(error.message.split())[:_LONGEST])


def _prompt_tokens(usage: ModelUsage) -> int:
    """Return all tokens that went in; Inspect counts cached ones apart."""
    cached = (usage.input_tokens_cache_read, usage.input_tokens_cache_write)
    return int(usage.input_tokens + sum(count or 0 for count in cached))


def _scores(scores: Any) -> dict[str, Score] | None:
    """Return the scores of all scorers by name; a mapping gives one score per key."""
    named: dict[str, Score] = {}
    for name, score in (scores or {}).items():
        named |= inspect_scores(
            name,
            score.value,
            answer=score.answer,
            explanation=score.explanation,
            reason=getattr(score, "reason", None),
        )
    return named or None


def _transcript(messages: Sequence[ChatMessage], calls: int) -> list[JsonObject] | None:
    """Return the conversation, where it is more than one answer to one prompt."""
    has_tools = any(getattr(message, "tool_calls", None) for message in messages)
    if calls < 2 and not has_tools:
        return None
    return [
        message.model_dump(mode="json", exclude_none=True, exclude={"id"}) for message in messages
    ]


_ALONE = 10.0  # seconds that the first request may hold up the others
_LARGEST = 20_000  # samples of one evaluation
_RETRIES = 8  # of one request; Inspect alone would go on for ever


class InspectSubject(Subject):
    """A model behind a task of Inspect: solvers, tools, sandboxes and scorers are Inspect's."""

    batch = 1
    is_costly = True  # no more trials than are in flight may be lost by a kill

    def __init__(
        self,
        source: InspectTask,
        model: Model,
        connection: Connection,
        reasons: Sequence[str] = (),
    ) -> None:
        self._source = source
        self._model = source.asked(model, connection)
        self._connection = connection
        learn_secrets()  # that Inspect's clients send
        self._evaluations: list[InspectEvaluation] = []  # the last is the current one
        self._first: asyncio.Event | None = None  # whether the first request has
        self._hopeless: Hopeless | None = None  # why there will be no answers
        self.name = self._model.name
        self.address = self._model.address
        self.spec = {} if self.provider is None else self.provider.spec
        self.config = {
            "engine": "inspect",
            "reasons": list(reasons),
            "inspect_ai": source.version,
            "client": self._model.path,
        }

    @property
    def provider(self) -> Provider | None:
        """The provider of passband that is asked; None if Inspect's own client asks."""
        return self._model.provider

    async def answer(
        self, problem: Problem, sampling: Sampling, seeds: Seeds, trials: Sequence[int]
    ) -> Sequence[Completion]:
        """Run one epoch of a sample: the trial's number, counted from 1."""
        is_first, evaluation = self._first is None, self._current(sampling)
        if is_first:
            self._first = asyncio.Event()
        else:
            await self._after_the_first(evaluation)
        trial = TrialCalls(seeds[0], heard=self._first)
        sample = self._source.samples[problem.key]
        try:
            ended = await evaluation.run(sample, trials[0] + 1, trial)
            return [completion_of(ended, trial, self._model.model)]
        except Hopeless as fault:
            self._hopeless = fault
            raise
        finally:
            if is_first and self._first is not None:
                self._first.set()

    def _current(self, sampling: Sampling) -> InspectEvaluation:
        """Return the evaluation to run a sample in; Inspect keeps a few kB of each that it ran."""
        if self._evaluations and self._evaluations[-1].count < _LARGEST:
            return self._evaluations[-1]
        for evaluation in self._evaluations:
            evaluation.finish()
        settings = _settings(self._source.task.config, sampling, self._connection)
        self._evaluations.append(InspectEvaluation(self._source.task, self._model.model, settings))
        return self._evaluations[-1]

    async def _after_the_first(self, evaluation: InspectEvaluation) -> None:
        """Let the first request go alone for a while: a wrong key must not be sent many times."""
        assert self._first is not None
        if not self._first.is_set():
            await evaluation.begun.wait()
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._first.wait(), _ALONE)
        if self._hopeless is not None:
            raise self._hopeless

    async def close(self) -> None:
        """End the evaluation, so that another may begin."""
        evaluations, self._evaluations = self._evaluations, []
        for evaluation in evaluations:
            await evaluation.close()
        await self._model.close()


def _settings(config: Any, sampling: Sampling, connection: Connection) -> JsonObject:
    """Return the options of the evaluation: no log, bounded attempts, the run's sampling."""
    generate = {
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "max_tokens": sampling.max_tokens,
        "stop_seqs": list(sampling.stop) or None,
        "max_connections": connection.concurrency,
        "max_retries": _RETRIES if config.max_retries is None else config.max_retries,
        "timeout": config.timeout or round(connection.timeout + connection.outage),
        "attempt_timeout": config.attempt_timeout or max(1, round(connection.timeout)),
        **_extra(sampling),
    }
    return {
        "log_samples": False,
        "log_realtime": False,
        "log_model_api": False,
        "score_display": False,
        "fail_on_error": False,
        "ctl_server": False,
        "max_samples": connection.concurrency,
        **{name: value for name, value in generate.items() if value is not None},
    }


def _extra(sampling: Sampling) -> JsonObject:
    """Return further parameters: by name where Inspect knows them, else in the body."""
    from inspect_ai.model import GenerateConfig

    known = {k: v for k, v in sampling.extra.items() if k in GenerateConfig.model_fields}
    others = {k: v for k, v in sampling.extra.items() if k not in known}
    return {**known, **({"extra_body": others} if others else {})}
