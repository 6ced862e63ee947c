"""The OpenAI wire format: a request as JSON, a reply as completions.

Servers put the answer, reasoning, refusals and tool calls of a message into different fields.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from passband.generate.provider import (
    Completion,
    Filtered,
    Finish,
    InvalidReply,
    JsonMapping,
    JsonObject,
    Message,
    ProviderFault,
    Request,
    Sampling,
    Unfinished,
)
from passband.generate.servers.errors import excerpt, fault_in_success
from passband.generate.servers.finish import raw_reason, verdict_of
from passband.generate.usage import Tokens, shared_usage


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


def reasoning_of(message: JsonMapping) -> str | None:
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


def refusal_of(choice: JsonMapping, message: JsonMapping) -> str | None:
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
    prompt: Sequence[Message], message: JsonMapping, text: str | None
) -> list[JsonObject] | None:
    """Return the conversation that ends in calls of tools; None where there are no calls."""
    calls = message.get("tool_calls")
    if not calls and message.get("function_call"):
        calls = [{"type": "function", "function": message["function_call"]}]
    if not isinstance(calls, list) or not calls:
        return None
    turns: list[JsonObject] = [{"role": one.role, "content": one.content} for one in prompt]
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


_encode = json.JSONEncoder(separators=(",", ":")).encode
_HEADS = 8_000_000  # bytes of encoded prompts that are kept
_BOM = b"\xef\xbb\xbf"  # that some servers on Windows write before JSON


class PayloadWriter:
    """Writes the bodies of requests; what the trials of a problem share is encoded once."""

    def __init__(
        self, model: str, *, chat: bool, seed_name: str = "seed", stream: bool = False
    ) -> None:
        self._model, self._chat = model, chat
        self.stream = self.has_stream_options = stream
        self._seed = f',"{seed_name}":%d}}'.encode()
        self._seed_names = {"seed", seed_name}
        self.length_name: str | None = None  # that replaces the one of the settings
        self._heads: dict[tuple[int, int], _Head] = {}
        self._size = 0  # bytes of all heads

    def write(self, request: Request) -> bytes:
        """Return the body of a request."""
        place = id(request.messages), len(request.seeds)
        head = self._heads.get(place)
        if head is None or head.sampling is not request.sampling:
            head = self._add(place, request)
        seed = request.seeds[0]
        if seed is None or not self._seed_names.isdisjoint(request.sampling.extra):
            return head.text + b"}"
        return head.text + self._seed % seed

    @property
    def manner(self) -> tuple[object, ...]:
        """Return how requests are written now, beyond their settings."""
        return self.length_name, self.stream, self.has_stream_options

    def rename_length(self, name: str) -> None:
        """Send the limit of tokens under another name from now on."""
        self.length_name = name
        self._heads, self._size = {}, 0

    def change_stream(self, *, stream: bool, options: bool = True) -> None:
        """Ask for streams from now on, or no longer; `options` ask for their usage."""
        self.stream, self.has_stream_options = stream, stream and options
        self._heads, self._size = {}, 0

    def _add(self, place: tuple[int, int], request: Request) -> _Head:
        length_name = self.length_name or request.sampling.length_name
        fields = _fields(self._model, request, length_name, chat=self._chat)
        if self.stream:
            fields["stream"] = True
        if self.has_stream_options:
            fields["stream_options"] = {"include_usage": True}
        text = _encode(fields)[:-1].encode()
        # The head holds on to the messages, so that no others get their identity.
        head = _Head(request.messages, request.sampling, text)
        self._size += len(text)
        if self._size > _HEADS:
            self._heads, self._size = {}, len(text)
        self._heads[place] = head
        return head


class _Head(NamedTuple):
    """The body of a request up to its seed."""

    messages: tuple[Message, ...]
    sampling: Sampling
    text: bytes


def _fields(model: str, request: Request, length_name: str, *, chat: bool) -> JsonObject:
    """Return the fields of a request but the seed; parameters that are None are not sent."""
    sampling, count = request.sampling, len(request.seeds)
    fields: JsonObject = {"model": model}
    if chat:
        fields["messages"] = [{"role": m.role, "content": m.content} for m in request.messages]
    else:
        fields["prompt"] = "\n\n".join(message.content for message in request.messages)
    optional = {
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        length_name: sampling.max_tokens,
        "stop": list(sampling.stop) or None,
        "n": count if count > 1 else None,
    }
    fields |= {name: value for name, value in optional.items() if value is not None}
    return fields | dict(sampling.extra)


def read_reply(raw: bytes, request: Request, *, chat: bool) -> list[Completion]:
    """Return the completions of a reply with status 200, or raise a `ProviderFault`."""
    return completions_of(parsed_reply(raw), raw, request, chat=chat)


def completions_of(
    reply: JsonObject, raw: bytes, request: Request, *, chat: bool
) -> list[Completion]:
    """Return the completions of a reply; `raw` is how it came, for messages."""
    if reply.get("error"):
        raise fault_in_success(reply["error"], raw)
    choices = reply.get("choices")
    if not isinstance(choices, list) or not choices:
        raise _without_choices(reply, raw)
    wanted = _in_order(choices)[: len(request.seeds)]
    seed = request.seeds[0]  # one request has one seed; the place within it does the rest
    identity = reply.get("id")
    request_id = identity if isinstance(identity, str) else None
    texts = [_plain_text(choice) for choice in wanted] if chat else [None]
    if None not in texts:  # the usual case, which should not take longer for all the others
        return [
            Completion(
                text,
                "stop",
                None,
                tokens_in,
                tokens_out,
                seed,
                request_id,
                reasoning_tokens=reasoned,
                cached_tokens=cached,
            )
            for text, (tokens_in, tokens_out, reasoned, cached) in zip(
                texts, shared_usage(reply.get("usage"), texts), strict=True
            )
        ]
    answers = [_answer(choice, request, chat) for choice in wanted]
    tokens = shared_usage(reply.get("usage"), [answer.text for answer in answers])
    completions = [
        answer.completion(shares, seed, request_id)
        for answer, shares in zip(answers, tokens, strict=True)
    ]
    unclear = [answer.reason for answer in answers if answer.is_unclear]
    if unclear:
        detail = f"the reply does not say why the answer ended (finish_reason: {unclear[0]})"
        raise Unfinished(detail, completions, http=200)
    return completions


class _Answer(NamedTuple):
    """A choice of a reply."""

    text: str | None
    reasoning: str | None
    finish: Finish = "stop"
    reason: str | None = None  # the server's word, where it says more than `finish`
    transcript: list[JsonObject] | None = None
    is_unclear: bool = False  # whether the server does not say that it is complete

    def completion(self, tokens: Tokens, seed: int | None, request_id: str | None) -> Completion:
        return Completion(
            self.text,
            self.finish,
            self.reasoning,
            tokens.prompt,
            tokens.completion,
            seed,
            request_id,
            self.transcript,
            finish_reason=self.reason,
            reasoning_tokens=tokens.reasoning,
            cached_tokens=tokens.cached,
        )


def _in_order(choices: list[Any]) -> list[Any]:
    """Return choices by their `index`; as they came, if one has none or two have the same."""
    try:
        places = [choice.get("index") for choice in choices]
    except AttributeError:  # not an object, which is reported later
        return choices
    if places == list(range(len(choices))):
        return choices
    if len(set(map(repr, places))) < len(places) or any(type(place) is not int for place in places):
        return choices
    return sorted(choices, key=lambda choice: int(choice["index"]))


def _plain_text(choice: Any) -> str | None:
    """Return the text of a choice that ended by itself and has nothing but a text; else None."""
    try:
        message = choice["message"]
        text = message["content"]
        if choice["finish_reason"] != "stop" or type(text) is not str:
            return None
        if len(message) > 2 or "role" not in message:
            get = message.get  # one by one: a loop would take twice as long
            if get("refusal") or get("tool_calls") or get("function_call"):
                return None
            if get("reasoning_content") or get("reasoning") or get("reasoning_details"):
                return None
    except (LookupError, TypeError, AttributeError):
        return None
    return text if "native_finish_reason" not in choice else None


def _answer(choice: Any, request: Request, chat: bool) -> _Answer:
    """Return the answer of a choice, and why it ended."""
    if not isinstance(choice, dict):
        raise InvalidReply("a choice of the reply is not an object", http=200)
    if choice.get("error"):  # OpenRouter: the provider failed on the way
        raise fault_in_success(choice["error"], json.dumps({"error": choice["error"]}).encode())
    word = _reason(choice)
    verdict = verdict_of(word)
    if verdict == "broken":
        raise InvalidReply(f"the server broke the answer off: {word}", http=200)
    message, parts = _message(choice, verdict, chat)
    refusal = refusal_of(choice, message)
    transcript = tool_transcript(request.messages, message, parts.text)
    if refusal is not None and (message.get("refusal") or not parts.text):
        verdict = "content_filter"
    elif transcript is not None and verdict == "stop" and not (parts.text or "").strip():
        verdict = "tool_call"
    if verdict == "stop" and chat and "content" not in message and not parts.reasoning:
        raise InvalidReply("a message of the reply has no content", http=200)
    return _Answer(
        parts.text or refusal if verdict == "content_filter" else parts.text,
        parts.reasoning,
        "unknown" if verdict == "unclear" else verdict,
        raw_reason(word),
        transcript,
        verdict == "unclear",
    )


def _reason(choice: JsonObject) -> Any:
    """Return the finish reason; that of the model behind a router, where it is worse than stop."""
    word, native = choice.get("finish_reason"), choice.get("native_finish_reason")
    if word not in ("stop", None) or not isinstance(native, str):
        return word
    verdict = verdict_of(native)
    return native if verdict not in ("stop", "unknown", "unclear") else word


def _message(choice: JsonObject, verdict: str, chat: bool) -> tuple[JsonObject, Parts]:
    """Return the message of a choice and its parts; one that is withheld may have none."""
    if not chat:
        text = choice.get("text")
        if not isinstance(text, str) and verdict != "content_filter":
            raise InvalidReply("a choice of the reply has no text", http=200)
        return {}, Parts(text if isinstance(text, str) else None)
    message = choice.get("message")
    if not isinstance(message, dict):
        if verdict != "content_filter":
            raise InvalidReply("a choice of the reply has no message", http=200)
        message = {}
    parts = split_content(message.get("content"))
    return message, Parts(parts.text, parts.reasoning or reasoning_of(message))


def _without_choices(reply: JsonObject, raw: bytes) -> ProviderFault:
    """Return the fault of a reply without choices; Gemini answers blocked prompts in this way."""
    for name, reason in (("promptFeedback", "blockReason"), ("prompt_feedback", "block_reason")):
        feedback = reply.get(name)
        if isinstance(feedback, dict) and feedback.get(reason):
            return Filtered(f"the prompt was blocked: {excerpt(raw)}", http=200)
    return InvalidReply(f"the reply has no choices: {excerpt(raw)}", http=200)


def parsed_reply(raw: bytes) -> JsonObject:
    """Return the object of a reply; raise `InvalidReply` if it is none."""
    if raw.startswith(_BOM):
        raw = raw[len(_BOM) :]
    try:
        reply = json.loads(raw.decode("utf-8", "surrogatepass"))  # faster than to let it guess
    except (ValueError, RecursionError):
        raise InvalidReply(f"the reply is not JSON: {excerpt(raw)}", http=200) from None
    if not isinstance(reply, dict):
        raise InvalidReply(f"the reply is not a JSON object: {excerpt(raw)}", http=200)
    return reply
