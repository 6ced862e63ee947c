"""A provider for Google's models, by generateContent of the Gemini API.

Sources: Google's API reference (generateContent, GenerationConfig, UsageMetadata), types of the
google-genai package.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from passband.generate.client import Client
from passband.generate.google_wire import ContentStream, content_fields, read_content
from passband.generate.http import address_of, endpoint_of
from passband.generate.native import api_key, native_url
from passband.generate.provider import Completion, Request

__all__ = ["GoogleServer"]

_DEFAULT_URL = "https://generativelanguage.googleapis.com/v1beta"
_KEYS = ("GEMINI_API_KEY", "GOOGLE_API_KEY")


class GoogleServer:
    """A model behind `/models/NAME:generateContent`."""

    one_seed = True  # a request carries the seed of its first candidate alone

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        timeout: float = 600.0,
        batch: int = 16,
        headers: Mapping[str, str] | None = None,
        stream: bool = False,
    ) -> None:
        headers = headers or {}
        url = native_url("google", model, base_url, "GOOGLE_GEMINI_BASE_URL", _DEFAULT_URL)
        key = api_key(_KEYS, url == _DEFAULT_URL, headers, "x-goog-api-key")
        own = {"x-goog-api-key": key} if key else {}
        self._client = Client(key=key, own_headers=own, headers=headers, timeout=timeout)
        self._header_names = sorted(map(str.lower, headers))
        method = "streamGenerateContent" if stream else "generateContent"
        name = quote(model.removeprefix("models/"), safe="/-._~@")
        self._url = endpoint_of(url, f"models/{name}:{method}")
        if stream:
            self._url += ("&" if "?" in self._url else "?") + "alt=sse"
        self.address = address_of(url)
        self.batch = 1 if stream else batch

    @property
    def config(self) -> dict[str, Any]:
        """How requests differ from what the settings say; recorded with the run."""
        return {"headers": self._header_names} if self._header_names else {}

    async def generate(self, request: Request) -> Sequence[Completion]:
        """Make one attempt."""
        body = json.dumps(content_fields(request)).encode()
        return await self._client.post(
            self._url, body, lambda raw: read_content(raw, request), ContentStream
        )

    async def reset(self) -> None:
        """Drop every connection: a sleep of the machine has left them dead."""
        await self._client.reset()

    async def close(self) -> None:
        await self._client.close()
