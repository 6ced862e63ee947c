"""The body of an error: its codes, its message, and where servers put the rest of what they say.

Shapes that are read:

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

__all__ = ["ServerError", "excerpt", "read_error"]

_EXCERPT = 300  # characters of an error that are shown and kept
_READ = 4_000  # characters of a message that are looked at
_NAMES = ("code", "type", "status", "error_type", "error_code")
_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)(ms|h|m|s)")
_AGAIN = re.compile(r"(?:retry|try again) in ((?:\d{1,9}(?:\.\d{1,9})?(?:ms|h|m|s)){1,4})")
_SECONDS = {"ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}


@dataclass(frozen=True)
class ServerError:
    """What an error says, whatever its shape."""

    message: str
    codes: frozenset[str] = frozenset()  # codes and types, in lower case
    setting: str | None = None  # the field of the request that it is about
    quotas: Sequence[str] = ()  # Gemini: the limits that were passed, such as ...PerDay...
    wait: float | None = None  # seconds, where the body names them
    metadata: Mapping[str, Any] = field(default_factory=dict)  # OpenRouter

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


def _made(error: Mapping[str, Any], message: str) -> ServerError:
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


def _message(error: Mapping[str, Any]) -> str:
    complaint = _complaint(error)
    stated = error.get("message") or error.get("detail")
    if complaint and not isinstance(error.get("message"), str):
        place = ".".join(map(str, _place(complaint)))
        stated = f"{place}: {complaint.get('msg')}"
    text = stated if isinstance(stated, str) else json.dumps(stated or error)
    metadata = error.get("metadata")
    upstream = metadata.get("raw") if isinstance(metadata, dict) else None
    return f"{text}: {upstream}" if isinstance(upstream, str) else text  # of a router's provider


def _complaint(error: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the first of the complaints of a server that checks requests with pydantic."""
    detail, message = error.get("detail"), error.get("message")
    if isinstance(message, dict):  # Mistral wraps them
        detail = message.get("detail")
    first = detail[0] if isinstance(detail, list) and detail else None
    return first if isinstance(first, dict) else {}


def _place(complaint: Mapping[str, Any]) -> list[Any]:
    place = complaint.get("loc")
    return place if isinstance(place, list) else []


def _codes(*parts: Mapping[str, Any]) -> list[str]:
    values = [part.get(name) for part in parts for name in _NAMES]
    return [str(value).lower() for value in values if isinstance(value, (str, int)) and value]


def _setting(error: Mapping[str, Any], complaint: Mapping[str, Any]) -> str | None:
    param, place = error.get("param"), _place(complaint)
    if isinstance(param, str) and param:
        return param
    return next((part for part in place if isinstance(part, str) and part != "body"), None)


def _quotas(parts: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the names of the limits that were passed (google.rpc.QuotaFailure)."""
    lists = [part.get("violations") for part in parts]
    violations = [one for each in lists if isinstance(each, list) for one in each]
    return [str(one.get("quotaId")) for one in violations if isinstance(one, dict)]


def _wait(parts: Sequence[Mapping[str, Any]], message: str) -> float | None:
    """Return the seconds to wait, of google.rpc.RetryInfo or of the message."""
    delay = next((part["retryDelay"] for part in parts if "retryDelay" in part), None)
    text = delay if isinstance(delay, str) else None
    if text is None and (match := _AGAIN.search(message)):
        text = match[1]
    spans = [] if text is None else _DURATION.findall(text[:80])
    return sum(float(count) * _SECONDS[unit] for count, unit in spans) if spans else None
