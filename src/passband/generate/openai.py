"""A provider for servers that speak the OpenAI protocol over HTTP."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Sequence

import aiohttp

from passband.errors import InvalidInput
from passband.generate.deadlines import Deadlines
from passband.generate.faults import fault_of
from passband.generate.http import address_of, endpoint_of, read_body
from passband.generate.provider import (
    Completion,
    Hopeless,
    Request,
    Sampling,
    TimedOut,
    Unavailable,
    Unfinished,
    UnsupportedSetting,
)
from passband.generate.secrets import add_secret, redacted_values
from passband.generate.served import ServedModel, list_served
from passband.generate.server_habits import ignored_settings, seed_name
from passband.generate.wire import PayloadWriter, read_reply

__all__ = ["OpenAIServer"]

_CONNECT = 10.0  # seconds to reach the server
_LIST = 2.0  # seconds for a list of models, which requests wait for
_RESOLVE = 30.0  # seconds to look its name up and to reach it
_NUMBERS = ("prompt_tokens", "completion_tokens", "seed", "cost", "scores", "latency_ms")
_TEXTS = tuple(name for name in Completion._fields if name not in _NUMBERS)
_DEFAULT_URL = "https://api.openai.com/v1"
_OTHER_LENGTH = "max_completion_tokens"  # what OpenAI's reasoning models take for max_tokens


class OpenAIServer:
    """A model behind `/chat/completions` or `/completions`."""

    def __init__(
        self,
        model: str,
        *,
        chat: bool = True,
        base_url: str | None = None,
        timeout: float = 600.0,
        batch: int = 16,
    ) -> None:
        url = base_url or os.environ.get("OPENAI_BASE_URL") or _DEFAULT_URL
        self.batch = batch
        self.one_seed = True  # a request carries the seed of its first completion alone
        self._model = model
        self._payloads = PayloadWriter(model, chat=chat, seed_name=seed_name(url))
        self.is_chat = chat
        self._key = os.environ.get("OPENAI_API_KEY", "").strip()
        self._url = endpoint_of(url, "chat/completions" if chat else "completions")
        self._base_url = url
        self.address = address_of(url)
        self._secret = add_secret(self._key)
        if not self._key.isprintable():
            raise InvalidInput("OPENAI_API_KEY holds a line break or the like; set it again.")
        if not self._key and url == _DEFAULT_URL:
            raise InvalidInput(
                "OPENAI_API_KEY is not set. Set it, or give the address of another server with "
                "--base-url (or OPENAI_BASE_URL)."
            )
        self._deadlines = Deadlines(timeout)
        self._session: aiohttp.ClientSession | None = None

    @property
    def config(self) -> dict[str, str]:
        """How requests differ from what the settings say; recorded with the run."""
        name = self._payloads.length_name
        return {} if name is None else {"length_name": name}

    @property
    def notes(self) -> list[str]:
        """What the user should know about the requests so far."""
        if self._payloads.length_name is None:
            return []
        return [
            "the model takes no max_tokens; the limit of tokens is sent as "
            f"{self._payloads.length_name} instead"
        ]

    def ignored(self, sampling: Sampling, *, seeds: bool) -> list[str]:
        """Return what is known to have no effect of the settings of a request."""
        return ignored_settings(self._model, self.address, sampling, seeds=seeds)

    async def generate(self, request: Request) -> Sequence[Completion]:
        """Make one attempt; a limit of tokens under a name that is rejected is sent once more."""
        name = self._payloads.length_name
        try:
            return await self._attempt(request)
        except UnsupportedSetting as fault:
            is_name = fault.setting == "max_tokens" and _OTHER_LENGTH in fault.detail
            if not is_name or request.sampling.max_tokens is None or name == _OTHER_LENGTH:
                raise
            self._payloads.rename_length(_OTHER_LENGTH)
        return await self._attempt(request)

    async def served(self) -> Sequence[ServedModel] | None:
        """Return the models that the server lists; None if it gives no list."""
        return await list_served(self._opened(), self._base_url, seconds=_LIST)

    async def _attempt(self, request: Request) -> Sequence[Completion]:
        body = self._payloads.write(request)
        try:
            with self._deadlines.start():
                async with self._opened().post(
                    self._url, data=body, allow_redirects=False
                ) as reply:
                    raw = await read_body(reply)
                    if reply.status == 200:
                        return self._read(raw, request)
                    headers = {k: self._secret.removed_from(v) for k, v in reply.headers.items()}
                    raw = self._secret.removed_from_bytes(raw)
                    raise fault_of(reply.status, headers, raw, time.time())
        except aiohttp.ServerTimeoutError as error:
            raise Unavailable(self._described(error), everyone=True) from None
        except asyncio.TimeoutError:
            raise TimedOut(f"no complete answer within {self._deadlines.seconds:g} s") from None
        except aiohttp.InvalidURL:
            raise Hopeless(f"{self._url} is not an address") from None
        except aiohttp.ClientConnectorError as error:
            raise Unavailable(self._described(error), everyone=True) from None
        except (aiohttp.ClientError, OSError) as error:
            raise Unavailable(self._described(error)) from None

    def _read(self, raw: bytes, request: Request) -> list[Completion]:
        """Return the completions of a reply, without the key in any spelling."""
        if not self._secret.is_long:
            return read_reply(raw, request, chat=self.is_chat)
        if self._secret.may_be_in(raw):
            raw = self._secret.removed_from_bytes(raw)
        try:
            read = read_reply(raw, request, chat=self.is_chat)
        except Unfinished as fault:
            fault.completions = [self._clean(completion) for completion in fault.completions]
            raise
        return [self._clean(completion) for completion in read]

    def _clean(self, completion: Completion) -> Completion:
        """Return a completion without the key, which escapes of JSON may have hidden."""
        said = completion.text, completion.reasoning, completion.request_id
        is_clean = not self._secret.is_in_texts(*said, completion.finish_reason)
        if is_clean and completion.transcript is None:
            return completion
        fields = completion._asdict()
        return completion._replace(**{name: redacted_values(fields[name]) for name in _TEXTS})

    async def reset(self) -> None:
        """Drop every connection: a sleep of the machine has left them dead."""
        await self._disconnect()

    async def close(self) -> None:
        self._deadlines.close()
        await self._disconnect()

    async def _disconnect(self) -> None:
        session, self._session = self._session, None  # a request made meanwhile opens another
        if session is not None:
            await session.close()

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:  # made inside the running loop
            headers = {"Content-Type": "application/json", "Accept": "application/json"}
            if self._key:
                headers["Authorization"] = f"Bearer {self._key}"
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=300),  # the caller limits
                timeout=aiohttp.ClientTimeout(total=None, connect=_RESOLVE, sock_connect=_CONNECT),
                headers=headers,
                auto_decompress=True,
                cookie_jar=aiohttp.DummyCookieJar(),
            )
        return self._session

    def _described(self, error: Exception) -> str:
        return self._secret.removed_from(str(error)) or type(error).__name__
