"""Turn an error of a server into a fault, by its status, its codes and its words.

Sources of the codes and phrases: OpenAI's error guide and help.openai.com 6614457 (spending),
captured replies of o-series and gpt-5 models (settings); Anthropic's docs (errors, rate limits,
OpenAI SDK compatibility); Gemini's captured 429 replies (QuotaFailure, RetryInfo); vllm 0.32
renderers/params.py; sglang 0.5; llama.cpp tools/server (server-common.cpp) and issues of older
versions; text-generation-inference router/src/server.rs; Groq's and DeepSeek's lists of errors;
OpenRouter's docs (errors, moderation, in-flight budgets); litellm 1.108 exception_mapping_utils.py.

Shapes of the body of an error:

A  {"error": {"message", "type", "param", "code"}}          OpenAI and most others
B  {"object": "error", "message", "type", "param", "code"}  SGLang, Mistral
C  {"type": "error", "error": {"type", "message", "details"}}                     Anthropic
D  {"error": {"code", "message", "status", "details": [...]}}, or a list of one   Gemini
E  {"error": "text", "error_type": "..."}                   text-generation-inference
F  {"error": "text"}                                        Ollama
G  {"detail": [{"type", "loc", "msg"}]}, {"detail": "text"}  FastAPI, Mistral
H  anything else: HTML of a proxy, text, nothing
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from passband.generate.provider import (
    Filtered,
    Hopeless,
    InvalidReply,
    JsonMapping,
    ProviderFault,
    RateLimited,
    Rejected,
    TimedOut,
    TooLong,
    Unavailable,
    UnsupportedSetting,
)
from passband.generate.servers.http import LONGEST, address_of, retry_after, should_retry

_EXCERPT = 300  # characters of an error that are shown and kept
_READ = 4_000  # characters of a message that are looked at
_NAMES = ("code", "type", "status", "error_type", "error_code")
_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)(ms|h|m|s)")
_AGAIN = re.compile(r"(?:retry|try again) in ((?:\d{1,9}(?:\.\d{1,9})?(?:ms|h|m|s)){1,4})")
_SECONDS = {"ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}


@dataclass(frozen=True)
class ServerError:
    """The codes and message of an error, whatever its shape."""

    message: str
    codes: frozenset[str] = frozenset()  # codes and types, in lower case
    setting: str | None = None  # the field of the request that it is about
    quotas: Sequence[str] = ()  # Gemini: the limits that were passed, such as ...PerDay...
    wait: float | None = None  # seconds, where the body names them
    metadata: JsonMapping = field(default_factory=dict)  # OpenRouter

    @property
    def detail(self) -> str:
        """The message, as long as it is shown and kept."""
        return self.message[:_EXCERPT]

    @property
    def words(self) -> str:
        """The message in lower case, to look for phrases in."""
        return self.message.lower()

    def has(self, codes: frozenset[str]) -> bool:
        """Return whether any of these is one of its codes."""
        return not self.codes.isdisjoint(codes)


def read_error(raw: bytes) -> ServerError:
    """Return what the body of an error says.

    >>> read_error(b'{"error": {"message": "No.", "code": "model_not_found"}}').detail
    'No.'
    """
    try:
        reply = json.loads(raw)
    except (ValueError, RecursionError):
        return ServerError(excerpt(raw, _READ))
    if isinstance(reply, list) and len(reply) == 1:
        reply = reply[0]
    if not isinstance(reply, dict):
        return ServerError(excerpt(raw, _READ))
    error = reply.get("error", reply)
    if not isinstance(error, dict):
        return _made(reply if "error_type" in reply else {}, str(error))
    return _made(error, _message(error))


def excerpt(raw: bytes, longest: int = _EXCERPT) -> str:
    """Return the beginning of a body as one line."""
    text = raw[: 4 * longest].decode("utf-8", "replace")
    return " ".join(text.split())[:longest] or "(empty)"


def _made(error: JsonMapping, message: str) -> ServerError:
    details = error.get("details")
    items = details if isinstance(details, list) else [details]
    parts = [part for part in items if isinstance(part, dict)]
    complaint = _complaint(error)
    metadata = error.get("metadata")
    message = message[:_READ]
    return ServerError(
        message,
        frozenset(_codes(error, *parts, complaint)),
        _setting(error, complaint),
        tuple(_quotas(parts)),
        _wait(parts, message),
        metadata if isinstance(metadata, dict) else {},
    )


def _message(error: JsonMapping) -> str:
    complaint = _complaint(error)
    stated = error.get("message") or error.get("detail")
    if complaint and not isinstance(error.get("message"), str):
        place = ".".join(map(str, _place(complaint)))
        stated = f"{place}: {complaint.get('msg')}"
    text = stated if isinstance(stated, str) else json.dumps(stated or error)
    metadata = error.get("metadata")
    upstream = metadata.get("raw") if isinstance(metadata, dict) else None
    return f"{text}: {upstream}" if isinstance(upstream, str) else text  # of a router's provider


def _complaint(error: JsonMapping) -> JsonMapping:
    """Return the first of the complaints of a server that checks requests with pydantic."""
    detail, message = error.get("detail"), error.get("message")
    if isinstance(message, dict):  # Mistral wraps them
        detail = message.get("detail")
    first = detail[0] if isinstance(detail, list) and detail else None
    return first if isinstance(first, dict) else {}


def _place(complaint: JsonMapping) -> list[Any]:
    place = complaint.get("loc")
    return place if isinstance(place, list) else []


def _codes(*parts: JsonMapping) -> list[str]:
    values = [part.get(name) for part in parts for name in _NAMES]
    return [str(value).lower() for value in values if isinstance(value, (str, int)) and value]


def _setting(error: JsonMapping, complaint: JsonMapping) -> str | None:
    param, place = error.get("param"), _place(complaint)
    if isinstance(param, str) and param:
        return param
    return next((part for part in place if isinstance(part, str) and part != "body"), None)


def _quotas(parts: Sequence[JsonMapping]) -> list[str]:
    """Return the names of the limits that were passed (google.rpc.QuotaFailure)."""
    lists = [part.get("violations") for part in parts]
    violations = [one for each in lists if isinstance(each, list) for one in each]
    return [str(one.get("quotaId")) for one in violations if isinstance(one, dict)]


def _wait(parts: Sequence[JsonMapping], message: str) -> float | None:
    """Return the seconds to wait, of google.rpc.RetryInfo or of the message."""
    delay = next((part["retryDelay"] for part in parts if "retryDelay" in part), None)
    text = delay if isinstance(delay, str) else None
    if text is None and (match := _AGAIN.search(message)):
        text = match[1]
    spans = [] if text is None else _DURATION.findall(text[:80])
    return sum(float(count) * _SECONDS[unit] for count, unit in spans) if spans else None


_NO_MONEY = frozenset({
    "insufficient_quota", "credit_balance_exhausted", "organization_spend_limit_exceeded",
    "project_spend_limit_exceeded", "organization_usage_limit_exceeded",  # OpenAI
    "billing_hard_limit_reached", "billing_not_active",  # OpenAI, older
    "billing_error", "enforced_spend_limit_reached",  # Anthropic
})  # fmt: skip
_NO_MONEY_PHRASES = (
    "credit balance is too low", "reached your specified api usage limits",  # Anthropic, with 400
    "insufficient balance",  # DeepSeek
)  # fmt: skip
_QUOTA = "exceeded your current quota"  # OpenAI: no money; Gemini: of any limit, also per minute
_IN_FLIGHT = "openrouter_in_flight_budget"
_POLICY = ("content_filter", "content_policy", "responsibleaipolicy", "moderation")  # in a code
_FLAGGED = ("flagged", "usage policy", "safety", "moderation")  # beside `invalid_prompt`
_TOO_LONG = frozenset({
    "context_length_exceeded", "exceed_context_size_error", "request_too_large",
})  # fmt: skip
_TOO_LONG_PHRASES = (
    "maximum context length",  # OpenAI, vLLM, SGLang
    "longer than the model's context length",  # SGLang
    "prompt is too long", "exceed context limit",  # Anthropic
    "exceeds the maximum number of tokens allowed",  # Gemini
    "tokens + `max_new_tokens` must be",  # text-generation-inference
    "exceeds the available context size", "context length exceeded", "context window",
    "too large for the context", "input is too long",
)  # fmt: skip
_ONE_ONLY = re.compile(
    r"only one completion choice"  # llama.cpp, with 500
    r"|\bn['\"`]? ?:? ?(?:number )?(?:must|should) be (?:at most |equal to )?1\b"  # Anthropic, Groq
    r"|\bn ?> ?1\b|\bn ?= ?1 is supported|only n ?= ?1\b"
    r"|multiple (?:completions|candidates)|only one candidate"  # Gemini
)
_WRONG_KEY = ("api key not valid", "api key is not valid", "incorrect api key", "invalid api key")
_REFUSED = (401, 402, 403, 404, 405)  # whatever is asked
_REDIRECTS = (301, 302, 303, 307, 308)
_DOWN = (498, 502, 503, 504, *range(520, 531))  # 498: Groq has no capacity; 52x: Cloudflare
_BROKEN = (409, 424, 425)  # 424: text-generation-inference failed on the way
_TOO_FAST = frozenset({
    "rate_limit_exceeded", "rate_limit_error", "rate_limited", "slow_down", "resource_exhausted",
})  # fmt: skip
_BUSY = frozenset({"overloaded_error", "server_is_overloaded", "unavailable"})
_LENGTH_NAMES = ("max_tokens", "max_completion_tokens")
_SETTINGS = (
    "temperature", "top_p", "top_k", "min_p", "stop", "seed", "random_seed", *_LENGTH_NAMES,
    "logprobs", "top_logprobs", "logit_bias", "frequency_penalty", "presence_penalty",
    "repetition_penalty", "reasoning_effort", "chat_template_kwargs", "stream_options", "stream",
)  # fmt: skip
_UNSUPPORTED = frozenset({"unsupported_value", "unsupported_parameter", "extra_forbidden"})
_UNSUPPORTED_PHRASES = (
    "not support", "unsupported", "deprecated", "not permitted", "unrecognized", "unknown",
    "must be less than or equal", "maximum allowed", "too large", "not allowed",
)  # fmt: skip
_NAMED = {  # a setting in quotes, before a colon at the start, or after "parameter"
    name: re.compile(rf"[`'\"]{name}[`'\"]|^{name}:|parameter:? {name}\b") for name in _SETTINGS
}
_ADVICE = {
    "temperature": "Give a --temperature that the model takes, or none: --gen temperature=.",
    "stop": "Send no stop text: --gen until=.",
    "seed": "Give --no-seed, so that no seed is sent.",
    "random_seed": "Give --no-seed, so that no seed is sent.",
    "max_tokens": "Give a smaller --max-tokens.",
    "max_completion_tokens": "Give a smaller --max-tokens.",
    "stream": "Leave --stream out.",
}


def fault_of(status: int, headers: Mapping[str, str], raw: bytes, now: float) -> ProviderFault:
    """Return the fault that a reply with another status than 200 means. `now` is the Unix time."""
    target = next((value for name, value in headers.items() if name.lower() == "location"), None)
    if status in _REDIRECTS and target is not None:
        return Rejected(_redirect(status, target), http=status)
    error = read_error(raw)
    seconds = retry_after(headers, now)
    if seconds is None and error.wait is not None:
        seconds = min(error.wait, LONGEST)
    detail = f"HTTP {status}: {error.detail}"
    for is_meant in (_of_money, _of_this_request, _of_all_requests):
        fault = is_meant(status, error, detail, seconds)
        if fault is not None:
            return fault
    return _by_status(status, should_retry(headers), detail, seconds)


def fault_in_success(error: Any, raw: bytes) -> ProviderFault:
    """Return the fault of an error with status 200; some routers put the true status inside."""
    status = error.get("code") if isinstance(error, dict) else None
    if type(status) is int and 400 <= status < 600:
        return fault_of(status, {}, raw, 0.0)
    stated = read_error(raw)
    fault = _of_money(200, stated, stated.detail, None) or _of_this_request(
        200, stated, stated.detail, None
    )
    if fault is not None:
        return fault
    if stated.has(_TOO_FAST):
        return RateLimited(stated.detail, http=200, retry_after=stated.wait)
    if stated.has(_BUSY):  # Anthropic, amid a stream
        return Unavailable(stated.detail, http=200, everyone=True)
    return InvalidReply(f"an error in a successful reply: {stated.detail}", http=200)


def _of_money(
    status: int, error: ServerError, detail: str, seconds: float | None
) -> ProviderFault | None:
    """Return the fault of a spent budget or of a limit of requests; the words are alike."""
    if error.has(_NO_MONEY) or any(phrase in error.words for phrase in _NO_MONEY_PHRASES):
        return Hopeless(detail, http=status)
    if status == 402:
        if error.metadata.get("limit_source") == _IN_FLIGHT:  # other requests of ours hold it
            return RateLimited(detail, http=status, retry_after=seconds)
        return Hopeless(detail, http=status)
    if status != 429:
        return None
    if any("perday" in quota.lower() for quota in error.quotas):
        return Hopeless(f"{detail} (a limit per day: go on tomorrow)", http=status)
    is_of_google = error.quotas or "resource_exhausted" in error.codes
    if _QUOTA in error.words and not is_of_google and seconds is None:
        return Hopeless(detail, http=status)
    return None


def _of_this_request(
    status: int, error: ServerError, detail: str, seconds: float | None
) -> ProviderFault | None:
    """Return the fault of a prompt, or of its number of completions, which others may not have."""
    if _is_policy(status, error):
        return Filtered(detail, http=status)
    if status in _REFUSED:
        return None
    words = error.words
    if error.setting == "n" or _ONE_ONLY.search(words):
        return Rejected(detail, http=status)
    if "request too large" in words:  # more than a minute's tokens: OpenAI 429, Groq 413
        return Rejected(detail, http=status)
    if status != 429 and status < 500 and _is_too_long(error):
        return TooLong(detail, http=status)
    return None


def _is_policy(status: int, error: ServerError) -> bool:
    if any(mark in code for code in error.codes for mark in _POLICY):
        return True
    if "invalid_prompt" in error.codes and any(mark in error.words for mark in _FLAGGED):
        return True
    is_moderated = bool(error.metadata.keys() & {"reasons", "flagged_input"})
    return status == 403 and (is_moderated or "refusal" in error.codes)


def _is_too_long(error: ServerError) -> bool:
    return error.has(_TOO_LONG) or any(phrase in error.words for phrase in _TOO_LONG_PHRASES)


def _of_all_requests(
    status: int, error: ServerError, detail: str, seconds: float | None
) -> ProviderFault | None:
    """Return the fault of a key or of a setting, which every request has."""
    if status in _REFUSED or (status == 400 and _is_about_the_key(error)):
        return Hopeless(detail, http=status)
    if status not in (400, 422):
        return None
    setting = _unsupported(error)
    if setting is None:
        return None
    advice = _ADVICE.get(setting, f"Leave it out: --gen {setting}=.")
    return UnsupportedSetting(f"{detail.rstrip('. ')}. {advice}", setting, http=status)


def _is_about_the_key(error: ServerError) -> bool:
    return "api_key_invalid" in error.codes or any(mark in error.words for mark in _WRONG_KEY)


def _unsupported(error: ServerError) -> str | None:
    """Return the setting that the model does not take, or not with this value."""
    stated = error.setting
    if stated in _SETTINGS or (stated is not None and error.has(_UNSUPPORTED)):
        return stated
    if stated is not None or not any(mark in error.words for mark in _UNSUPPORTED_PHRASES):
        return None
    places = {
        name: match.start() for name in _SETTINGS if (match := _NAMED[name].search(error.words))
    }
    return min(places, key=lambda name: places[name]) if places else None


def _by_status(
    status: int, again: bool | None, detail: str, seconds: float | None
) -> ProviderFault:
    if status == 429:
        if again is False and seconds is None:  # a limit that does not pass
            return Hopeless(detail, http=status)
        return RateLimited(detail, http=status, retry_after=seconds)
    if status in _DOWN:
        if seconds is not None:
            return RateLimited(detail, http=status, retry_after=seconds)
        return Unavailable(detail, http=status, everyone=True)
    if again is False:
        return Rejected(detail, http=status)
    if status == 408:
        return TimedOut(detail, http=status)
    if status >= 500 or status in _BROKEN or again:
        return Unavailable(detail, http=status)
    return Rejected(detail, http=status)


def _redirect(status: int, target: str) -> str:
    """Return what a redirect means; its address without what could be secret."""
    where = _address(target)
    base = re.sub(r"/(chat/)?completions$", "", where)
    is_whole = base.startswith(("http://", "https://"))
    advice = f"give --base-url {base}" if is_whole else "look at --base-url"
    return (
        f"HTTP {status}: the server redirects to {where or 'no address'}. Redirects are not "
        f"followed, since the key would go along; {advice}, if that is the server that you mean."
    )


def _address(target: str) -> str:
    """Return scheme, host and path of an address, or the path of a relative one."""
    try:
        return address_of(target)[:200] if urlsplit(target).netloc else urlsplit(target).path[:200]
    except ValueError:
        return ""
