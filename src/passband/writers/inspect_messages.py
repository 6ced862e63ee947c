"""Convert messages of a prompt or a transcript to Inspect's."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

_ROLES = ("system", "user", "assistant", "tool")
_LIKE = {"developer": "system", "human": "user", "ai": "assistant", "function": "tool"}

Message = dict[str, Any]


def messages(transcript: Sequence[Mapping[str, object]]) -> list[Message]:
    """Return the messages of a transcript."""
    return [message(one) for one in transcript]


def message(one: Mapping[str, object]) -> Message:
    """Return a message with its role, its text and, if it has any, its calls of tools.

    >>> message({"role": "user", "content": "2+2?"})
    {'role': 'user', 'content': '2+2?'}
    """
    role = str(one.get("role"))
    role = role if role in _ROLES else _LIKE.get(role, "user")
    made: Message = {"role": role, "content": _content(one.get("content"))}
    calls = one.get("tool_calls")
    if role == "assistant" and isinstance(calls, list) and calls:
        made["tool_calls"] = [_call(call, number) for number, call in enumerate(calls)]
    if role == "tool":
        names = (("tool_call_id", "tool_call_id"), ("name", "function"), ("function", "function"))
        made |= {name: one[key] for key, name in names if isinstance(one.get(key), str)}
    return made


def answer_message(text: str | None, reasoning: str | None, model: str) -> Message:
    """Return the message of a completion."""
    content: object = text or ""
    if reasoning is not None:
        content = [{"type": "reasoning", "reasoning": reasoning}, {"type": "text", "text": content}]
    return {"role": "assistant", "content": content, "source": "generate", "model": model}


def _content(value: object) -> object:
    """Return the content of a message: a text, or parts that are texts and reasoning."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, list):
        return [_part(part) for part in value]
    return json.dumps(value, ensure_ascii=False)


def _part(part: object) -> Message:
    if isinstance(part, Mapping):
        for kind in ("text", "reasoning"):
            if part.get("type") == kind and isinstance(part.get(kind), str):
                return {"type": kind, kind: part[kind]}
    text = part if isinstance(part, str) else json.dumps(part, ensure_ascii=False)
    return {"type": "text", "text": text}


def _call(call: object, number: int) -> Message:
    """Return a call of a tool; OpenAI nests the function and writes its arguments as text."""
    stated: Mapping[str, object] = call if isinstance(call, Mapping) else {"arguments": call}
    nested = stated.get("function")
    inner: Mapping[str, object] = nested if isinstance(nested, Mapping) else stated
    function = inner.get("name") if inner is nested else nested
    arguments = inner.get("arguments")
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            arguments = {"text": arguments}
    if not isinstance(arguments, Mapping):
        arguments = {} if arguments is None else {"value": arguments}
    return {
        "id": str(stated.get("id") or number),
        "function": str(function or "unknown"),
        "arguments": dict(arguments),
        "type": "function",
    }
