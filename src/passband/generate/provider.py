"""The seam between passband and any model: a request in, completions out.

A provider makes one attempt and no more. It neither retries nor sleeps nor stores: what an
attempt's failure means for the trial, and for the run, is decided by who asked.

ProviderFault(PassbandError)   one attempt gave no completion
├── RateLimited                asked too fast; says when to come back, where the server said so
├── Unavailable                the server or the way to it is down; the same request may work later
├── TimedOut                   no complete answer within the deadline
├── Crashed                    the model itself failed on this request
├── InvalidReply               an answer came that is not one
├── Rejected                   this request will never be answered; another might be
├── Filtered                   the server's content filter turned the prompt away
└── Hopeless                   no request will be answered: wrong key, no such model, no money
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

from passband.errors import PassbandError

__all__ = [
    "Completion",
    "Crashed",
    "Filtered",
    "Finish",
    "Hopeless",
    "InvalidReply",
    "Message",
    "Provider",
    "ProviderFault",
    "RateLimited",
    "Rejected",
    "Request",
    "Sampling",
    "TimedOut",
    "Unavailable",
]

Finish = Literal["stop", "length", "content_filter"]


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Sampling:
    """How completions are drawn; None leaves a setting to the model's own default."""

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)  # sent to the server as it is


class Request(NamedTuple):
    """One prompt, and one seed for each completion that is wanted of it."""

    messages: tuple[Message, ...]
    sampling: Sampling
    seeds: tuple[int | None, ...] = (None,)


class Completion(NamedTuple):
    """One answer of the model, as it came."""

    text: str | None
    finish: Finish = "stop"
    reasoning: str | None = None  # where the server keeps it apart from the answer
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    seed: int | None = None  # the one that was used, not the one that was asked for
    request_id: str | None = None


class Provider(Protocol):
    """A model that can be asked."""

    batch: int  # completions that one call may ask for

    async def generate(self, request: Request) -> Sequence[Completion]:
        """Make one attempt; return completions, perhaps fewer than asked, or raise a fault."""
        ...

    async def close(self) -> None:
        """Let go of connections, threads and memory."""
        ...


class ProviderFault(PassbandError):
    """One attempt gave no completion."""

    def __init__(self, detail: str, *, http: int | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.http = http


class RateLimited(ProviderFault):
    """Asked too fast."""

    def __init__(
        self, detail: str, *, http: int | None = None, retry_after: float | None = None
    ) -> None:
        super().__init__(detail, http=http)
        self.retry_after = retry_after  # seconds from now, where the server said


class Unavailable(ProviderFault):
    """The server, or the way to it, is down."""

    def __init__(self, detail: str, *, http: int | None = None, everyone: bool = False) -> None:
        super().__init__(detail, http=http)
        self.everyone = everyone  # whether it cannot be the fault of this one request


class TimedOut(ProviderFault):
    """No complete answer within the deadline."""


class Crashed(ProviderFault):
    """The model itself failed on this request; the next one may go well."""


class InvalidReply(ProviderFault):
    """An answer came that is not one: not JSON, no choices, an error in a success."""


class Rejected(ProviderFault):
    """This request will never be answered; another one might be."""


class Filtered(ProviderFault):
    """The server's content filter turned the prompt away."""


class Hopeless(ProviderFault):
    """No request will be answered: wrong key, no such model, no money."""
