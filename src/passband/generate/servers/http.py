"""Shared parts of passband's HTTP clients: bounded replies, addresses without secrets.

When to come back: what a reply says about the time until the next request.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from passband.errors import InvalidInput
from passband.generate.provider import InvalidReply

if TYPE_CHECKING:
    import aiohttp


_LARGEST = 32_000_000  # bytes of a reply; more is not an answer
_USUAL_PORTS = {"http": "80", "https": "443"}


async def read_body(reply: aiohttp.ClientResponse) -> bytes:
    """Read the body of a reply; raise `InvalidReply` if it is longer than any answer."""
    length = reply.content_length
    if length is not None and length <= _LARGEST and "Content-Encoding" not in reply.headers:
        return await reply.read()
    parts, size = [], 0
    async for part in reply.content.iter_any():
        parts.append(part)
        size += len(part)
        if size > _LARGEST:
            reply.close()
            told = f"the reply is longer than {_LARGEST / 1e6:.0f} MB"
            raise InvalidReply(told, http=reply.status)
    return b"".join(parts)


def address_of(url: str) -> str:
    """Return scheme, host and path of a URL: what tells servers apart, and nothing secret.

    >>> address_of("https://me@host:8000/v1/?key=secret#x")
    'https://host:8000/v1'
    >>> address_of("https://HOST:443/v1")
    'https://host/v1'
    """
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2].lower()
    usual = _USUAL_PORTS.get(parts.scheme)
    return f"{parts.scheme}://{_without(host, usual)}{parts.path.rstrip('/')}"


def _without(host: str, port: str | None) -> str:
    """Return a host without a port that goes without saying."""
    name, _, stated = host.rpartition(":")
    return name if name and stated in ("", port) else host


def endpoint_of(base_url: str, path: str) -> str:
    """Return the URL that requests go to; refuse an address that is none or holds a password.

    >>> endpoint_of("http://localhost:8000/v1/?version=2", "models")
    'http://localhost:8000/v1/models?version=2'
    """
    parts = urlsplit(base_url)
    if parts.username or parts.password:
        raise InvalidInput(
            "--base-url must not contain a user name or password; put the key in OPENAI_API_KEY."
        )
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidInput(
            f"--base-url must be an address such as http://localhost:8000/v1; got {base_url!r}."
        )
    return urlunsplit(parts._replace(path=f"{parts.path.rstrip('/')}/{path}", fragment=""))


LONGEST = 86_400.0  # seconds; a server that names a longer wait is tried again after a day


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
            return min(seconds, LONGEST)
    if "retry-after" not in fields:
        return None
    from email.utils import parsedate_to_datetime

    try:
        seconds = parsedate_to_datetime(fields["retry-after"]).timestamp() - now
        return min(max(0.0, seconds), LONGEST)
    except (ValueError, TypeError, OverflowError):
        return None


def should_retry(headers: Mapping[str, str]) -> bool | None:
    """Return whether another attempt may help, where the server says so (OpenAI, Anthropic).

    >>> should_retry({"X-Should-Retry": "false"}), should_retry({})
    (False, None)
    """
    fields = {name.lower(): value.strip().lower() for name, value in headers.items()}
    return {"true": True, "false": False}.get(fields.get("x-should-retry", ""))
