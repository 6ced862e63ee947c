"""A provider for Anthropic's Messages API.

Sources: Anthropic's API reference (Messages, streaming, errors), types of the anthropic package.

The wire format of Anthropic's Messages API: a request as JSON, a reply as completions.

A reply is turned into one of OpenAI's protocol, which is then read like all others.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from passband.generate.provider import (
    Completion,
    InvalidReply,
    JsonObject,
    Request,
    Sampling,
    UnsupportedSetting,
)
from passband.generate.servers.client import Client, Server, api_key, native_url
from passband.generate.servers.event_stream import parsed_event
from passband.generate.servers.http import address_of, endpoint_of
from passband.generate.servers.openai_wire import completions_of, parsed_reply

_INPUTS = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


def message_fields(model: str, request: Request, *, stream: bool) -> JsonObject:
    """Return the fields of a request; parameters that are None are not sent."""
    sampling = request.sampling
    system = "\n\n".join(m.content for m in request.messages if m.role == "system")
    turns = [m for m in request.messages if m.role != "system"]
    optional = {
        "system": system or None,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        # Stop texts of white space alone are rejected; they are applied to the answer instead.
        "stop_sequences": [stop for stop in sampling.stop if stop.strip()] or None,
        "stream": stream or None,
    }
    return {
        "model": model,
        "max_tokens": sampling.max_tokens,
        "messages": [{"role": m.role, "content": m.content} for m in turns],
        **{name: value for name, value in optional.items() if value is not None},
        **sampling.extra,
    }


def read_message(raw: bytes, request: Request) -> list[Completion]:
    """Return the completion of a reply with status 200, or raise a `ProviderFault`."""
    reply = parsed_reply(raw)
    if not reply.get("error") and not isinstance(reply.get("content"), list):
        raise InvalidReply("the reply has no content", http=200)
    blank = [stop for stop in request.sampling.stop if not stop.strip()]
    completions = completions_of(_of_openai(reply), raw, request, chat=True)
    return [_cut(completion._replace(seed=None), blank) for completion in completions]


def _of_openai(reply: JsonObject) -> JsonObject:
    """Return a reply in the form of OpenAI's protocol."""
    if reply.get("error"):
        return {"error": reply["error"]}
    blocks = [block for block in reply["content"] if isinstance(block, dict)]
    calls = [_call(block) for block in blocks if block.get("type") == "tool_use"]
    message: JsonObject = {"role": "assistant", "content": reply["content"]}
    if calls:
        message["tool_calls"] = calls
    choice = {
        "index": 0,
        "message": message,
        "finish_reason": reply.get("stop_reason"),
        "stop_details": reply.get("stop_details"),
    }
    return {"id": reply.get("id"), "choices": [choice], "usage": _usage(reply.get("usage"))}


def _call(block: JsonObject) -> JsonObject:
    function = {"name": block.get("name"), "arguments": json.dumps(block.get("input"))}
    return {"id": block.get("id"), "type": "function", "function": function}


def _usage(usage: Any) -> JsonObject | None:
    """Return tokens by OpenAI's names: tokens read from a cache are part of the prompt."""
    if not isinstance(usage, dict):
        return None
    inputs = [usage[name] for name in _INPUTS if type(usage.get(name)) is int]
    details = usage.get("output_tokens_details")
    thinking = details.get("thinking_tokens") if isinstance(details, dict) else None
    return {
        "prompt_tokens": sum(inputs) if inputs else None,
        "completion_tokens": usage.get("output_tokens"),
        "completion_tokens_details": {"reasoning_tokens": thinking},
        "prompt_tokens_details": {"cached_tokens": usage.get("cache_read_input_tokens")},
    }


def _cut(completion: Completion, stops: list[str]) -> Completion:
    """Return a completion up to the first of some stop texts, as a server would have ended it."""
    text = completion.text or ""
    places = [place for stop in stops if (place := text.find(stop)) >= 0]
    if not places or completion.finish not in ("stop", "length"):
        return completion
    return completion._replace(text=text[: min(places)], finish="stop", finish_reason=None)


