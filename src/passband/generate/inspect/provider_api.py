"""A model of Inspect that is asked by one of passband's own providers.

A provider carries text and the usual sampling parameters. What it cannot carry, such as tools or
images, is never dropped: for an OpenAI-compatible server Inspect's own client sends such a call,
and for any other model it is an error.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from typing import Any, cast

from passband.generate.inspect.generation import output_of
from passband.generate.inspect.installed import message_of
from passband.generate.inspect.patience import PatientProvider
from passband.generate.pool.pool import Pool
from passband.generate.provider import (
    Message,
    Provider,
    ProviderFault,
    Rejected,
    Request,
    Sampling,
)
from passband.generate.registry import Connection
from passband.generate.servers.openai import OpenAIServer

# Settings of Inspect's GenerateConfig that are no part of a request, or are fields of `Sampling`.
_READ = {
    "adaptive_connections", "attempt_timeout", "batch", "cache", "cache_prompt", "fail_on_refusal",
    "internal_tools", "max_connections", "max_retries", "max_tokens", "max_tool_output",
    "parallel_tool_calls", "reasoning_history", "seed", "stop_seqs", "stream_idle_timeout",
    "system_message", "temperature", "timeout", "top_p",
}  # fmt: skip
# Those that OpenAI-compatible servers take under the same name.
_EXTRA = {"frequency_penalty", "logit_bias", "presence_penalty", "reasoning_effort", "top_k"}


def make_api(name: str, provider: Provider, connection: Connection) -> Any:
    """Return a ModelAPI of Inspect that asks a provider."""
    return _api_class()(model_name=name, provider=provider, connection=connection)


@cache
def _api_class() -> Any:
    from inspect_ai.model import GenerateConfig, ModelAPI, modelapi

    class PassbandAPI(ModelAPI):  # type: ignore[misc]  # inspect_ai is not followed by mypy
        """Sends what a solver or a scorer generates to a provider of passband."""

        def __init__(self, model_name: str, provider: Provider, connection: Connection) -> None:
            super().__init__(model_name=model_name, config=GenerateConfig())
            self._provider = provider
            self._patient = PatientProvider(provider, outage=connection.outage)
            self._connection = connection
            self._client: Any = None  # of Inspect, for what the provider cannot carry

        async def generate(
            self, input: list[Any], tools: list[Any], tool_choice: Any, config: Any
        ) -> Any:
            obstacle = _obstacle(input, tools, config)
            server = self._provider
            if isinstance(server, Pool):
                server = server.replicas[0].provider
            is_server = isinstance(server, OpenAIServer) and server.is_chat
            if obstacle is None and not (is_server and _has_reasoning(input)):
                request = Request(_messages(input), _sampling(config), (config.seed,))
                return output_of(await self._patient.generate(request), self.model_name)
            if isinstance(self._provider, Pool):
                raise Rejected(
                    f"the task sends {obstacle or 'reasoning'}, which goes to one address alone; "
                    "give a single --base-url."
                )
            if not is_server:
                raise Rejected(
                    f"{self.model_name} takes text alone, and the task sends {obstacle}; name a "
                    f"model of Inspect's own providers, or openai:NAME."
                )
            return await self._inspect_client().generate(input, tools, tool_choice, config)

        def should_retry(self, ex: Exception) -> bool:
            """Leave other attempts to the client that made the first."""
            if isinstance(ex, ProviderFault) or self._client is None:
                return False
            decision = self._client.should_retry(ex)
            return bool(getattr(decision, "retry", decision))

        def max_connections(self) -> int:
            return self._connection.concurrency

        async def aclose(self) -> None:
            await self._provider.close()
            if self._client is not None:
                await self._client.aclose()

        def _inspect_client(self) -> Any:
            if self._client is None:
                self._client = _openai_client(self.model_name, self._provider)
            return self._client

    return modelapi(name="passband")(PassbandAPI)


def _openai_client(name: str, provider: Any) -> Any:
    """Return Inspect's client for the server and the model of a provider."""
    from inspect_ai.model import get_model

    model = name.removeprefix("openai:")
    key = os.environ.get("OPENAI_API_KEY", "").strip() or "none"
    try:
        return get_model(
            f"openai-api/passband/{model}", base_url=provider.address, api_key=key, memoize=False
        ).api
    except Exception as error:  # the package openai is missing or too old
        raise Rejected(f"tools need Inspect's client: {message_of(error)}") from error


def _obstacle(messages: Sequence[Any], tools: Sequence[Any], config: Any) -> str | None:
    """Return what a provider cannot carry, if there is anything."""
    if tools:
        return "tools"
    for message in messages:
        if message.role == "tool" or getattr(message, "tool_calls", None):
            return "tool calls"
        if not isinstance(message.content, str):
            for part in message.content:
                if part.type not in ("text", "reasoning"):
                    return f"content of type {part.type}"
    settings = config.model_dump(exclude_none=True)
    settings.pop("extra_body", None)
    left = sorted(settings.keys() - _READ - _EXTRA)
    return f"the setting {left[0]}" if left else None


def _has_reasoning(messages: Sequence[Any]) -> bool:
    """Return whether there is reasoning of earlier turns; servers differ in how they take it."""
    contents = [m.content for m in messages if not isinstance(m.content, str)]
    return any(part.type == "reasoning" for content in contents for part in content)


def _messages(messages: Sequence[Any]) -> tuple[Message, ...]:
    return tuple(Message(cast(Any, m.role), _text(m.content)) for m in messages)


def _text(content: Any) -> str:
    """Return the text of a message; reasoning of earlier turns is not sent back."""
    if isinstance(content, str):
        return content
    return "\n".join(part.text for part in content if part.type == "text")


def _sampling(config: Any) -> Sampling:
    extra = {name: value for name in _EXTRA if (value := getattr(config, name)) is not None}
    body = {
        k: v for k, v in (config.extra_body or {}).items() if k != "metadata"
    }  # as Inspect does
    return Sampling(
        temperature=config.temperature,
        top_p=config.top_p,
        max_tokens=config.max_tokens,
        stop=tuple(config.stop_seqs or ()),
        extra={**extra, **body},
    )
