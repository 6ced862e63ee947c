"""Models by name: `tiny`, `openai:NAME`, `python:module:function`, and registered providers."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple
from urllib.parse import urlsplit

from passband.errors import InvalidInput, UnknownName
from passband.generate.adapters import adapted_provider
from passband.generate.provider import JsonObject, Provider
from passband.registry import Registry


@dataclass(frozen=True)
class Connection:
    """Addresses and limits of the requests to a model."""

    base_url: str | Sequence[str] | None = None  # several addresses share the load of one model
    timeout: float = 600.0  # seconds for one answer, from the first byte sent to the last received
    concurrency: int = 64  # requests in flight, at most
    batch: int = 16  # completions per request, if the server supports `n`
    outage: float = 600.0  # seconds without any answer, where a client waits by itself
    stream: bool = False  # whether answers are asked for as streams
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)  # of every request; secret

    @property
    def base_urls(self) -> tuple[str, ...]:
        """Every address, in the order given; empty if none is."""
        if self.base_url is None or isinstance(self.base_url, str):
            return (self.base_url,) if self.base_url else ()
        return tuple(self.base_url)

    @property
    def has_secrets(self) -> bool:
        """Return whether it holds values that must not leave this machine."""
        urls = [urlsplit(url) for url in self.base_urls]
        return bool(self.headers) or any(url.username or url.password for url in urls)

    def at(self, base_url: str | None) -> Connection:
        """Return the connection to one address."""
        return replace(self, base_url=base_url)


ProviderFactory = Callable[[str, Connection], Provider]


class RegisteredProvider(NamedTuple):
    """A factory of providers, and whether their models are local."""

    make: ProviderFactory
    is_local: bool  # runs on this machine and costs nothing


providers: Registry[RegisteredProvider] = Registry("provider")


def register_provider(
    name: str, *, is_local: bool = False
) -> Callable[[ProviderFactory], ProviderFactory]:
    """Register a factory of providers, for `--model name:MODEL`.

    The factory gets the text after the colon and a `Connection`, and returns a `Provider`. A
    provider that `is_local` has the price 0; the prices of others are read from a price file.

    >>> from passband.generate.provider import Completion, Provider
    >>> class Echo(Provider):
    ...     async def generate(self, request):
    ...         return [Completion(request.messages[-1].content)]
    >>> @register_provider("echo")
    ... def echo(model, connection):
    ...     return Echo()
    >>> make_provider("echo:any").batch
    1
    """

    def register(factory: ProviderFactory) -> ProviderFactory:
        providers.add(name, RegisteredProvider(factory, is_local))
        return factory

    return register


def is_local(model: str) -> bool:
    """Return whether a model runs on this machine and costs nothing."""
    kind = model.partition(":")[0]
    return kind in providers and providers.get(kind).is_local


def make_provider(model: str, connection: Connection | None = None) -> Provider:
    """Return the provider of a model name.

    A name without a prefix is a model of the server at `--base-url` or OPENAI_BASE_URL. Several
    addresses share the requests.
    """
    connection = connection or Connection()
    urls = connection.base_urls
    if len(urls) > 1:
        return _pool(model, connection, urls)
    connection = connection.at(urls[0] if urls else None)
    kind, colon, rest = model.partition(":")
    has_server = urls or os.environ.get("OPENAI_BASE_URL")
    if kind not in providers and has_server:
        return _openai(model, connection)
    try:
        provider = providers.get(kind)
    except UnknownName as error:
        hint = (
            "" if colon else " For an OpenAI-compatible server use openai:NAME with --base-url URL."
        )
        raise InvalidInput(f"--model {model}: {error}{hint}") from None
    return adapted_provider(provider.make(rest, connection))


def _pool(model: str, connection: Connection, urls: Sequence[str]) -> Provider:
    from passband.generate.pool.pool import Pool

    if is_local(model):
        raise InvalidInput(f"--model {model} has no address; got {len(urls)} with --base-url.")
    kind, _, rest = model.partition(":")
    name = rest if kind in providers else model
    return Pool(name, [make_provider(model, connection.at(url)) for url in urls])


@register_provider("openai")
def _openai(model: str, connection: Connection) -> Provider:
    """An OpenAI-compatible server, by its chat completions."""
    return _server(model, connection, chat=True)


@register_provider("openai-completions")
def _openai_completions(model: str, connection: Connection) -> Provider:
    """An OpenAI-compatible server, by its text completions."""
    return _server(model, connection, chat=False)


def _server(model: str, connection: Connection, *, chat: bool) -> Provider:
    from passband.generate.servers.openai import OpenAIServer

    if not model:
        raise InvalidInput("--model openai: needs the name of a model, such as openai:gpt-4o-mini.")
    return OpenAIServer(model, chat=chat, batch=connection.batch, **_options(connection))


@register_provider("anthropic")
def _anthropic(model: str, connection: Connection) -> Provider:
    """Anthropic's models, by the Messages API."""
    from passband.generate.servers.anthropic import AnthropicServer

    return AnthropicServer(model, **_options(connection))


@register_provider("google")
def _google(model: str, connection: Connection) -> Provider:
    """Google's models, by generateContent."""
    from passband.generate.servers.google import GoogleServer

    return GoogleServer(model, batch=connection.batch, **_options(connection))


def _options(connection: Connection) -> JsonObject:
    return {
        "base_url": next(iter(connection.base_urls), None),
        "timeout": connection.timeout,
        "headers": connection.headers,
        "stream": connection.stream,
    }


@register_provider("python", is_local=True)
def _python(name: str, connection: Connection) -> Provider:
    """A Python function, as python:module:function."""
    from passband.generate.function import Function, function_named

    return Function(
        function_named(name), timeout=connection.timeout, threads=connection.concurrency
    )


@register_provider("tiny", is_local=True)
def _tiny(name: str, connection: Connection) -> Provider:
    """The built-in model for arithmetic."""
    from passband.generate.tiny.provider import Tiny

    if name:
        raise InvalidInput(f"--model tiny takes no name after it; got 'tiny:{name}'.")
    return Tiny()
