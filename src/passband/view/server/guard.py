"""Admit only requests to this machine's own name, from pages of the viewer, with its token.

A page that some site shows in the same browser can send requests to a local port. It is turned
away by the Host header if it rebinds a name of its own, by the Origin header if its script asks,
and by the token in any case.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets

from aiohttp import web

from passband.report import content_policy
from passband.view.page_frame import script, style

_METHODS = ("GET", "HEAD")

HEADERS = {
    "Content-Security-Policy": content_policy(
        [style()],
        [script()],
        ["connect-src 'self'", "form-action 'self'", "frame-ancestors 'none'"],
    ),
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""Of every response: one style and one script by their hashes, and nothing from elsewhere."""


class RequestRefused(Exception):
    """A rejected request, with its status and reason."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status, self.reason = status, reason


def new_token() -> str:
    """Return 256 random bits as letters that an address may have."""
    return secrets.token_urlsafe(32)


class RequestGuard:
    """Checks every request before anything is read."""

    def __init__(self, token: str) -> None:
        self._digest = hashlib.sha256(token.encode()).digest()
        self.hosts: frozenset[str] = frozenset()

    def listen_on(self, port: int) -> None:
        """Answer to this machine's own names at a port."""
        self.hosts = frozenset({f"127.0.0.1:{port}", f"localhost:{port}"})

    def check(self, request: web.Request) -> None:
        """Raise `RequestRefused` unless the request may be answered."""
        named = request.headers.getall("Host", [])
        if named not in [[host] for host in self.hosts] or not request.raw_path.startswith("/"):
            raise RequestRefused(421, "This viewer answers at its own address only.")
        origin = request.headers.get("Origin")
        if origin is not None and origin not in {f"http://{host}" for host in self.hosts}:
            raise RequestRefused(403, "Other pages may not read this one.")
        if request.method not in _METHODS:
            raise RequestRefused(405, "Nothing can be changed here; pages are read with GET.")
        token = request.path.split("/")[1]
        if not hmac.compare_digest(self._digest, hashlib.sha256(_bytes(token)).digest()):
            raise RequestRefused(
                403, "Open the address that passband view printed; it has the token."
            )


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")
