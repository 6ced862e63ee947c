"""A provider for Google's models, by generateContent of the Gemini API.

Sources: Google's API reference (generateContent, GenerationConfig, UsageMetadata), types of the
google-genai package.

The wire format of Google's generateContent: a request as JSON, a reply as completions.

A reply is turned into one of OpenAI's protocol, which is then read like all others.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from passband.generate.provider import Completion, InvalidReply, JsonObject, Message, Request
from passband.generate.servers.client import Client, Server, api_key, native_url
from passband.generate.servers.event_stream import parsed_event
from passband.generate.servers.http import endpoint_of
from passband.generate.servers.openai_wire import completions_of, parsed_reply

_OF_REQUEST = frozenset({  # the other fields are those of generationConfig
    "safetySettings", "safety_settings", "tools", "toolConfig", "tool_config", "cachedContent",
    "cached_content", "labels", "serviceTier", "service_tier", "store",
})  # fmt: skip
_CONFIG = ("generationConfig", "generation_config")


def content_fields(request: Request) -> JsonObject:
    """Return the fields of a request; parameters that are None are not sent."""
    system = "\n\n".join(m.content for m in request.messages if m.role == "system")
    fields: JsonObject = {"contents": [_content(m) for m in request.messages if m.role != "system"]}
    if system:
        fields["systemInstruction"] = {"parts": [{"text": system}]}
    extra = request.sampling.extra
    fields |= {name: value for name, value in extra.items() if name in _OF_REQUEST}
    if config := _config(request):
        fields["generationConfig"] = config
    return fields


def _content(message: Message) -> JsonObject:
    role = "model" if message.role == "assistant" else "user"
    return {"role": role, "parts": [{"text": message.content}]}


def _config(request: Request) -> JsonObject:
    sampling, seed, count = request.sampling, request.seeds[0], len(request.seeds)
    extra = {
        name: value
        for name, value in sampling.extra.items()
        if name not in _OF_REQUEST and name not in _CONFIG
    }
    optional = {
        "temperature": sampling.temperature,
        "topP": sampling.top_p,
        "maxOutputTokens": sampling.max_tokens,
        "stopSequences": list(sampling.stop) or None,
        "candidateCount": count if count > 1 else None,
        "seed": seed,
    }
    named = {name: value for name, value in optional.items() if value is not None}
    given = [sampling.extra[name] for name in _CONFIG if name in sampling.extra]
    whole = {k: v for one in given if isinstance(one, Mapping) for k, v in one.items()}
    return {**named, **whole, **extra}


def read_content(raw: bytes, request: Request) -> list[Completion]:
    """Return the completions of a reply with status 200, or raise a `ProviderFault`."""
    return completions_of(_of_openai(parsed_reply(raw)), raw, request, chat=True)


def _of_openai(reply: JsonObject) -> JsonObject:
    """Return a reply in the form of OpenAI's protocol."""
    candidates = reply.get("candidates")
    several = candidates if isinstance(candidates, list) else []
    choices = [_choice(place, candidate) for place, candidate in enumerate(several)]
    kept: JsonObject = {name: reply[name] for name in ("error", "promptFeedback") if name in reply}
    return {
        **kept,
        "id": reply.get("responseId"),
        "choices": choices,
        "usage": _usage(reply.get("usageMetadata")),
    }


def _choice(place: int, candidate: Any) -> Any:
    if not isinstance(candidate, dict):
        return candidate
    choice: JsonObject = {
        "index": candidate.get("index", place),
        "finish_reason": candidate.get("finishReason"),
    }
    content = candidate.get("content")
    if not isinstance(content, dict):
        return choice
    stated = content.get("parts")
    parts = stated if isinstance(stated, list) else []
    pieces = [part for part in parts if isinstance(part, dict)]
    calls = [part["functionCall"] for part in pieces if isinstance(part.get("functionCall"), dict)]
    message: JsonObject = {"role": "assistant", "content": parts if parts else None}
    if calls:
        message["tool_calls"] = [_call(call) for call in calls]
    return {**choice, "message": message}


def _call(call: JsonObject) -> JsonObject:
    function = {"name": call.get("name"), "arguments": json.dumps(call.get("args"))}
    return {"id": call.get("id"), "type": "function", "function": function}


