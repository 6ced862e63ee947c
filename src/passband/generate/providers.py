"""Providers by name: `tiny`, `openai:NAME`, `python:module:function`, and registered ones."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

from passband.errors import InvalidInput, UnknownName
from passband.generate.provider import Provider
from passband.registry import Registry

__all__ = ["Connection", "ProviderFactory", "make_provider", "register_provider"]


@dataclass(frozen=True)
class Connection:
    """How to reach a model."""

    base_url: str | None = None
    timeout: float = 600.0  # seconds for one answer, from the first byte sent to the last received
    concurrency: int = 64  # requests in flight, at most
    batch: int = 16  # completions per request, if the server supports `n`


ProviderFactory = Callable[[str, Connection], Provider]
providers: Registry[ProviderFactory] = Registry("provider")


def register_provider(name: str) -> Callable[[ProviderFactory], ProviderFactory]:
    """Register a provider factory, used as `--model name:MODEL`.

    The factory takes the text after the colon and a `Connection`, and returns a `Provider`:

    >>> from passband.generate.provider import Completion
    >>> class Echo:
    ...     batch = 1
    ...     async def generate(self, request):
    ...         return [Completion(request.messages[-1].content)]
    ...     async def close(self):
    ...         pass
    >>> @register_provider("echo")
    ... def echo(model, connection):
    ...     return Echo()
    >>> make_provider("echo:any").batch
    1
    """

    def register(factory: ProviderFactory) -> ProviderFactory:
        providers.add(name, factory)
        return factory

    return register


def make_provider(model: str, connection: Connection | None = None) -> Provider:
    """Return the provider of a model.

    A name without a prefix is a model of the server at `--base-url` or OPENAI_BASE_URL.
    """
    connection = connection or Connection()
    kind, colon, rest = model.partition(":")
    if kind in providers:
        return providers.get(kind)(rest, connection)
    if connection.base_url or os.environ.get("OPENAI_BASE_URL"):
        return _openai(model, connection)
    try:
        providers.get(kind)
    except UnknownName as error:
        server = (
            ""
            if colon
            else (" For an OpenAI-compatible server use --model openai:NAME --base-url URL.")
        )
        raise InvalidInput(f"--model {model}: {error}{server}") from None
    raise AssertionError(kind)


@register_provider("openai")
def _openai(model: str, connection: Connection) -> Provider:
    return _server(model, connection, chat=True)


@register_provider("openai-completions")
def _openai_completions(model: str, connection: Connection) -> Provider:
    return _server(model, connection, chat=False)


def _server(model: str, connection: Connection, *, chat: bool) -> Provider:
    from passband.generate.openai import OpenAIServer

    if not model:
        raise InvalidInput("--model openai: needs the name of a model, such as openai:gpt-4o-mini.")
    return OpenAIServer(
        model,
        chat=chat,
        base_url=connection.base_url,
        timeout=connection.timeout,
        batch=connection.batch,
    )


@register_provider("python")
def _python(name: str, connection: Connection) -> Provider:
    from passband.generate.function import Function, function_named

    return Function(
        function_named(name), timeout=connection.timeout, threads=connection.concurrency
    )


@register_provider("tiny")
def _tiny(name: str, connection: Connection) -> Provider:
    from passband.generate.tiny.provider import Tiny

    if name:
        raise InvalidInput(f"--model tiny takes no name after it; got 'tiny:{name}'.")
    return Tiny()
