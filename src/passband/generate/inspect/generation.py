"""A generation of Inspect as a request to a provider, and the completion as Inspect's output."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from passband.generate.inspect.guard import HandedBack
from passband.generate.inspect.only_generates import unsupported
from passband.generate.provider import (
    Completion,
    Finish,
    JsonMapping,
    JsonObject,
    Message,
    Sampling,
)

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage

_SAME_NAME = ("frequency_penalty", "logit_bias", "presence_penalty", "reasoning_effort", "top_k")
_STOP_REASONS: dict[Finish, str] = {
    "stop": "stop",
    "length": "max_tokens",
    "content_filter": "content_filter",
    "tool_call": "tool_calls",
}
_FINISH: dict[str, Finish] = {
    "max_tokens": "length",
    "model_length": "length",
    "content_filter": "content_filter",
    "unknown": "unknown",  # an agent may well end with a call of a tool, but not for no reason
}


def sampling_of(sampling: Sampling, settings: JsonMapping) -> Sampling:
    """Return sampling parameters with the settings of a generation, which come before them.

    >>> sampling_of(Sampling(temperature=1.0), {"temperature": 0.6, "top_k": 40, "seed": 7})
    Sampling(temperature=0.6, top_p=None, max_tokens=None, stop=(), extra={'top_k': 40})
    """
    reasons = unsupported(settings)
    if reasons:
        raise HandedBack(reasons[0])
    chosen = {name: value for name, value in settings.items() if value is not None}
    extra = {name: chosen[name] for name in _SAME_NAME if name in chosen}
    body = {k: v for k, v in chosen.get("extra_body", {}).items() if k != "metadata"}
    named: JsonObject = {
        n: chosen[n] for n in ("temperature", "top_p", "max_tokens") if n in chosen
    }
    if "stop_seqs" in chosen:
        named["stop"] = tuple(chosen["stop_seqs"])
    return replace(sampling, **named, extra={**sampling.extra, **extra, **body})


def messages_of(conversation: Sequence[ChatMessage], system: str | None) -> tuple[Message, ...]:
    """Return the messages of a conversation, after a system message of the settings."""
    first = [Message("system", system)] if system else []
    return (*first, *map(_message, conversation))


def _message(message: ChatMessage) -> Message:
    if not isinstance(message.content, str) or message.role not in ("system", "user", "assistant"):
        raise HandedBack("a conversation has reasoning, media or tool calls")
    return Message(message.role, message.content)


def output_of(completion: Completion, model: str) -> Any:
    """Return a completion as the output of a model of Inspect: reasoning apart from the answer."""
    from inspect_ai.model import ChatCompletionChoice, ChatMessageAssistant, ModelOutput, ModelUsage

    message = ChatMessageAssistant(content=_content(completion), model=model, source="generate")
    reason = _STOP_REASONS.get(completion.finish, "unknown")
    output = ModelOutput(
        model=model, choices=[ChatCompletionChoice(message=message, stop_reason=reason)]
    )
    tokens = completion.prompt_tokens, completion.completion_tokens
    if tokens != (None, None):
        count_in, count_out = (count or 0 for count in tokens)
        output.usage = ModelUsage(
            input_tokens=count_in - (completion.cached_tokens or 0),
            output_tokens=count_out,
            total_tokens=count_in + count_out,
            input_tokens_cache_read=completion.cached_tokens,
            reasoning_tokens=completion.reasoning_tokens,
        )
    return output


def _content(completion: Completion) -> Any:
    """Return the content of a message: a text, or reasoning and a text.

    Inspect takes reasoning from its own field, or else from between <think> tags.
    """
    text, reasoning = completion.text or "", completion.reasoning
    if not reasoning and "<think" in text:
        from inspect_ai.model._reasoning import parse_content_with_reasoning

        rest, capsule = parse_content_with_reasoning(text)
        if capsule is not None:  # perhaps empty: models that do not think may leave the tags
            return _parts(rest or text, capsule.reasoning, "think")
    return _parts(text, reasoning) if reasoning else text


def _parts(text: str, reasoning: str, source: str | None = None) -> list[Any]:
    """Return reasoning and a text; the source says how reasoning goes back to the model."""
    from inspect_ai.model import ContentReasoning, ContentText

    return [ContentReasoning(reasoning=reasoning, internal=source), ContentText(text=text)]


def finish_of(output: Any) -> Finish:
    """Return why the answer of an output ended."""
    return _FINISH.get(output.stop_reason, "stop") if output.choices else "stop"


def reasoning_of(output: Any) -> str | None:
    """Return the reasoning of an output's message, where it is apart from the answer."""
    content = output.message.content if output.choices else ""
    if isinstance(content, str):
        return None
    parts = [part.reasoning for part in content if part.type == "reasoning"]
    return "\n".join(parts) or None
