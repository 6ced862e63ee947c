"""A provider for Anthropic's Messages API.

Sources: Anthropic's API reference (Messages, streaming, errors), types of the anthropic package.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from passband.generate.anthropic_wire import MessageStream, message_fields, read_message
from passband.generate.client import Client
from passband.generate.http import address_of, endpoint_of
from passband.generate.native import api_key, native_url
from passband.generate.provider import Completion, Request, Sampling, UnsupportedSetting

__all__ = ["AnthropicServer"]

_DEFAULT_URL = "https://api.anthropic.com/v1"
_VERSION = "2023-06-01"  # of the protocol; --header anthropic-version=... asks for another
_LONG = 21_333  # tokens, beyond which Anthropic's own clients refuse to wait without a stream


class AnthropicServer:
    """A model behind `/v1/messages`."""

    batch = 1  # the API has no n
    one_seed = True

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        timeout: float = 600.0,
        headers: Mapping[str, str] | None = None,
        stream: bool = False,
    ) -> None:
        headers = headers or {}
        url = native_url("anthropic", model, base_url, "ANTHROPIC_BASE_URL", _DEFAULT_URL)
        if not address_of(url).endswith("/v1"):  # as the variable has it for Anthropic's clients
            url = endpoint_of(url, "v1")
        key = api_key(["ANTHROPIC_API_KEY"], url == _DEFAULT_URL, headers, "x-api-key")
        own = {"anthropic-version": _VERSION, **({"x-api-key": key} if key else {})}
        self._client = Client(key=key, own_headers=own, headers=headers, timeout=timeout)
        self._header_names = sorted(map(str.lower, headers))
        self._model, self._stream = model, stream
        self._url = endpoint_of(url, "messages")
        self._has_blank_stop = False
        self.address = address_of(url)

    @property
    def config(self) -> dict[str, Any]:
        """How requests differ from what the settings say; recorded with the run."""
        return {"headers": self._header_names} if self._header_names else {}

    @property
    def notes(self) -> list[str]:
        """What the user should know about the requests so far."""
        if not self._has_blank_stop:
            return []
        return ["Anthropic takes no stop text of white space alone; answers are cut at it here"]

    def ignored(self, sampling: Sampling, *, seeds: bool) -> list[str]:
        """Return what is known to have no effect of the settings of a request."""
        return ["Anthropic's Messages API has no seed: its answers cannot be drawn again"] * seeds

    async def generate(self, request: Request) -> Sequence[Completion]:
        """Make one attempt."""
        sampling = request.sampling
        if sampling.max_tokens is None:
            raise UnsupportedSetting(
                "Anthropic's Messages API needs a limit of tokens. Give --max-tokens.", "max_tokens"
            )
        stream = self._stream or sampling.max_tokens > _LONG
        self._has_blank_stop |= any(not stop.strip() for stop in sampling.stop)
        fields = message_fields(self._model, request, stream=stream)
        return await self._client.post(
            self._url,
            json.dumps(fields).encode(),
            lambda raw: read_message(raw, request),
            MessageStream,
        )

    async def reset(self) -> None:
        """Drop every connection: a sleep of the machine has left them dead."""
        await self._client.reset()

    async def close(self) -> None:
        await self._client.close()
