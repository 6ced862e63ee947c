"""Replies of Anthropic's Messages API and of Google's generateContent, and what each means.

Written from the documentation of the two services; `wire_servers` has those of OpenAI's protocol.
"""

from __future__ import annotations

import json
from typing import Any

from passband.generate.provider import (
    Filtered,
    Hopeless,
    InvalidReply,
    RateLimited,
    Rejected,
    TooLong,
    Unavailable,
    Unfinished,
    UnsupportedSetting,
)
from support.servers.fault_server import Behaviour, Exchange
from support.servers.wire_servers import PER_MINUTE, Case, anthropic, gemini

Json = dict[str, Any]

# --- Anthropic -------------------------------------------------------------------------------

TEXT = {"type": "text", "text": "4"}
THINKING = {"type": "thinking", "thinking": "two and two", "signature": "c2ln"}
REDACTED = {"type": "redacted_thinking", "data": "eHh4"}
TOOL = {"type": "tool_use", "id": "t1", "name": "add", "input": {"a": 2}}


def message(stop: str | None, *content: Any, usage: Any = None, **more: Any) -> Json:
    """A reply of the Messages API."""
    counted = {"input_tokens": 5, "output_tokens": 7} if usage is None else usage
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m",
        "content": list(content), "stop_reason": stop, "stop_sequence": None, "usage": counted,
        **more,
    }  # fmt: skip


CACHED = {"input_tokens": 5, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 20,
          "output_tokens": 7, "output_tokens_details": {"thinking_tokens": 3}}  # fmt: skip
DETAILS = {"type": "refusal", "category": "bio", "explanation": "Not this."}

ANTHROPIC = [
    *[
        Case("Anthropic", word, message(word, TEXT), finish, reason=word)  # type: ignore[arg-type]
        for word, finish in (
            ("end_turn", "stop"), ("stop_sequence", "stop"), ("max_tokens", "length"),
            ("model_context_window_exceeded", "length"), ("refusal", "content_filter"),
            ("pause_turn", "unknown"),
        )
    ],
    Case("Anthropic", "thinking", message("end_turn", THINKING, REDACTED, TEXT), "stop",
         reasoning="two and two", reason="end_turn"),
    Case("Anthropic", "text in blocks", message("end_turn", TEXT, TEXT), "stop", text="44",
         reason="end_turn"),
    Case("Anthropic", "thinking alone", message("max_tokens", THINKING), "length", text="",
         reasoning="two and two", reason="max_tokens"),
    Case("Anthropic", "refusal explained", message("refusal", stop_details=DETAILS),
         "content_filter", text="Not this.", reason="refusal"),
    Case("Anthropic", "tool", message("tool_use", TOOL), "tool_call", text="", reason="tool_use"),
    Case("Anthropic", "no reason", message(None, TEXT), Unfinished),
    Case("Anthropic", "no content", {"id": "msg_1", "type": "message"}, InvalidReply),
    Case("Anthropic", "a text that is no block", message("end_turn", "42"), InvalidReply),
    Case("Anthropic", "a picture", message("end_turn", {"type": "image"}), InvalidReply),
    Case("Anthropic", "no block", message("end_turn"), "stop", text="", reason="end_turn"),
    Case("Anthropic", "not JSON", b"<html>", InvalidReply),
    Case("Anthropic", "error in a 200", anthropic("overloaded_error", "Busy"), Unavailable),
    Case("Anthropic", "no usage", message("end_turn", TEXT, usage={}), "stop", tokens=None,
         reason="end_turn"),
    Case("Anthropic", "overloaded", anthropic("overloaded_error", "Overloaded"), Unavailable, 529,
         everyone=True),
    Case("Anthropic", "rate", anthropic("rate_limit_error", "Slow."), RateLimited, 429,
         {"retry-after": "3"}, 3.0),
    Case("Anthropic", "key", anthropic("authentication_error", "invalid x-api-key"), Hopeless, 401),
    Case("Anthropic", "model", anthropic("not_found_error", "model: m"), Hopeless, 404),
    Case("Anthropic", "context", anthropic("invalid_request_error", "prompt is too long: 212345 "
         "tokens > 200000 maximum"), TooLong, 400),
    Case("Anthropic", "temperature", anthropic("invalid_request_error",
         "`temperature` is deprecated for this model."), UnsupportedSetting, 400,
         setting="temperature"),
    Case("Anthropic", "unknown field", anthropic("invalid_request_error",
         "top_kk: Extra inputs are not permitted"), Rejected, 400),
]  # fmt: skip


def event(kind: str, **fields: Any) -> Json:
    return {"type": kind, **fields}


STARTED = event("message_start", message=message(None, usage={"input_tokens": 5,
                "output_tokens": 1}))  # fmt: skip
ENDED = [
    event("message_delta", delta={"stop_reason": "end_turn", "stop_sequence": None},
          usage={"output_tokens": 7}),
    event("message_stop"),
]  # fmt: skip


def block(index: int, first: Json, *deltas: Json) -> list[Json]:
    """The events of one block of content."""
    return [
        event("content_block_start", index=index, content_block=first),
        *(event("content_block_delta", index=index, delta=delta) for delta in deltas),
        event("content_block_stop", index=index),
    ]


ANTHROPIC_STREAM = [
    STARTED,
    event("ping"),
    *block(0, {"type": "thinking", "thinking": ""},
           {"type": "thinking_delta", "thinking": "two "},
           {"type": "thinking_delta", "thinking": "and two"},
           {"type": "signature_delta", "signature": "c2ln"}),
    *block(1, {"type": "text", "text": ""},
           {"type": "text_delta", "text": "4"}, {"type": "text_delta", "text": "2"}),
    *ENDED,
]  # fmt: skip
ANTHROPIC_TOOL = [
    STARTED,
    *block(0, {"type": "tool_use", "id": "t1", "name": "add", "input": {}},
           {"type": "input_json_delta", "partial_json": '{"a": '},
           {"type": "input_json_delta", "partial_json": "2}"}),
    event("message_delta", delta={"stop_reason": "tool_use"}, usage={"output_tokens": 7}),
    event("message_stop"),
]  # fmt: skip


