"""Replies of known servers, as they send them, and what passband makes of each.

A case is a server, what it plays, and the outcome: for an answer the status of the trial, for an
error the fault. `play` makes it a behaviour of the fault server, so that it goes through the real
HTTP client; `ALL` is played by tests/generate/test_wire_servers.py, a choice of it through a whole
run by tests/run/test_wire_servers.py. Bodies are those of the servers' own sources or captured
replies, shortened.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from passband.generate.provider import (
    Filtered,
    Finish,
    Hopeless,
    InvalidReply,
    ProviderFault,
    RateLimited,
    Rejected,
    TimedOut,
    TooLong,
    Unavailable,
    Unfinished,
    UnsupportedSetting,
)
from support.servers.fault_server import Behaviour, Exchange

Json = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """One reply, and what it means."""

    server: str
    name: str
    body: Any  # JSON, or bytes as they are
    outcome: Finish | type[ProviderFault]
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    seconds: float | None = None  # that a rate limit asks to wait
    everyone: bool = False  # whether the server is down for all
    text: str | None = "4"
    reasoning: str | None = None
    reason: str | None = None  # the server's word that is kept
    setting: str | None = None  # that the model does not take
    tokens: int | None = 7

    def __str__(self) -> str:
        return f"{self.server}: {self.name}"

    @property
    def data(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()

    def play(self) -> Behaviour:
        """Return a behaviour of the fault server that sends it."""

        async def play(exchange: Exchange) -> None:
            data = self.data
            named = {"Content-Length": str(len(data)), "Content-Type": "application/json"}
            lines = [f"{name}: {value}\r\n" for name, value in {**named, **self.headers}.items()]
            top = f"HTTP/1.1 {self.status} Status\r\n{''.join(lines)}\r\n".encode("latin-1")
            await exchange.write(top + data)

        return Behaviour(str(self), play)


# --- answers: why they ended -----------------------------------------------------------------


def said(finish: Any, content: Any = "4", *, top: Json | None = None, **message: Any) -> Json:
    """A reply with one choice."""
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": content, **message},
        "finish_reason": finish,
        **(top or {}),
    }
    usage = {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12}
    return {"id": "chatcmpl-1", "object": "chat.completion", "choices": [choice], "usage": usage}


CALL = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 2}'}}

WORDS: list[tuple[str, str, Finish]] = [
    ("OpenAI", "stop", "stop"),
    ("Together", "eos", "stop"),
    ("TGI", "eos_token", "stop"),
    ("TGI", "stop_sequence", "stop"),
    ("Anthropic", "end_turn", "stop"),
    ("Gemini", "STOP", "stop"),
    ("OpenAI Responses", "completed", "stop"),
    ("OpenAI", "length", "length"),
    ("some", "LENGTH", "length"),
    ("Mistral", "model_length", "length"),
    ("Anthropic", "max_tokens", "length"),
    ("Anthropic", "model_context_window_exceeded", "length"),
    ("Anthropic", "compaction", "length"),
    ("Gemini", "MAX_TOKENS", "length"),
    ("Gemini", "CONTINUATION", "length"),
    ("OpenAI Responses", "max_output_tokens", "length"),
    ("vLLM", "repetition", "length"),
    ("OpenAI", "content_filter", "content_filter"),
    ("Anthropic", "refusal", "content_filter"),
    *[("Gemini", word, "content_filter") for word in (
        "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE",
        "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "IMAGE_OTHER",
    )],
    ("Bedrock", "content_filtered", "content_filter"),
    ("Bedrock", "guardrail_intervened", "content_filter"),
    ("Zhipu", "sensitive", "content_filter"),
    ("OpenAI", "tool_calls", "tool_call"),
    ("OpenAI", "function_call", "tool_call"),
    ("Anthropic", "tool_use", "tool_call"),
    ("Gemini", "UNEXPECTED_TOOL_CALL", "tool_call"),
    ("Gemini", "MALFORMED_FUNCTION_CALL", "tool_call"),
    ("Gemini", "TOO_MANY_TOOL_CALLS", "tool_call"),
    ("Anthropic", "pause_turn", "unknown"),
    ("OpenAI Responses", "incomplete", "unknown"),
    ("OpenAI Responses", "max_messages", "unknown"),
    ("OpenAI Responses", "steered", "unknown"),
    ("Ollama", "load", "unknown"),
    ("Ollama", "unload", "unknown"),
    ("a later server", "compacted_and_continued", "unknown"),
]  # fmt: skip
KEPT_BARE = ("stop", "length", "content_filter", "tool_calls")

ENDINGS = [
    Case(server, word, said(word), finish, reason=None if word in KEPT_BARE else word)
    for server, word, finish in WORDS
]
BROKEN_OFF = [
    Case(server, word, said(word), InvalidReply)
    for server, word in [
        ("SGLang", "abort"), ("OpenRouter", "error"), ("DeepSeek", "insufficient_system_resource"),
        ("Zhipu", "network_error"), ("OpenAI Responses", "failed"),
        ("OpenAI Responses", "cancelled"), ("OpenAI Responses", "queued"),
        ("OpenAI Responses", "in_progress"),
    ]
]  # fmt: skip
ABSENT = said("stop")
del ABSENT["choices"][0]["finish_reason"]
UNCLEAR = [
    *[
        Case("Gemini", word, said(word), Unfinished, reason=word)
        for word in ("MALFORMED_RESPONSE", "OTHER", "FINISH_REASON_UNSPECIFIED", "NO_IMAGE")
    ],
    Case("Ollama", "null", said(None), Unfinished, reason="null"),
    Case("Ollama", "empty", said(""), Unfinished, reason=""),
    Case("a small server", "no finish_reason", ABSENT, Unfinished, reason="null"),
]

# --- answers: where things are ---------------------------------------------------------------

BLOCKED = {"candidates": [], "promptFeedback": {"blockReason": "SAFETY"}}
MISTRAL = [
    {"type": "thinking", "thinking": [{"type": "text", "text": "two and two"}], "closed": True},
    {"type": "text", "text": "4"},
]
DETAILS = [
    {"type": "reasoning.summary", "summary": "It is a sum."},
    {"type": "reasoning.encrypted", "data": "xxxx"},
    {"type": "reasoning.text", "text": "two and two"},
]
GEMINI_USAGE = {"prompt_tokens": 20, "completion_tokens": 198, "total_tokens": 623}
WITHHELD = said("SAFETY")
del WITHHELD["choices"][0]["message"]
EXPLAINED = {"stop_details": {"type": "refusal", "category": "bio", "explanation": "Not this."}}


def native(finish: str, word: str) -> Json:
    """A reply of OpenRouter, which also has the word of the provider behind it."""
    return said(finish, top={"native_finish_reason": word})


PLACES = [
    Case("OpenAI", "refusal", said("stop", None, refusal="I cannot."), "content_filter",
         text="I cannot."),
    Case("Anthropic", "refusal with its reason", said("refusal", "", top=EXPLAINED),
         "content_filter", text="Not this.", reason="refusal"),
    Case("Gemini", "withheld, no message", WITHHELD, "content_filter", text=None, reason="SAFETY"),
    Case("Gemini", "prompt blocked", BLOCKED, Filtered),
    Case("OpenAI", "tool call", said("tool_calls", None, tool_calls=[CALL]), "tool_call",
         text=None),
    Case("vLLM", "tool call, but stop", said("stop", "", tool_calls=[CALL]), "tool_call", text=""),
    Case("vLLM", "an answer beside a tool call", said("stop", "4", tool_calls=[CALL]), "stop"),
    Case("OpenAI", "no reasoning but length", said("length", None), "length", text=None),
    Case("SGLang", "reasoning only", said("length", None, reasoning_content="two"), "length",
         text=None, reasoning="two"),
    Case("vLLM", "reasoning", said("stop", reasoning="two and two"), "stop",
         reasoning="two and two"),
    Case("DeepSeek", "reasoning", said("stop", reasoning_content="two and two"), "stop",
         reasoning="two and two"),
    Case("OpenRouter", "reasoning details", said("stop", reasoning_details=DETAILS), "stop",
         reasoning="It is a sum.\ntwo and two"),
    Case("Mistral", "thinking parts", said("stop", MISTRAL), "stop", reasoning="two and two"),
    Case("Qwen on vLLM", "</think> without its opening", said("stop", "two\n</think>\n4"), "stop",
         text="two\n</think>\n4"),
    Case("OpenRouter", "cut, by its provider's word", native("stop", "MAX_TOKENS"), "length",
         reason="MAX_TOKENS"),
    Case("OpenRouter", "ended, by both words", native("stop", "end_turn"), "stop"),
    Case("OpenRouter", "error in a choice",
         said("error", top={"error": {"code": 502, "message": "Upstream"}}), Unavailable,
         everyone=True),
    Case("Gemini", "thoughts beside the tokens", said("stop") | {"usage": GEMINI_USAGE}, "stop",
         tokens=603),
    Case("some", "usage absent", {k: v for k, v in said("stop").items() if k != "usage"}, "stop",
         tokens=None),
    Case("some", "usage null", said("stop") | {"usage": None}, "stop", tokens=None),
    Case("some", "byte order mark", b"\xef\xbb\xbf" + json.dumps(said("stop")).encode(), "stop"),
    Case("DeepSeek", "blank lines first", b"\n\n\n" + json.dumps(said("stop")).encode(), "stop"),
    Case("some", "no content", {"choices": [{"message": {}, "finish_reason": "stop"}]},
         InvalidReply),
]  # fmt: skip

# --- errors ----------------------------------------------------------------------------------


def error(message: str, code: Any = None, kind: Any = None, **more: Any) -> Json:
    """Shape A."""
    return {"error": {"message": message, "type": kind, "param": None, "code": code, **more}}


def anthropic(kind: str, message: str, **details: Any) -> Json:
    """Shape C."""
    told = {"type": kind, "message": message, **({"details": details} if details else {})}
    return {"type": "error", "error": told, "request_id": "req_1"}


def gemini(quota: str | None, delay: str | None, message: str) -> Json:
    """Shape D."""
    base = "type.googleapis.com/google.rpc."
    failure = {"@type": f"{base}QuotaFailure", "violations": [{"quotaId": quota}]}
    info = {"@type": f"{base}RetryInfo", "retryDelay": delay}
    details = [part for part, stated in ((failure, quota), (info, delay)) if stated]
    status = "RESOURCE_EXHAUSTED"
    return {"error": {"code": 429, "message": message, "status": status, "details": details}}


QUOTA = (
    "You exceeded your current quota, please check your plan and billing details. For more "
    "information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits. * "
    "Quota exceeded for metric: generate_content_free_tier_requests, "
    "limit: 10, model: gemini-2.5-flash\nPlease retry in 25.908375862s."
)
PER_MINUTE = gemini("GenerateRequestsPerMinutePerProjectPerModel-FreeTier", "25s", QUOTA)
CONTEXT = "This model's maximum context length is 8192 tokens. However, your prompt contains 9001"
NOT_FLAT = {"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs"}]}
IN_FLIGHT = {"metadata": {"limit_source": "openrouter_in_flight_budget"}}
MODERATED = {"metadata": {"reasons": ["violence"], "flagged_input": "..."}}
NO_TEMPERATURE = (
    "Unsupported value: 'temperature' does not support 0.7 with this model. Only the default (1) "
    "value is supported."
)
NO_MAX_TOKENS = (
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
    "'max_completion_tokens' instead."
)
LARGE = "Request too large for model m on tokens per minute (TPM): Limit 6000, Requested 12328"
FULL = "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens"
SPENT = "You have reached your specified API usage limits."
AFTER = {"Retry-After": "3"}

MONEY = [
    *[
        Case("OpenAI", code, error("Spent.", code, kind), Hopeless, 429)
        for code in (
            "insufficient_quota", "credit_balance_exhausted", "organization_spend_limit_exceeded",
            "project_spend_limit_exceeded", "organization_usage_limit_exceeded",
            "billing_hard_limit_reached",
        )
        for kind in (["insufficient_quota", None] if code == "insufficient_quota" else [None])
    ],
    Case("OpenAI", "quota, in words", error("You exceeded your current quota."), Hopeless, 429),
    Case("Anthropic", "billing error", anthropic("billing_error", "Pay."), Hopeless, 402),
    Case("Anthropic", "spend limit", anthropic("rate_limit_error", "Too much.",
         error_code="enforced_spend_limit_reached"), Hopeless, 429),
    Case("Anthropic", "a set limit", anthropic("invalid_request_error", SPENT), Hopeless, 400),
    Case("DeepSeek", "402", error("Insufficient Balance"), Hopeless, 402),
    Case("OpenRouter", "402", error("Insufficient credits", 402), Hopeless, 402),
    Case("OpenRouter", "402 in flight", error("Budget in flight", 402, **IN_FLIGHT), RateLimited,
         402, AFTER, 3.0),
    Case("Gemini", "402", error("Pay", 402), Hopeless, 402),
    Case("Gemini", "per day", gemini("GenerateRequestsPerDayPerProject", "36s", QUOTA), Hopeless,
         429),
]  # fmt: skip
RATES = [
    Case("OpenAI", "rate limit", error("Slow.", "rate_limit_exceeded", "tokens"), RateLimited, 429),
    Case("OpenAI", "slow down", error("Slow.", "slow_down"), RateLimited, 429),
    Case("OpenAI", "in words", error("Please try again in 6m0.5s."), RateLimited, 429, {}, 360.5),
    Case("Groq", "tokens", error("Slow.", "rate_limit_exceeded", "tokens"), RateLimited, 429,
         AFTER, 3.0),
    Case("Anthropic", "rate limit", anthropic("rate_limit_error", "Slow."), RateLimited, 429,
         AFTER, 3.0),
    Case("Gemini", "per minute", PER_MINUTE, RateLimited, 429, {}, 25.0),
    Case("Gemini", "a list of one", [PER_MINUTE], RateLimited, 429, {}, 25.0),
    Case("Gemini", "in words alone", gemini(None, None, QUOTA), RateLimited, 429, {}, 25.908375862),
    Case("Mistral", "flat", {"object": "error", "message": "Slow.", "type": "rate_limited",
                             "code": "1300"}, RateLimited, 429),
    Case("TGI", "overloaded", {"error": "Model is overloaded", "error_type": "overloaded"},
         RateLimited, 429),
    Case("some", "429 in a 200", error("Slow.", 429), RateLimited),
    Case("some", "a code in a 200", error("Slow.", "rate_limit_exceeded"), RateLimited),
    Case("OpenAI", "not to be tried again", error("No."), Hopeless, 429,
         {"x-should-retry": "false"}),
    *[
        Case("some", f"wait {value!r}", error("Slow."), RateLimited, 429, {name: value}, wait)
        for name, value, wait in [
            ("Retry-After", "0", 0.0), ("Retry-After", "0.5", 0.5), ("Retry-After", "-1", None),
            ("Retry-After", "1e9", 86_400.0), ("Retry-After", "soon", None),
            ("Retry-After", "Thu, 01 Jan 1970 00:00:00 GMT", 0.0), ("retry-after-ms", "1500", 1.5),
        ]
    ],
]  # fmt: skip
ACCESS = [
    Case("OpenAI", "key", error("Incorrect API key", "invalid_api_key"), Hopeless, 401),
    Case("Anthropic", "key", anthropic("authentication_error", "invalid x-api-key"), Hopeless, 401),
    Case("Gemini", "key", [{"error": {"code": 400, "message": "API key not valid.",
                                      "status": "INVALID_ARGUMENT"}}], Hopeless, 400),
    Case("OpenAI", "region", error("Country not supported", "unsupported_country"), Hopeless, 403),
    Case("OpenAI", "model", error("No such model", "model_not_found"), Hopeless, 404),
    Case("vLLM", "model", error("The model does not exist.", 404, "NotFoundError"), Hopeless, 404),
    Case("Ollama", "model", {"error": "model 'm' not found"}, Hopeless, 404),
]  # fmt: skip
POLICY = [
    Case("Azure", "content filter", error("Filtered.", "content_filter"), Filtered, 400),
    Case("OpenAI", "policy", error("No.", "content_policy_violation"), Filtered, 400),
    Case("OpenAI", "flagged prompt", error("Your prompt was flagged as potentially violating our "
         "usage policy.", "invalid_prompt"), Filtered, 400),
    Case("OpenRouter", "moderation", error("Flagged.", 403, **MODERATED), Filtered, 403),
    Case("OpenRouter", "moderation in a 200", error("Flagged.", 403, **MODERATED), Filtered),
    Case("some", "refusal", error("No.", None, "refusal"), Filtered, 403),
]  # fmt: skip
LONG = [
    Case("OpenAI", "context", error(CONTEXT, "context_length_exceeded"), TooLong, 400),
    Case("vLLM", "context", error(CONTEXT, 400, "BadRequestError", param="input_tokens"), TooLong,
         400),
    Case("SGLang", "context", {"object": "error", "message": "The input (9001 tokens) is longer "
         "than the model's context length (8192 tokens).", "type": "BadRequestError", "code": 400},
         TooLong, 400),
    Case("llama.cpp", "context", error("the request exceeds the available context size", 400,
         "exceed_context_size_error", n_prompt_tokens=9001, n_ctx=8192), TooLong, 400),
    Case("Anthropic", "context", anthropic("invalid_request_error", "prompt is too long: 212345 "
         "tokens > 200000 maximum"), TooLong, 400),
    Case("Gemini", "context", error("The input token count (2000000) exceeds the maximum number of "
         "tokens allowed (1048576).", 400), TooLong, 400),
    Case("TGI", "context", {"error": FULL, "error_type": "validation"}, TooLong, 422),
    Case("OpenRouter", "context in a 200", error(CONTEXT, 400), TooLong),
    Case("Anthropic", "body", anthropic("request_too_large", "Too large."), TooLong, 413),
    Case("Groq", "more than a minute's tokens", error(LARGE, "rate_limit_exceeded", "tokens"),
         Rejected, 413),
    Case("OpenAI", "more than a minute's tokens", error(LARGE, "rate_limit_exceeded", "tokens"),
         Rejected, 429),
    Case("Cloudflare", "413", b"<html>413 Request Entity Too Large</html>", Rejected, 413),
]  # fmt: skip
SETTINGS = [
    Case("OpenAI", "temperature", error(NO_TEMPERATURE, "unsupported_value", param="temperature"),
         UnsupportedSetting, 400, setting="temperature"),
    Case("OpenAI", "max_tokens", error(NO_MAX_TOKENS, "unsupported_parameter", param="max_tokens"),
         UnsupportedSetting, 400, setting="max_tokens"),
    Case("OpenAI", "max_tokens too large", error("max_tokens is too large: 100000.",
         "invalid_value", param="max_tokens"), UnsupportedSetting, 400, setting="max_tokens"),
    Case("Anthropic", "temperature", anthropic("invalid_request_error",
         "`temperature` is deprecated for this model."), UnsupportedSetting, 400,
         setting="temperature"),
    Case("Groq", "limit too large", error("`max_completion_tokens` must be less than or equal to "
         "`8192`, the maximum value for `max_completion_tokens` is less than the `context_window` "
         "for this model", param="max_completion_tokens"), UnsupportedSetting, 400,
         setting="max_completion_tokens"),
    Case("Groq", "logprobs", error("`logprobs` is not supported with this model"),
         UnsupportedSetting, 400, setting="logprobs"),
    Case("Mistral", "seed", NOT_FLAT, UnsupportedSetting, 422, setting="seed"),
    Case("Mistral", "seed, wrapped", {"object": "error", "message": NOT_FLAT,
         "type": "invalid_request_error"}, UnsupportedSetting, 422, setting="seed"),
    Case("OpenAI", "stop", error("Unsupported parameter: 'stop' is not supported with this model.",
         "unsupported_parameter", param="stop"), UnsupportedSetting, 400, setting="stop"),
    Case("some", "about the messages", error("Invalid type for 'messages[0].content'.",
         "invalid_type", param="messages[0].content"), Rejected, 400),
]  # fmt: skip
SEVERAL = [
    Case("llama.cpp", "n", error("Only one completion choice is allowed", 500, "server_error"),
         Rejected, 500),
    Case("Groq", "n", error("'n' : number must be at most 1", None, "invalid_request_error"),
         Rejected, 400),
    Case("Anthropic", "n", anthropic("invalid_request_error", "n must be 1"), Rejected, 400),
    Case("vLLM", "n", error("n must be 1 when using greedy sampling, got 4.", 400,
         "BadRequestError"), Rejected, 400),
    Case("Gemini", "n", error("Only one candidate can be specified in the current model", 400),
         Rejected, 400),
    Case("some", "n in a 422", {"detail": [{"type": "less_than_equal", "loc": ["body", "n"],
         "msg": "Input should be less than or equal to 1"}]}, Rejected, 422),
    Case("some", "n in a 200", error("n > 1 is not supported"), Rejected),
]  # fmt: skip
DOWN = [
    Case("Anthropic", "overloaded", anthropic("overloaded_error", "Overloaded"), Unavailable, 529,
         everyone=True),
    Case("Anthropic", "overloaded, until", anthropic("overloaded_error", "Overloaded"),
         RateLimited, 529, AFTER, 3.0),
    Case("OpenAI", "overloaded", error("Busy", "server_is_overloaded"), Unavailable, 503,
         everyone=True),
    Case("Gemini", "unavailable", error("Busy", 503, status="UNAVAILABLE"), Unavailable, 503,
         everyone=True),
    Case("Groq", "capacity", error("Capacity exceeded", "capacity_exceeded"), Unavailable, 498,
         everyone=True),
    Case("llama.cpp", "loading", error("Loading model", 503, "unavailable_error"), Unavailable, 503,
         everyone=True),
    Case("OpenRouter", "provider", error("Provider returned error", 502,
         metadata={"raw": "upstream"}), Unavailable, 502, everyone=True),
    *[
        Case("Cloudflare", str(status), b"<html>error</html>", Unavailable, status, everyone=True)
        for status in range(520, 528)
    ],
    Case("nginx", "502", b"<html>502 Bad Gateway</html>", Unavailable, 502, everyone=True),
    Case("nginx", "504", b"", Unavailable, 504, everyone=True),
    Case("TGI", "generation", {"error": "Failed", "error_type": "generation"}, Unavailable, 424),
    Case("TGI", "incomplete", {"error": "Incomplete", "error_type": "incomplete_generation"},
         Unavailable, 500),
    Case("TGI", "template", {"error": "Template", "error_type": "template_error"}, Rejected, 422),
    Case("vLLM", "500", error("Internal", 500, "InternalServerError"), Unavailable, 500),
    Case("OpenAI", "500, not again", error("No."), Rejected, 500, {"x-should-retry": "false"}),
    Case("OpenAI", "400, again", error("No."), Unavailable, 400, {"x-should-retry": "true"}),
    Case("OpenAI", "timeout", error("Timeout"), TimedOut, 408),
    Case("Anthropic", "timeout", anthropic("timeout_error", "Timeout"), Unavailable, 504,
         everyone=True),
    Case("nginx", "moved", b"<html>301</html>", Rejected, 301,
         {"Location": "https://other.example:8443/v2/chat/completions?key=secret"}),
]  # fmt: skip

ANSWERS = [*ENDINGS, *BROKEN_OFF, *UNCLEAR, *PLACES]
ERRORS = [*MONEY, *RATES, *ACCESS, *POLICY, *LONG, *SETTINGS, *SEVERAL, *DOWN]
ALL = [*ANSWERS, *ERRORS]