class MessageStream:
    """The reply of a stream of events."""

    def __init__(self) -> None:
        self.is_complete = False
        self._message: JsonObject = {}
        self._usage: JsonObject = {}
        self._blocks: dict[int, JsonObject] = {}
        self._error: Any = None

    def add(self, data: bytes) -> int:
        """Take in the data of an event."""
        event = parsed_event(data)
        kind = event.get("type")
        if kind == "error" or event.get("error"):
            self._error, self.is_complete = event.get("error") or event, True
        elif kind == "message_start":
            self._message = _object(event.get("message"))
            self._usage |= _object(self._message.get("usage"))
        elif kind == "message_delta":
            self._message |= _object(event.get("delta"))
            stated = _object(event.get("usage"))  # of the whole message so far
            self._usage |= {name: value for name, value in stated.items() if value is not None}
        elif kind == "message_stop":
            self.is_complete = True
        elif kind in ("content_block_start", "content_block_delta"):
            return self._add_block(event)
        return 0  # a ping, the end of a block, or an event of a later version

    def _add_block(self, event: JsonObject) -> int:
        index = event.get("index")
        block = self._blocks.setdefault(index if type(index) is int else 0, {})
        block |= _object(event.get("content_block"))
        delta, added = _object(event.get("delta")), 0
        for name in ("text", "thinking", "partial_json"):
            piece = delta.get(name)
            if isinstance(piece, str):
                before = block.get(name)
                block[name] = (before if isinstance(before, str) else "") + piece
                added += len(piece)
        return added

    def reply(self) -> JsonObject:
        """Return the message; a stream that ends before it does is none."""
        if self._error is not None:
            return {"error": self._error}
        if not self.is_complete and not self._message.get("stop_reason"):
            raise InvalidReply("the stream ended before the answer did", http=200)
        content = [_whole(block) for _, block in sorted(self._blocks.items())]
        return {**self._message, "content": content, "usage": self._usage}


def _whole(block: JsonObject) -> JsonObject:
    """Return a block; the input of a tool comes as pieces of JSON."""
    if "partial_json" not in block:
        return block
    try:
        return {**block, "input": json.loads(block["partial_json"])}
    except (ValueError, RecursionError):
        return {**block, "input": block["partial_json"]}


def _object(value: Any) -> JsonObject:
    return value if isinstance(value, dict) else {}


_DEFAULT_URL = "https://api.anthropic.com/v1"
_VERSION = "2023-06-01"  # of the protocol; --header anthropic-version=... asks for another
_LONG = 21_333  # tokens, beyond which Anthropic's own clients refuse to wait without a stream


class AnthropicServer(Server):
    """A model behind `/v1/messages`."""

    batch = 1  # the API has no n

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        timeout: float = 600.0,
        headers: Mapping[str, str] | None = None,
        stream: bool = False,
    ) -> None:
        headers = headers or {}
        url = native_url("anthropic", model, base_url, "ANTHROPIC_BASE_URL", _DEFAULT_URL)
        if not address_of(url).endswith("/v1"):  # as the variable has it for Anthropic's clients
            url = endpoint_of(url, "v1")
        key = api_key(["ANTHROPIC_API_KEY"], url == _DEFAULT_URL, headers, "x-api-key")
        own = {"anthropic-version": _VERSION, **({"x-api-key": key} if key else {})}
        client = Client(key=key, own_headers=own, headers=headers, timeout=timeout)
        super().__init__(client, url, headers)
        self._model, self._stream = model, stream
        self._url = endpoint_of(url, "messages")
        self._has_blank_stop = False

    @property
    def notes(self) -> list[str]:
        """Return what the user should know about the requests so far."""
        if not self._has_blank_stop:
            return []
        return ["Anthropic takes no stop text of white space alone; answers are cut at it here"]

    def ignored(self, sampling: Sampling, *, seeds: bool) -> list[str]:
        """Return sentences on settings that are known to have no effect."""
        return ["Anthropic's Messages API has no seed: its answers cannot be drawn again"] * seeds

    async def generate(self, request: Request) -> Sequence[Completion]:
        """Make one attempt."""
        sampling = request.sampling
        if sampling.max_tokens is None:
            raise UnsupportedSetting(
                "Anthropic's Messages API needs a limit of tokens. Give --max-tokens.", "max_tokens"
            )
        stream = self._stream or sampling.max_tokens > _LONG
        self._has_blank_stop |= any(not stop.strip() for stop in sampling.stop)
        fields = message_fields(self._model, request, stream=stream)
        return await self._client.post(
            self._url,
            json.dumps(fields).encode(),
            lambda raw: read_message(raw, request),
            MessageStream,
        )
