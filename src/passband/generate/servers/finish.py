"""Why an answer ended: the words of servers, and what each means for the trial.

Sources of the words: oa = types of the openai package 3.49, an = of anthropic 2.8, gg = of
google-genai 3.1, mi = of mistralai 3.7, to = of together 3.0, or = of openrouter 1.3, vl = vllm
0.32, sg = sglang 0.5, ol = ollama's openai/openai.go, tg = text-generation-inference, lt = the map
of litellm 1.108 (litellm_core_utils/core_helpers.py), which covers Bedrock and Zhipu, ds = the API
reference of DeepSeek. Words are compared in lower case: Gemini writes its own in capitals.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from passband.generate.provider import Finish

Verdict = Literal[Finish, "broken", "unclear"]
"""What a word means: why the answer ended; "broken", it did not, and is asked for again; or
"unclear", which is asked for again once, and `unknown` if it is no clearer then."""

_WORDS: Mapping[str, Verdict] = {
    # The answer is complete.
    "stop": "stop",  # oa and all of its kind; gg STOP: natural end or stop sequence
    "eos": "stop",  # to
    "eos_token": "stop",  # tg
    "stop_sequence": "stop",  # tg, an
    "end_turn": "stop",  # an
    "completed": "stop",  # oa, Responses
    # It was cut.
    "length": "length",  # oa and all of its kind; vl also where the context is full
    "model_length": "length",  # mi: the context is full
    "max_tokens": "length",  # an, gg
    "max_output_tokens": "length",  # oa, Responses
    "model_context_window_exceeded": "length",  # an
    "compaction": "length",  # an, beta: the context was compacted
    "continuation": "length",  # gg: the limit of one request, to be continued
    "repetition": "length",  # vl: the server saw a repeating pattern and stopped it
    # It was withheld, or the model declined.
    "content_filter": "content_filter",  # oa, ds, or
    "content_filtered": "content_filter",  # lt, Bedrock
    "guardrail_intervened": "content_filter",  # lt, Bedrock
    "sensitive": "content_filter",  # lt, Zhipu
    "refusal": "content_filter",  # an: a classifier stepped in; partial text may be there
    "safety": "content_filter",  # gg, and the seven that follow
    "recitation": "content_filter",
    "blocklist": "content_filter",
    "prohibited_content": "content_filter",
    "spii": "content_filter",
    "language": "content_filter",
    "image_safety": "content_filter",
    "image_prohibited_content": "content_filter",
    "image_recitation": "content_filter",
    "image_other": "content_filter",
    # It is a call of a tool, although none was offered.
    "tool_calls": "tool_call",  # oa and all of its kind
    "function_call": "tool_call",  # oa, older
    "tool_call": "tool_call",  # passband's own word
    "tool_use": "tool_call",  # an
    "unexpected_tool_call": "tool_call",  # gg, and the two that follow
    "malformed_function_call": "tool_call",
    "too_many_tool_calls": "tool_call",
    # The server broke it off.
    "abort": "broken",  # vl, sg
    "aborted": "broken",
    "error": "broken",  # or, mi: the provider failed midway
    "insufficient_system_resource": "broken",  # ds: no machines were free
    "network_error": "broken",  # lt, Zhipu
    "failed": "broken",  # oa, Responses, and the three that follow
    "cancelled": "broken",
    "queued": "broken",
    "in_progress": "broken",
    # No verdict.
    "": "unclear",
    "null": "unclear",  # ol where the connection closed
    "malformed_response": "unclear",  # gg, and the three that follow
    "other": "unclear",
    "finish_reason_unspecified": "unclear",
    "no_image": "unclear",
    # Known, and neither an answer nor any of the above.
    "incomplete": "unknown",  # oa, Responses, without the details that say why
    "max_messages": "unknown",  # oa, Responses
    "steered": "unknown",  # oa, Responses
    "pause_turn": "unknown",  # an: a long turn that is to be continued
    "load": "unknown",  # ol: an empty request loaded the model
    "unload": "unknown",  # ol
}
_PLAIN = ("stop", "length", "content_filter", "tool_calls")  # say no more than the status does
_LONGEST = 60  # characters of a word that is kept


def verdict_of(word: Any) -> Verdict:
    """Return what a finish reason means; None, where there is none, is unclear.

    >>> verdict_of("stop"), verdict_of("MAX_TOKENS"), verdict_of(None), verdict_of("moonlight")
    ('stop', 'length', 'unclear', 'unknown')
    """
    if not isinstance(word, str):
        return "unclear" if word is None else "unknown"
    return _WORDS.get(word) or _WORDS.get(word.strip().lower(), "unknown")


def raw_reason(word: Any) -> str | None:
    """Return a finish reason as it is kept: None where it says no more than the status does.

    >>> raw_reason("stop"), raw_reason("SAFETY"), raw_reason(None)
    (None, 'SAFETY', 'null')
    """
    if word in _PLAIN:
        return None
    return "null" if word is None else str(word)[:_LONGEST]