# --- Google ----------------------------------------------------------------------------------

COUNTED = {"promptTokenCount": 5, "candidatesTokenCount": 4, "thoughtsTokenCount": 3,
           "totalTokenCount": 12}  # fmt: skip


def content(finish: str | None, *parts: Any, usage: Any = COUNTED, **more: Any) -> Json:
    """A reply of generateContent with one candidate."""
    candidate = {"content": {"role": "model", "parts": list(parts)}, "index": 0,
                 "finishReason": finish}  # fmt: skip
    return {"candidates": [candidate], "usageMetadata": usage, "responseId": "r1",
            "modelVersion": "m-001", **more}  # fmt: skip


def bare(finish: str) -> Json:
    """A candidate whose content is withheld."""
    return {"candidates": [{"finishReason": finish, "index": 0}], "usageMetadata": COUNTED}


PART = {"text": "4"}
THOUGHT = {"text": "two and two", "thought": True}
CALLED = {"functionCall": {"name": "add", "args": {"a": 2}}}
PART_OF_ANSWER = {**COUNTED, "candidatesTokenCount": 7}
EMPTY = {"candidates": [{"content": {"role": "model"}, "finishReason": "MAX_TOKENS", "index": 0}],
         "usageMetadata": COUNTED}  # fmt: skip
BLOCKED = {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 5}}
QUOTA = "You exceeded your current quota, please check your plan and billing details."
UNKNOWN_FIELD = "Invalid JSON payload received. Unknown name \"top_kk\" at 'generation_config'"


def refusal(code: int, status: str, text: str) -> Json:
    return {"error": {"code": code, "message": text, "status": status}}


GOOGLE = [
    *[
        Case("Google", word, content(word, PART), finish, reason=word)  # type: ignore[arg-type]
        for word, finish in (
            ("STOP", "stop"), ("MAX_TOKENS", "length"), ("SAFETY", "content_filter"),
            ("RECITATION", "content_filter"), ("MALFORMED_FUNCTION_CALL", "tool_call"),
            ("A_LATER_WORD", "unknown"),
        )
    ],
    Case("Google", "thoughts", content("STOP", THOUGHT, PART), "stop", reasoning="two and two",
         reason="STOP"),
    Case("Google", "thoughts as part", content("STOP", PART, usage=PART_OF_ANSWER), "stop",
         reason="STOP"),
    Case("Google", "several parts", content("STOP", PART, PART), "stop", text="44", reason="STOP"),
    Case("Google", "all thought", EMPTY, "length", text=None, reason="MAX_TOKENS"),
    Case("Google", "withheld", bare("PROHIBITED_CONTENT"), "content_filter", text=None,
         reason="PROHIBITED_CONTENT"),
    Case("Google", "prompt blocked", BLOCKED, Filtered),
    Case("Google", "tool", content("STOP", CALLED), "tool_call", text="", reason="STOP"),
    Case("Google", "other", content("OTHER", PART), Unfinished),
    Case("Google", "no content", bare("STOP"), InvalidReply),
    Case("Google", "a text that is no part", content("STOP", "42"), InvalidReply),
    Case("Google", "a picture", content("STOP", {"inlineData": {"data": ""}}), InvalidReply),
    Case("Google", "no candidates", {"usageMetadata": COUNTED}, InvalidReply),
    Case("Google", "candidates of another kind", {"candidates": [5]}, InvalidReply),
    Case("Google", "no usage", content("STOP", PART, usage=None), "stop", tokens=None,
         reason="STOP"),
    Case("Google", "per minute", PER_MINUTE, RateLimited, 429, {}, 25.0),
    Case("Google", "per day", gemini("GenerateRequestsPerDayPerProject", "36s", QUOTA), Hopeless,
         429),
    Case("Google", "key", refusal(400, "INVALID_ARGUMENT", "API key not valid."), Hopeless, 400),
    Case("Google", "model", refusal(404, "NOT_FOUND", "models/m is not found"), Hopeless, 404),
    Case("Google", "busy", refusal(503, "UNAVAILABLE", "Busy"), Unavailable, 503, everyone=True),
    Case("Google", "context", refusal(400, "INVALID_ARGUMENT", "The input token count (2000000) "
         "exceeds the maximum number of tokens allowed (1048576)."), TooLong, 400),
    Case("Google", "several", refusal(400, "INVALID_ARGUMENT",
         "Multiple candidates is not enabled for this model"), Rejected, 400),
    Case("Google", "unknown field", refusal(400, "INVALID_ARGUMENT", UNKNOWN_FIELD), Rejected, 400),
]  # fmt: skip

GOOGLE_STREAM = [
    content(None, {"text": "two ", "thought": True}, usage={"promptTokenCount": 5}),
    content(None, {"text": "and two", "thought": True}),
    content(None, {"text": "4"}),
    content("STOP", {"text": "2"}),
]


def events(pieces: list[Json], *, named: bool = False) -> Behaviour:
    """A stream of these events."""

    async def play(exchange: Exchange) -> None:
        lines = [
            (f"event: {piece['type']}\n" if named else "") + f"data: {json.dumps(piece)}\n\n"
            for piece in pieces
        ]
        kind = "text/event-stream"
        await exchange.reply_in_chunks(200, [line.encode() for line in lines], content_type=kind)

    return Behaviour("events", play)
