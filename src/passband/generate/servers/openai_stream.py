"""Streams of OpenAI's protocol, put together: chunks in, a reply as without streaming out.

Sources: OpenAI's API reference (chat.completion.chunk, stream_options), Mistral's (content in
parts), Groq's (usage in x_groq), the reasoning fields of vLLM, SGLang, DeepSeek and OpenRouter.
"""

from __future__ import annotations

from typing import Any

from passband.generate.provider import InvalidReply, JsonObject
from passband.generate.servers.event_stream import parsed_event

_DONE = b"[DONE]"
_TEXTS = ("content", "reasoning_content", "reasoning", "refusal")
_KEPT = ("finish_reason", "native_finish_reason", "stop_details", "stop_reason", "error")


class OpenAIStream:
    """The reply of a stream of chunks."""

    def __init__(self) -> None:
        self.is_complete = False
        self._top: JsonObject = {}
        self._choices: dict[int, _Choice] = {}

    def add(self, data: bytes) -> int:
        """Take in the data of an event."""
        if data.strip() == _DONE:
            self.is_complete = True
            return 0
        chunk = parsed_event(data)
        self._read_top(chunk)
        choices = chunk.get("choices")
        added = 0
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, dict):
                index = choice.get("index")
                place = index if type(index) is int else 0
                added += self._choices.setdefault(place, _Choice()).add(choice)
        return added

    def _read_top(self, chunk: JsonObject) -> None:
        groq = chunk.get("x_groq")
        usage = chunk.get("usage") or (groq.get("usage") if isinstance(groq, dict) else None)
        if isinstance(usage, dict):
            self._top["usage"] = usage  # of all so far: the last one counts
        if chunk.get("id"):
            self._top.setdefault("id", chunk["id"])
        for name in ("message", "detail"):  # an error without the word
            if chunk.get("object") == "error" and chunk.get(name):
                chunk.setdefault("error", chunk)
        if chunk.get("error"):
            self._top.setdefault("error", _plain_error(chunk))
            self.is_complete = True

    def reply(self) -> JsonObject:
        """Return the reply; one that ends before its answers do is none."""
        if "error" in self._top:
            return {"error": self._top["error"]}
        if not self.is_complete and not all(c.has_ended for c in self._choices.values()):
            raise InvalidReply("the stream ended before the answer did", http=200)
        choices = [choice.whole(index) for index, choice in sorted(self._choices.items())]
        return {**self._top, "choices": choices}


class _Choice:
    """A choice of the reply, while its pieces come in."""

    def __init__(self) -> None:
        self._pieces: dict[str, list[str]] = {}
        self._parts: list[Any] = []  # of a content that comes in parts
        self._details: list[Any] = []
        self._calls: dict[int, JsonObject] = {}
        self._kept: JsonObject = {}
        self._text: list[str] = []  # of text completions
        self._is_chat = False

    @property
    def has_ended(self) -> bool:
        return bool(self._kept.get("finish_reason"))

    def add(self, choice: JsonObject) -> int:
        """Take in a piece; return how many characters it had."""
        self._kept |= {name: choice[name] for name in _KEPT if choice.get(name) is not None}
        if isinstance(choice.get("text"), str):
            self._text.append(choice["text"])
            return len(choice["text"])
        delta = choice.get("delta") or choice.get("message")
        if not isinstance(delta, dict):
            return 0
        self._is_chat = True
        return self._add_delta(delta)

    def _add_delta(self, delta: JsonObject) -> int:
        added = 0
        for name in _TEXTS:
            value = delta.get(name)
            if isinstance(value, str):
                added += len(value)
                if name == "content" and self._parts:
                    self._parts.append({"type": "text", "text": value})
                else:
                    self._pieces.setdefault(name, []).append(value)
        if isinstance(delta.get("content"), list):
            before = self._pieces.pop("content", [])
            self._parts += [{"type": "text", "text": text} for text in before]
            self._parts += delta["content"]
            added += len(str(delta["content"]))
        if isinstance(delta.get("reasoning_details"), list):
            self._details += delta["reasoning_details"]
        calls = delta.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, dict):
                self._add_call(call)
        return added

    def _add_call(self, call: JsonObject) -> None:
        index = call.get("index")
        whole = self._calls.setdefault(index if type(index) is int else 0, {"type": "function"})
        function = whole.setdefault("function", {"name": "", "arguments": ""})
        if call.get("id"):
            whole["id"] = call["id"]
        piece = call.get("function")
        for name in ("name", "arguments"):
            if isinstance(piece, dict) and isinstance(piece.get(name), str):
                function[name] += piece[name]

    def whole(self, index: int) -> JsonObject:
        """Return the choice as it would be without streaming."""
        kept = {"index": index, "finish_reason": None, **self._kept}
        if not self._is_chat:
            return {**kept, "text": "".join(self._text)}
        texts = {name: "".join(pieces) for name, pieces in self._pieces.items()}
        message: JsonObject = {"role": "assistant", "content": None, **texts}
        if self._parts:
            message["content"] = self._parts
        if self._details:
            message["reasoning_details"] = self._details
        if self._calls:
            message["tool_calls"] = [call for _, call in sorted(self._calls.items())]
        return {**kept, "message": message}


def _plain_error(chunk: JsonObject) -> Any:
    error = chunk["error"]
    return {k: v for k, v in error.items() if v is not chunk} if error is chunk else error
