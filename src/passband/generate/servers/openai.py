"""A provider for servers that speak the OpenAI protocol over HTTP.

Habits of known servers that no reply tells of: names of fields, settings without effect.

Sources: Mistral's API reference (`random_seed`), DeepSeek's (in thinking mode, temperature, top_p
and the penalties have no effect), Anthropic's page on OpenAI SDK compatibility, OpenRouter's
page on provider routing (`require_parameters`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from passband.errors import InvalidInput, nearest
from passband.generate.provider import (
    Completion,
    Hopeless,
    JsonMapping,
    ProviderFault,
    Request,
    Sampling,
    UnsupportedSetting,
)
from passband.generate.servers.client import Client, Server
from passband.generate.servers.http import endpoint_of
from passband.generate.servers.models_endpoint import ServedModel, list_served
from passband.generate.servers.openai_stream import OpenAIStream
from passband.generate.servers.openai_wire import PayloadWriter, read_reply

_SEED_NAMES = {"mistral.ai": "random_seed"}  # by domain


@dataclass(frozen=True)
class _Habit:
    """Settings that a server takes and does not use."""

    domain: str | None  # None for any server
    model: re.Pattern[str]  # that the name of the model matches
    settings: tuple[str, ...]
    text: str
    is_off: Callable[[JsonMapping], bool] = lambda extra: False  # by further settings


def _thinks_not(extra: JsonMapping) -> bool:
    thinking = extra.get("thinking")
    return isinstance(thinking, Mapping) and thinking.get("type") == "disabled"


def _requires(extra: JsonMapping) -> bool:
    provider = extra.get("provider")
    return isinstance(provider, Mapping) and provider.get("require_parameters") is True


_ANY = re.compile("")
_SAMPLING = ("temperature", "top_p", "frequency_penalty", "presence_penalty")
_HABITS = (
    _Habit(
        "deepseek.com",
        re.compile(r"^(?!.*deepseek-chat)"),
        _SAMPLING,
        "DeepSeek's models ignore {} while they think, which they do unless "
        "generation_kwargs say thinking: {{type: disabled}}",
        _thinks_not,
    ),
    _Habit(
        None,
        re.compile(r"deepseek-(reasoner|r1)\b", re.IGNORECASE),
        _SAMPLING,
        "DeepSeek's reasoning models may ignore {}",
        _thinks_not,
    ),
    _Habit("anthropic.com", _ANY, ("seed", "logprobs", "top_logprobs", "reasoning_effort"),
           "Anthropic's OpenAI-compatible server ignores {}"),
    _Habit("deepseek.com", _ANY, ("seed",), "DeepSeek's server has no {}"),
    _Habit("openrouter.ai", _ANY, (*_SAMPLING, "seed", "top_k", "min_p"),
           "OpenRouter drops {} where the provider it chooses has no such setting, unless "
           "generation_kwargs say provider: {{require_parameters: true}}", _requires),
)  # fmt: skip


def seed_name(url: str) -> str:
    """Return the name of the seed in requests to a server.

    >>> seed_name("https://api.mistral.ai/v1"), seed_name("http://localhost:8000/v1")
    ('random_seed', 'seed')
    """
    return next((name for domain, name in _SEED_NAMES.items() if _is_of(url, domain)), "seed")


def ignored_settings(model: str, url: str, sampling: Sampling, *, seeds: bool) -> list[str]:
    """Return a sentence on the settings of a request that have no effect, for each habit.

    >>> ignored_settings("deepseek-reasoner", "http://gpu:8000/v1", Sampling(0.7), seeds=True)
    ["DeepSeek's reasoning models may ignore temperature"]
    """
    sent = _sent(sampling, seeds)
    sentences = []
    said: set[str] = set()
    for habit in _HABITS:
        names = [name for name in habit.settings if name in sent and name not in said]
        is_meant = habit.domain is None or _is_of(url, habit.domain)
        if names and is_meant and habit.model.search(model) and not habit.is_off(sampling.extra):
            said.update(names)
            sentences.append(habit.text.format(" and ".join(names)))
    return sentences


def _sent(sampling: Sampling, seeds: bool) -> set[str]:
    named = {"temperature": sampling.temperature, "top_p": sampling.top_p}
    sent = {name for name, value in named.items() if value is not None}
    return sent | set(sampling.extra) | ({"seed"} if seeds else set())


def _is_of(url: str, domain: str) -> bool:
    try:
        host = (urlsplit(url).hostname or "").lower()
    except ValueError:
        return False
    return host == domain or host.endswith(f".{domain}")


_FEW = 5  # models that are all named where another was asked for
_LIST = 2.0  # seconds for a list of models, which requests wait for
_DEFAULT_URL = "https://api.openai.com/v1"
_OTHER_LENGTH = "max_completion_tokens"  # what OpenAI's reasoning models take for max_tokens
_CHANGES = 3  # of how requests are written, each after a reply that asks for it
_STREAM_ONLY = re.compile(  # Alibaba's: "This model only support stream mode, please enable ..."
    r"only supports? (?:the )?stream|stream(?:ing)? (?:mode )?is required|enable the stream"
    r"|[`'\"]?stream[`'\"]? (?:must|has to) be (?:set to )?true|must (?:use|be) stream"
    r"|requires? stream"
)


class OpenAIServer(Server):
    """A model behind `/chat/completions` or `/completions`."""

    def __init__(
        self,
        model: str,
        *,
        chat: bool = True,
        base_url: str | None = None,
        timeout: float = 600.0,
        batch: int = 16,
        headers: Mapping[str, str] | None = None,
        stream: bool = False,
    ) -> None:
        url = base_url or os.environ.get("OPENAI_BASE_URL") or _DEFAULT_URL
        headers = headers or {}
        self.batch = batch
        self._model = model
        self._payloads = PayloadWriter(model, chat=chat, seed_name=seed_name(url), stream=stream)
        self._is_told_to_stream = stream
        self.is_chat = chat
        self._url = endpoint_of(url, "chat/completions" if chat else "completions")
        self._base_url = url
        key = os.environ.get("OPENAI_API_KEY", "").strip()
        if not key.isprintable():
            raise InvalidInput("OPENAI_API_KEY holds a line break or the like; set it again.")
        if not key and url == _DEFAULT_URL and "authorization" not in map(str.lower, headers):
            raise InvalidInput(
                "OPENAI_API_KEY is not set. Set it, or give the address of another server with "
                "--base-url (or OPENAI_BASE_URL)."
            )
        own = {"Authorization": f"Bearer {key}"} if key else {}
        client = Client(key=key, own_headers=own, headers=headers, timeout=timeout)
        super().__init__(client, url, headers)

    @property
    def config(self) -> JsonMapping:
        """Return how requests differ from the settings; recorded with the run."""
        name = self._payloads.length_name
        return super().config if name is None else {"length_name": name, **super().config}

    @property
    def notes(self) -> list[str]:
        """Return what the user should know about the requests so far."""
        notes = []
        if self._payloads.length_name is not None:
            notes.append(
                "the model takes no max_tokens; the limit of tokens is sent as "
                f"{self._payloads.length_name} instead"
            )
        if self._payloads.stream and not self._is_told_to_stream:
            notes.append("the server answers only with streams; answers are streamed (--stream)")
        return notes

    def ignored(self, sampling: Sampling, *, seeds: bool) -> list[str]:
        """Return sentences on settings that are known to have no effect."""
        return ignored_settings(self._model, self.address, sampling, seeds=seeds)

    async def generate(self, request: Request) -> Sequence[Completion]:
        """Make one attempt; rewrite and resend a request that is rejected for how it is written."""
        for _ in range(_CHANGES):
            written = self._payloads.manner
            try:
                return await self._attempt(request)
            except ProviderFault as fault:
                is_rejected = fault.http is not None and fault.http in (400, 422)
                is_old = is_rejected and written != self._payloads.manner  # changed meanwhile
                if not self._adapt(request, fault) and not is_old:
                    raise await self._explained(fault) from fault
        return await self._attempt(request)

    async def _explained(self, fault: ProviderFault) -> ProviderFault:
        """Return a fault, that of an unknown model with what the server has instead."""
        if not isinstance(fault, Hopeless) or fault.http != 404:
            return fault
        names = [model.name for model in await self.served() or ()]
        if self._model in names:
            return fault
        hint = nearest(self._model, names)
        if 0 < len(names) <= _FEW:
            hint = f" The server has {', '.join(names)}."
        elif not names and not self.address.endswith("/v1"):
            hint = f" Most addresses end in /v1; this is {self.address}."
        return Hopeless(f"{fault.detail.rstrip('.')}.{hint}", http=404)

    async def served(self) -> Sequence[ServedModel] | None:
        """Return the models that the server lists; None if it gives no list."""
        return await list_served(self._client.session(), self._base_url, seconds=_LIST)

    async def _attempt(self, request: Request) -> Sequence[Completion]:
        body = self._payloads.write(request)
        chat = self.is_chat
        return await self._client.post(
            self._url, body, lambda raw: read_reply(raw, request, chat=chat), OpenAIStream
        )

    def _adapt(self, request: Request, fault: ProviderFault) -> bool:
        """Change how requests are written, if that is what a server asks for."""
        setting = fault.setting if isinstance(fault, UnsupportedSetting) else None
        payloads = self._payloads
        if setting == "max_tokens" and _OTHER_LENGTH in fault.detail:
            if request.sampling.max_tokens is None or payloads.length_name == _OTHER_LENGTH:
                return False
            payloads.rename_length(_OTHER_LENGTH)
            return True
        if setting == "stream_options" and payloads.has_stream_options:
            payloads.change_stream(stream=True, options=False)
            return True
        is_refused = fault.http is not None and 400 <= fault.http < 500
        if is_refused and not payloads.stream and _STREAM_ONLY.search(fault.detail.lower()):
            payloads.change_stream(stream=True)
            return True
        return False
