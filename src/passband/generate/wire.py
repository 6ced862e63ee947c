"""The OpenAI wire format: a request as JSON, a reply as completions, an error as a fault."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from passband.generate.provider import (
    Completion,
    Filtered,
    Finish,
    Hopeless,
    InvalidReply,
    Message,
    ProviderFault,
    RateLimited,
    Rejected,
    Request,
    Sampling,
    TimedOut,
    Unavailable,
)

__all__ = ["PayloadWriter", "fault_of", "read_reply", "retry_after"]

_FINISH: Mapping[str, Finish] = {"length": "length", "content_filter": "content_filter"}
_BROKEN_OFF = ("abort", "aborted", "cancelled", "error")  # reasons of a server that did not finish
_NO_MONEY = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active")
_encode = json.JSONEncoder(separators=(",", ":")).encode
_EXCERPT = 300  # characters of an error that are shown and kept
_HEADS = 8_000_000  # bytes of encoded prompts that are kept
_LONGEST = 86_400.0  # seconds; a server that names a longer wait is tried again after a day


class PayloadWriter:
    """Writes the bodies of requests; what the trials of a problem share is encoded once."""

    def __init__(self, model: str, *, chat: bool) -> None:
        self._model, self._chat = model, chat
        self._heads: dict[tuple[int, int], _Head] = {}
        self._size = 0  # bytes of all heads

    def write(self, request: Request) -> bytes:
        """Return the body of a request."""
        place = id(request.messages), len(request.seeds)
        head = self._heads.get(place)
        if head is None or head.sampling is not request.sampling:
            head = self._add(place, request)
        seed = request.seeds[0]
        if seed is None or "seed" in request.sampling.extra:
            return head.text + b"}"
        return b'%b,"seed":%d}' % (head.text, seed)

    def _add(self, place: tuple[int, int], request: Request) -> _Head:
        text = _encode(_fields(self._model, request, chat=self._chat))[:-1].encode()
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


def _fields(model: str, request: Request, *, chat: bool) -> dict[str, Any]:
    """Return the fields of a request but the seed; parameters that are None are not sent."""
    sampling, count = request.sampling, len(request.seeds)
    fields: dict[str, Any] = {"model": model}
    if chat:
        fields["messages"] = [{"role": m.role, "content": m.content} for m in request.messages]
    else:
        fields["prompt"] = "\n\n".join(message.content for message in request.messages)
    optional = {
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "max_tokens": sampling.max_tokens,
        "stop": list(sampling.stop) or None,
        "n": count if count > 1 else None,
    }
    fields |= {name: value for name, value in optional.items() if value is not None}
    return fields | dict(sampling.extra)


def read_reply(raw: bytes, request: Request, *, chat: bool) -> list[Completion]:
    """Return the completions of a reply with status 200, or raise a `ProviderFault`."""
    reply = _parsed(raw)
    if reply.get("error"):
        raise _fault_in_success(reply["error"], raw)
    choices = reply.get("choices")
    if not isinstance(choices, list) or not choices:
        raise InvalidReply(f"the reply has no choices: {_excerpt(raw)}", http=200)
    wanted = choices[: len(request.seeds)]
    texts = [_text(choice, chat) for choice in wanted]
    tokens = _tokens(reply.get("usage"), texts)
    seed = request.seeds[0]  # one request has one seed; the place within it does the rest
    identity = reply.get("id")
    request_id = identity if isinstance(identity, str) else None
    return [
        Completion(
            text,
            _finish(choice),
            reasoning,
            tokens_in,
            tokens_out,
            seed,
            request_id,
        )
        for choice, (text, reasoning), (tokens_in, tokens_out) in zip(
            wanted, texts, tokens, strict=True
        )
    ]


def fault_of(status: int, headers: Mapping[str, str], raw: bytes, now: float) -> ProviderFault:
    """Return the fault that a reply with another status means. `now` is the Unix time."""
    code, message = _error(raw)
    detail = f"HTTP {status}: {message}"
    if code in _NO_MONEY or (status == 429 and "exceeded your current quota" in message):
        return Hopeless(detail, http=status)
    if status == 429:
        return RateLimited(detail, http=status, retry_after=retry_after(headers, now))
    if status in (401, 402, 403, 404, 405):
        return Hopeless(detail, http=status)
    if status == 408:
        return TimedOut(detail, http=status)
    if status == 503 and retry_after(headers, now) is not None:
        return RateLimited(detail, http=status, retry_after=retry_after(headers, now))
    if status >= 500 or status in (409, 425):
        return Unavailable(detail, http=status, everyone=status in (502, 503, 504))
    if "content_filter" in code or "content_policy" in code:
        return Filtered(detail, http=status)
    return Rejected(detail, http=status)


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Return the seconds that the server asks to wait: in ms, in seconds, or until a date.

    >>> retry_after({"retry-after-ms": "1500"}, 0.0)
    1.5
    >>> retry_after({"Retry-After": "Thu, 01 Jan 1970 00:01:00 GMT"}, 20.0)
    40.0
    """
    fields = {name.lower(): value.strip() for name, value in headers.items()}
    for name, unit in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        try:
            seconds = float(fields[name]) * unit
        except (KeyError, ValueError):
            continue
        if 0 <= seconds < float("inf"):
            return min(seconds, _LONGEST)
    if "retry-after" not in fields:
        return None
    from email.utils import parsedate_to_datetime

    try:
        seconds = parsedate_to_datetime(fields["retry-after"]).timestamp() - now
        return min(max(0.0, seconds), _LONGEST)
    except (ValueError, TypeError, OverflowError):
        return None


