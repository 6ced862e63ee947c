"""Let Inspect ask one of passband's own providers, as patiently as a run does.

A provider carries text and the usual sampling parameters. What it cannot carry, such as tools or
images, is never dropped: for an OpenAI-compatible server Inspect's own client sends such a call,
and for any other model it is an error.

A rate limit holds up all requests and counts against none; a server that is down for everyone is
waited for; a request that fails while others are answered is given up.
"""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from passband.generate.inspect.generation import output_of
from passband.generate.inspect.installed import message_of
from passband.generate.pool.pool import Pool
from passband.generate.provider import (
    Completion,
    Crashed,
    GaveUp,
    Hopeless,
    InvalidReply,
    Message,
    Provider,
    ProviderFault,
    RateLimited,
    Rejected,
    Request,
    Sampling,
    TimedOut,
    Unavailable,
    Unfinished,
)
from passband.generate.registry import Connection
from passband.generate.servers.openai import OpenAIServer
from passband.generate.servers.outage import Silence

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage
    from inspect_ai.tool import ToolChoice, ToolInfo

_ATTEMPTS = 5  # failures of the server on a request, after which it is given up
_REPLIES = 3  # invalid replies, timeouts or exceptions, after which it is given up
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0


class PatientProvider:
    """Makes requests to a provider until there is an answer, or a reason for none."""

    def __init__(
        self,
        provider: Provider,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        outage: float = 600.0,
    ) -> None:
        self._provider = provider
        self._sleep = sleep
        self._answered = 0
        self._paused_until = 0.0
        self._pauses = 0  # in a row
        self._silence = Silence(outage, lambda: time.monotonic())

    async def generate(self, request: Request) -> Completion:
        """Return the answer to a request, or raise a fault that is final."""
        failures = replies = pauses = unfinished = 0
        while True:
            await self._ready()
            known = self._answered
            try:
                completions = await self._provider.generate(request)
                if not completions:
                    raise InvalidReply("the model returned no completion")
            except RateLimited as fault:
                if not fault.elsewhere:
                    self._limited(fault)
                continue
            except Unavailable as fault:
                failures += self._failed(fault, known)
                if failures >= _ATTEMPTS:
                    raise GaveUp(fault.detail, http=fault.http) from fault
                if fault.elsewhere:
                    continue
            except Unfinished as fault:  # once more; then it is taken as it is
                unfinished += 1
                if unfinished > 1:
                    self._answered += 1
                    return fault.completions[0]
            except (TimedOut, Crashed, InvalidReply) as fault:
                replies += 1
                if replies >= _REPLIES:
                    raise _final(fault) from fault
            else:
                self._answered += 1
                self._pauses = 0
                self._silence.end()
                return completions[0]
            await self._sleep(_backoff(pauses))
            pauses += 1

    async def _ready(self) -> None:
        while (pause := self._paused_until - time.monotonic()) > 0:
            # Requests that waited together must not come back together.
            await self._sleep(pause + random.uniform(0, min(5.0, 0.1 + 0.1 * pause)))

    def _limited(self, fault: RateLimited) -> None:
        """Pause all requests for as long as the server asks, or else longer each time."""
        if why := self._silence.is_over(fault):
            raise Hopeless(why)
        seconds = fault.retry_after
        if seconds is None:
            seconds = self._silence.bounded(_backoff(self._pauses))
        if self._paused_until <= time.monotonic():
            self._pauses += 1
        self._paused_until = max(self._paused_until, time.monotonic() + seconds)

    def _failed(self, fault: Unavailable, known: int) -> int:
        """Return whether a failure counts against the request; raise what ends the run."""
        if fault.elsewhere:  # one address is down, and the model is not
            return int(not fault.everyone)
        if fault.everyone and fault.http is None and not self._answered:
            raise Hopeless(f"the server cannot be reached: {fault.detail}")
        if why := self._silence.is_over(fault):
            raise Hopeless(why)
        return int(not fault.everyone or self._answered > known)


def _final(fault: ProviderFault) -> ProviderFault:
    kind = Rejected if isinstance(fault, InvalidReply) else GaveUp
    return kind(fault.detail, http=fault.http)


def _backoff(times: int) -> float:
    return random.uniform(0.5, 1.0) * min(_LONGEST_PAUSE, _FIRST_PAUSE * 2.0 ** min(times, 20))


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
            self, input: list[Any], tools: list[ToolInfo], tool_choice: ToolChoice, config: Any
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


def _obstacle(
    messages: Sequence[ChatMessage], tools: Sequence[ToolInfo], config: Any
) -> str | None:
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


def _has_reasoning(messages: Sequence[ChatMessage]) -> bool:
    """Return whether there is reasoning of earlier turns; servers differ in how they take it."""
    contents = [m.content for m in messages if not isinstance(m.content, str)]
    return any(part.type == "reasoning" for content in contents for part in content)


def _messages(messages: Sequence[ChatMessage]) -> tuple[Message, ...]:
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