def _usage(usage: Any) -> JsonObject | None:
    """Return tokens by OpenAI's names.

    Thoughts are counted beside the answer, unless the total says that they are part of it.
    """
    if not isinstance(usage, dict):
        return None
    names = ("promptTokenCount", "toolUsePromptTokenCount", "candidatesTokenCount",
             "thoughtsTokenCount", "totalTokenCount", "cachedContentTokenCount")  # fmt: skip
    counts = [usage.get(name) if type(usage.get(name)) is int else None for name in names]
    prompt, tools, answer, thoughts, total, cached = counts
    asked = (prompt or 0) + (tools or 0)
    is_part = total is not None and asked + (answer or 0) == total
    said = (answer or 0) + (0 if is_part else thoughts or 0)
    return {
        "prompt_tokens": None if prompt is None else asked,
        "completion_tokens": None if answer is None and thoughts is None else said,
        "completion_tokens_details": {"reasoning_tokens": thoughts},
        "prompt_tokens_details": {"cached_tokens": cached},  # part of promptTokenCount
    }


class ContentStream:
    """The reply of a stream, each event of which is a reply with the next piece."""

    is_complete = False  # the stream ends without a word

    def __init__(self) -> None:
        self._top: JsonObject = {}
        self._candidates: dict[int, JsonObject] = {}

    def add(self, data: bytes) -> int:
        """Take in the data of an event."""
        event = parsed_event(data)
        candidates = event.pop("candidates", None)
        self._top |= {name: value for name, value in event.items() if value is not None}
        if "error" in event:
            self.is_complete = True
        several = candidates if isinstance(candidates, list) else []
        return sum(self._add(one) for one in several if isinstance(one, dict))

    def _add(self, piece: JsonObject) -> int:
        index = piece.get("index")
        place = index if type(index) is int else 0
        whole = self._candidates.setdefault(place, {"index": place})
        content = piece.pop("content", None)
        whole |= {name: value for name, value in piece.items() if value is not None}
        if not isinstance(content, dict):
            return 0
        parts = whole.setdefault("content", {"role": "model", "parts": []})["parts"]
        stated = content.get("parts")
        added = stated if isinstance(stated, list) else []
        parts += added
        return sum(len(str(part.get("text", ""))) for part in added if isinstance(part, dict))

    def reply(self) -> JsonObject:
        """Return the whole reply; a stream that ends before its answers do is none."""
        if "error" in self._top:
            return {"error": self._top["error"]}
        candidates = [one for _, one in sorted(self._candidates.items())]
        if not all(one.get("finishReason") for one in candidates):
            raise InvalidReply("the stream ended before the answer did", http=200)
        return {**self._top, "candidates": candidates}


_DEFAULT_URL = "https://generativelanguage.googleapis.com/v1beta"
_KEYS = ("GEMINI_API_KEY", "GOOGLE_API_KEY")


class GoogleServer(Server):
    """A model behind `/models/NAME:generateContent`."""

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        timeout: float = 600.0,
        batch: int = 16,
        headers: Mapping[str, str] | None = None,
        stream: bool = False,
    ) -> None:
        headers = headers or {}
        url = native_url("google", model, base_url, "GOOGLE_GEMINI_BASE_URL", _DEFAULT_URL)
        key = api_key(_KEYS, url == _DEFAULT_URL, headers, "x-goog-api-key")
        own = {"x-goog-api-key": key} if key else {}
        client = Client(key=key, own_headers=own, headers=headers, timeout=timeout)
        super().__init__(client, url, headers)
        method = "streamGenerateContent" if stream else "generateContent"
        name = quote(model.removeprefix("models/"), safe="/-._~@")
        self._url = endpoint_of(url, f"models/{name}:{method}")
        if stream:
            self._url += ("&" if "?" in self._url else "?") + "alt=sse"
        self.batch = 1 if stream else batch

    async def generate(self, request: Request) -> Sequence[Completion]:
        """Make one attempt."""
        body = json.dumps(content_fields(request)).encode()
        return await self._client.post(
            self._url, body, lambda raw: read_content(raw, request), ContentStream
        )
