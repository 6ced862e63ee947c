"""What can go wrong between a client and a server of the Trismik protocol.

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

import json
from collections.abc import Mapping

from passband.errors import PassbandError
from passband.generate import retry_after

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
