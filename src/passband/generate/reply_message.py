"""The message of a choice: answer, reasoning, refusal and calls of tools, wherever they are."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from passband.generate.provider import InvalidReply, Message

__all__ = ["Parts", "reasoning_of", "refusal_of", "split_content", "tool_transcript"]


class Parts(NamedTuple):
    """The content of a message, split into the answer and what came before it."""

    text: str | None
    reasoning: str | None = None


def split_content(content: Any) -> Parts:
    """Return the answer and the reasoning of a message's content, which some send in parts.

    Mistral has parts {type: thinking, thinking: [{type: text, text}]}, Anthropic {type: thinking,
    thinking: text}, Gemini {text, thought: true}; the answer is in the parts with a text. Parts of
    which none has a text, and some are neither thoughts nor calls, are no answer: an image is not
    the empty text.

    >>> split_content([{"type": "thinking", "thinking": "2 and 2"}, {"type": "text", "text": "4"}])
    Parts(text='4', reasoning='2 and 2')
    """
    if content is None or isinstance(content, str):
        return Parts(content)
    if not isinstance(content, list):
        raise InvalidReply("the content of a message is neither text nor parts", http=200)
    texts: list[str] = []
    thoughts: list[str] = []
    others: list[Any] = []
    for part in content:
        if not isinstance(part, dict):
            others.append(part)
        elif part.get("type") == "thinking":
            thoughts.append(_joined(part.get("thinking")))
        elif isinstance(part.get("text"), str):
            (thoughts if part.get("thought") is True else texts).append(part["text"])
        elif not any(_SILENT.search(name) for name in (str(part.get("type")), *part)):
            others.append(part)
    if others and not texts:
        raise InvalidReply(f"no part of the reply's content has a text: {_named(others)}", http=200)
    return Parts("".join(texts), "".join(thoughts) or None)


# Calls of tools and their results, refusals, hidden reasoning: parts with no text to answer with.
_SILENT = re.compile("tool|function|refusal|thinking|reasoning|thought", re.IGNORECASE)


def _named(parts: Sequence[Any]) -> str:
    """Return the types of parts, for a message."""
    names = [one.get("type") or next(iter(one), "") if isinstance(one, dict) else type(one).__name__
             for one in parts]  # fmt: skip
    return ", ".join(dict.fromkeys(str(name)[:40] for name in names[:5]))


def reasoning_of(message: Mapping[str, Any]) -> str | None:
    """Return the reasoning that a message keeps beside its content.

    `reasoning_content` (SGLang, DeepSeek, llama.cpp, Fireworks, older vLLM), `reasoning` (vLLM,
    Ollama, OpenRouter, Groq), or the texts and summaries of `reasoning_details` (OpenRouter).
    """
    for name in ("reasoning_content", "reasoning"):
        value = message.get(name)
        if value and isinstance(value, str):
            return value
    details = message.get("reasoning_details")
    if not isinstance(details, list):
        return None
    parts = [part for part in details if isinstance(part, dict)]
    texts = [part.get("text") or part.get("summary") for part in parts]
    return "\n".join(text for text in texts if isinstance(text, str)) or None


def refusal_of(choice: Mapping[str, Any], message: Mapping[str, Any]) -> str | None:
    """Return the words in which the model or its server declines, where there are any."""
    refusal = message.get("refusal")
    if isinstance(refusal, str) and refusal:
        return refusal
    content = message.get("content")
    for part in content if isinstance(content, list) else ():
        if isinstance(part, dict) and isinstance(part.get("refusal"), str):
            return str(part["refusal"])
    details = choice.get("stop_details")  # Anthropic
    explanation = details.get("explanation") if isinstance(details, dict) else None
    return explanation if isinstance(explanation, str) and explanation else None


def tool_transcript(
    prompt: Sequence[Message], message: Mapping[str, Any], text: str | None
) -> list[dict[str, Any]] | None:
    """Return the conversation that ends in calls of tools; None where there are no calls."""
    calls = message.get("tool_calls")
    if not calls and message.get("function_call"):
        calls = [{"type": "function", "function": message["function_call"]}]
    if not isinstance(calls, list) or not calls:
        return None
    turns: list[dict[str, Any]] = [{"role": one.role, "content": one.content} for one in prompt]
    return [*turns, {"role": "assistant", "content": text, "tool_calls": _plain(calls)}]


def _joined(thinking: Any) -> str:
    if isinstance(thinking, str):
        return thinking
    items = thinking if isinstance(thinking, list) else []
    texts = [item.get("text") for item in items if isinstance(item, dict)]
    return "".join(text for text in texts if isinstance(text, str))


def _plain(calls: list[Any]) -> list[Any]:
    """Return calls as they can be stored: NaN and the like, which JSON does not have, as text."""
    try:
        plain: list[Any] = json.loads(json.dumps(calls), parse_constant=str)
        json.dumps({"nested": [[plain]]})
    except (ValueError, RecursionError):
        return [{"type": "function", "function": {"name": "unreadable"}}]
    return plain
