"""A finished sample of Inspect as a completion, or as the fault that it ended with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from passband.generate.inspect.calls import Trial
from passband.generate.inspect.faults import final_fault
from passband.generate.inspect.generation import finish_of, reasoning_of
from passband.generate.provider import Completion, ProviderFault, TaskError
from passband.generate.secrets import redacted_values
from passband.score import Score, inspect_scores

_LONGEST = 500  # characters of an error
_CANCELLED = ("CancelledError(", "Cancelled(")


def completion_of(sample: Any, trial: Trial, model: Any) -> Completion:
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


def _fault(error: Any, trial: Trial, model: Any) -> ProviderFault:
    """Return the fault of a sample that ended in an error: the model's, or the task's own."""
    if error.message.startswith(_CANCELLED):
        return TaskError("the sample was cancelled by the task's own code")
    kind = type(trial.fault).__name__  # a solver may have caught it, and failed for another reason
    if trial.fault is not None and (kind in error.message or kind in error.traceback):
        return final_fault(trial.fault, model.api)
    return TaskError(" ".join(error.message.split())[:_LONGEST])


def _prompt_tokens(usage: Any) -> int:
    """Return all tokens that went in; Inspect counts cached ones apart."""
    cached = (usage.input_tokens_cache_read, usage.input_tokens_cache_write)
    return int(usage.input_tokens + sum(count or 0 for count in cached))


def _scores(scores: Any) -> dict[str, Score] | None:
    """Return the scores of all scorers by name; those of a mapping apart."""
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


def _transcript(messages: Sequence[Any], calls: int) -> list[dict[str, Any]] | None:
    """Return the conversation, where it is more than one answer to one prompt."""
    has_tools = any(getattr(message, "tool_calls", None) for message in messages)
    if calls < 2 and not has_tools:
        return None
    return [
        message.model_dump(mode="json", exclude_none=True, exclude={"id"}) for message in messages
    ]
