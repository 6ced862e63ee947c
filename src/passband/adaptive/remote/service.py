"""One server of the Trismik protocol: its address, its key, and single requests to it.

TRISMIK_SERVICE_URL is joined with the paths of the protocol as Scorebook joins them: its default
ends in /adaptive-testing, so that this part is there twice.

RemoteError(PassbandError)
├── Unreachable       the server is down, or has not answered in time
├── OtherProtocol     what it answered is not what this version of the protocol says
└── Refused           it answered with an error; has the HTTP status
    ├── WrongKey      401, 403
    ├── NotFound      404: no such test, run or project
    ├── TooLarge      413
    ├── NotAccepted   422: a value breaks a rule of the server
    └── TooManyRequests  429; has the seconds to wait, where the server names them
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Mapping
from urllib.parse import urlsplit

import aiohttp

from passband.errors import InvalidInput, PassbandError
from passband.generate import (
    InvalidReply,
    JsonMapping,
    add_secret,
    address_of,
    read_body,
    retry_after,
)

_EXCERPT = 300  # characters of an error that are shown and kept


class RemoteError(PassbandError):
    """A server of adaptive tests gave no usable answer."""


class Unreachable(RemoteError):
    """The server is down, or has not answered in time."""


class OtherProtocol(RemoteError):
    """The answer lacks a field, or has one of another kind."""


class Refused(RemoteError):
    """The server answered with an error."""

    def __init__(self, message: str, status: int, wait: float | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.wait = wait  # seconds, where the server names them


class WrongKey(Refused):
    """The server does not accept the key."""


class NotFound(Refused):
    """The server has no such test, run or project."""


class TooLarge(Refused):
    """The request is larger than the server accepts."""


class NotAccepted(Refused):
    """A value of the request breaks a rule of the server."""


class TooManyRequests(Refused):
    """The server asks to wait."""


_KINDS: Mapping[int, type[Refused]] = {
    401: WrongKey,
    403: WrongKey,
    404: NotFound,
    413: TooLarge,
    422: NotAccepted,
    429: TooManyRequests,
}


def refusal(where: str, status: int, headers: Mapping[str, str], raw: bytes, now: float) -> Refused:
    """Return the error of a reply whose status is none of success. `now` is the Unix time."""
    hint = " Check TRISMIK_API_KEY." if status in (401, 403) else ""
    message = f"{where} answered HTTP {status}: {_described(raw)}.{hint}"
    return _KINDS.get(status, Refused)(message, status, retry_after(headers, now))


def _described(raw: bytes) -> str:
    """Return title and detail of an error, or the beginning of the reply."""
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        body = None
    if isinstance(body, dict):
        parts = [str(body[name]) for name in ("title", "detail", "message") if body.get(name)]
        if parts:
            return ": ".join(parts)[:_EXCERPT].rstrip(".")
    text = " ".join(raw[: 4 * _EXCERPT].decode("utf-8", "replace").split())
    return text[:_EXCERPT].rstrip(".") or "(an empty reply)"


KEY, URL = "TRISMIK_API_KEY", "TRISMIK_SERVICE_URL"
DEFAULT_URL = "https://api.trismik.com/adaptive-testing"
_CONNECT = 10.0  # seconds to reach the server
_ATTEMPTS = 3  # of a request that may be sent again
_PATIENT = 6  # of an answer: a server that restarts has half a minute, and the test goes on
_LONGEST = 60.0  # seconds that a rate limit is waited for


class ServiceReply:
    """The body of a reply, and whether the server knows repeated answers from new ones."""

    __slots__ = ("is_repeatable", "raw", "where")

    def __init__(self, where: str, raw: bytes, is_repeatable: bool) -> None:
        self.where, self.raw, self.is_repeatable = where, raw, is_repeatable


class RemoteService:
    """Sends requests to one server.

    A request is sent again after a rate limit, which took no note of it; after a broken connection
    or a failure of the server only if it is `safe` to be received twice.
    """

    def __init__(
        self,
        service_url: str | None = None,
        api_key: str | None = None,
        *,
        timeout: float = 30.0,
        pause: float = 0.5,
    ) -> None:
        url = service_url or os.environ.get(URL, "").strip() or DEFAULT_URL
        self._base = _checked(url)
        self.address = address_of(url)
        self._key = (api_key or os.environ.get(KEY, "")).strip()
        if not self._key:
            raise InvalidInput(
                f"{KEY} is not set; {self.address} needs a key. Set it, or use a local bank "
                "(passband.adaptive.task.list_banks)."
            )
        if not self._key.isprintable() or not self._key.isascii():
            raise InvalidInput(f"{KEY} holds a line break or the like; set it again.")
        self._secret = add_secret(self._key)
        self._timeout, self._pause = timeout, pause
        self._session: aiohttp.ClientSession | None = None

    async def get(self, path: str) -> ServiceReply:
        """Send a GET request, which may be sent again."""
        return await self._repeated("GET", path, None, {}, safe=True)

    async def post(
        self, path: str, body: JsonMapping, *, safe: bool = False, key: str | None = None
    ) -> ServiceReply:
        """Send a POST request; `key` tells it from others where it is received twice."""
        headers = {} if key is None else {"Idempotency-Key": key}
        try:
            raw = json.dumps(body, allow_nan=False).encode()
        except (TypeError, ValueError) as error:
            raise InvalidInput(f"{path}: the request cannot be written as JSON: {error}.") from None
        return await self._repeated("POST", path, raw, headers, safe=safe)

    async def close(self) -> None:
        """Close the connections."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _repeated(
        self, method: str, path: str, raw: bytes | None, headers: Mapping[str, str], *, safe: bool
    ) -> ServiceReply:
        attempts = _PATIENT if safe and headers else _ATTEMPTS
        for attempt in range(1, attempts + 1):
            try:
                return await self._once(method, path, raw, headers)
            except (Refused, Unreachable) as error:
                if attempt == attempts or not _may_repeat(error, safe):
                    raise
                wait = error.wait if isinstance(error, Refused) else None
            await asyncio.sleep(self._pause * 2**attempt if wait is None else wait)
        raise AssertionError("the last attempt returns or raises")

    async def _once(
        self, method: str, path: str, raw: bytes | None, headers: Mapping[str, str]
    ) -> ServiceReply:
        where = f"{self.address} ({method} {path})"
        try:
            async with self._opened().request(
                method, self._base + path, data=raw, headers=headers, allow_redirects=False
            ) as reply:
                body = self._secret.removed_from_bytes(await read_body(reply))
                if 200 <= reply.status < 300:
                    return ServiceReply(where, body, "Idempotency-Key" in reply.headers)
                raise refusal(where, reply.status, reply.headers, body, time.time())
        except RemoteError:
            raise
        except InvalidReply as error:
            raise OtherProtocol(f"{where}: {error}.") from None
        except asyncio.TimeoutError:
            raise Unreachable(f"{where} has not answered within {self._timeout:g} s.") from None
        except (aiohttp.ClientError, OSError) as error:
            text = self._secret.removed_from(str(error)) or type(error).__name__
            raise Unreachable(f"{where} cannot be reached: {text}.") from None

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:  # made inside the running loop
            self._session = aiohttp.ClientSession(
                timeout=aiohttp.ClientTimeout(total=self._timeout, sock_connect=_CONNECT),
                headers={
                    "x-api-key": self._key,
                    "Content-Type": "application/json",
                    "Accept": "application/json",
                },
                cookie_jar=aiohttp.DummyCookieJar(),
            )
        return self._session


def _may_repeat(error: Refused | Unreachable, safe: bool) -> bool:
    if isinstance(error, TooManyRequests):
        return error.wait is None or error.wait <= _LONGEST
    return safe and (isinstance(error, Unreachable) or error.status >= 500)


def _checked(url: str) -> str:
    """Return the address that paths are appended to."""
    parts = urlsplit(url)
    if parts.username or parts.password:
        raise InvalidInput(f"{URL} must hold no user name or password; put the key in {KEY}.")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidInput(f"{URL} must be an address such as http://localhost:8000; got {url!r}.")
    if parts.query or parts.fragment:
        raise InvalidInput(f"{URL} must end with a path, without '?' and '#'.")
    return url.rstrip("/")