def _parsed(raw: bytes) -> dict[str, Any]:
    try:
        reply = json.loads(raw.decode("utf-8", "surrogatepass"))  # faster than to let it guess
    except (ValueError, RecursionError):
        raise InvalidReply(f"the reply is not JSON: {_excerpt(raw)}", http=200) from None
    if not isinstance(reply, dict):
        raise InvalidReply(f"the reply is not a JSON object: {_excerpt(raw)}", http=200)
    return reply


def _text(choice: Any, chat: bool) -> tuple[str | None, str | None]:
    """Return the answer and, where it is apart, the reasoning."""
    if not isinstance(choice, dict):
        raise InvalidReply("a choice of the reply is not an object", http=200)
    if not chat:
        text = choice.get("text")
        if not isinstance(text, str):
            raise InvalidReply("a choice of the reply has no text", http=200)
        return text, None
    message = choice.get("message")
    if not isinstance(message, dict):
        raise InvalidReply("a choice of the reply has no message", http=200)
    reasoning = message.get("reasoning_content") or message.get("reasoning")
    content = message.get("content")
    if content is None and isinstance(message.get("refusal"), str):
        content = message["refusal"]  # the words in which the model refuses
    return _content(content), reasoning if isinstance(reasoning, str) else None


def _finish(choice: Mapping[str, Any]) -> Finish:
    reason = str(choice.get("finish_reason"))
    if reason in _BROKEN_OFF:
        raise InvalidReply(f"the server broke the answer off: {reason}", http=200)
    return _FINISH.get(reason, "stop")


def _content(content: Any) -> str | None:
    """Return the text of a message, which some servers send in parts."""
    if content is None or isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        return "".join(part for part in parts if isinstance(part, str))
    raise InvalidReply("the content of a message is neither text nor parts", http=200)


def _tokens(
    usage: Any, texts: Sequence[tuple[str | None, str | None]]
) -> list[tuple[int | None, int | None]]:
    """Share the tokens of a request among its completions, so that they add up.

    The first completion pays for the prompt. Completion tokens are shared by length, since servers
    report only the sum; with one completion, which is the usual case, they are exact.
    """
    counts = usage if isinstance(usage, dict) else {}
    prompt, completion = (_count(counts.get(f"{kind}_tokens")) for kind in ("prompt", "completion"))
    if len(texts) == 1:
        return [(prompt, completion)]
    ins = [prompt, *[None if prompt is None else 0] * (len(texts) - 1)]
    if completion is None:
        return [(tokens, None) for tokens in ins]
    lengths = [len(text or "") + 1 for text, _ in texts]
    ends = [completion * passed // sum(lengths) for passed in accumulate(lengths, initial=0)]
    outs = [end - start for start, end in pairwise(ends)]
    return list(zip(ins, outs, strict=True))


def _count(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value < 2**40 else None  # sums must fit too


def _fault_in_success(error: Any, raw: bytes) -> ProviderFault:
    """Return the fault of an error with status 200; some routers put the true status inside."""
    status = error.get("code") if isinstance(error, dict) else None
    if isinstance(status, int) and 400 <= status < 600:
        return fault_of(status, {}, raw, 0.0)
    code, message = _described(error)
    if code in _NO_MONEY:
        return Hopeless(message, http=200)
    return InvalidReply(f"an error in a successful reply: {message}", http=200)


def _error(raw: bytes) -> tuple[str, str]:
    """Return the code and the message of an error, or an excerpt of the reply."""
    try:
        reply = json.loads(raw)
    except (ValueError, RecursionError):
        return "", _excerpt(raw)
    if not isinstance(reply, dict):
        return "", _excerpt(raw)
    return _described(reply.get("error", reply))


def _described(error: Any) -> tuple[str, str]:
    if not isinstance(error, dict):
        return "", str(error)[:_EXCERPT]
    code = " ".join(str(error[name]) for name in ("code", "type") if error.get(name))
    message = error.get("message") or error.get("detail") or json.dumps(error)
    for name in _NO_MONEY:
        if name in code:
            code = name
    return code, str(message)[:_EXCERPT]


def _excerpt(raw: bytes) -> str:
    text = raw[: 4 * _EXCERPT].decode("utf-8", "replace")
    return " ".join(text.split())[:_EXCERPT] or "(empty)"
