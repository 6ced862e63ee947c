"""The seam between passband and any model: a request in, completions out.

A provider makes one attempt and no more. It neither retries nor sleeps nor stores: the caller
decides what a failed attempt means for the trial and for the run.

ProviderFault(PassbandError)   one attempt gave no completion
├── RateLimited                asked too fast; has the time to wait, where the server names one
├── Unavailable                the server or the way to it is down; the same request may work later
├── TimedOut                   no complete answer within the deadline
├── Crashed                    the model itself failed on this request
├── InvalidReply               the reply holds no completion
│   └── Unfinished             it holds some, but does not say that they are complete
├── Rejected                   this request will never be answered; another might be
│   └── TooLong                the prompt does not fit into the model's context
├── Filtered                   the server's content filter rejected the prompt
├── GaveUp                     the subject has made all the attempts that there will be
├── TaskError                  code of the task raised, which is not the model's fault
└── Hopeless                   no request will be answered: wrong key, no such model, no credit
    └── UnsupportedSetting     the model does not take a setting that every request has
"""

from __future__ import annotations

import copyreg
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from passband.errors import PassbandError
from passband.score import Score

if TYPE_CHECKING:
    from passband.generate.servers.models_endpoint import ServedModel

JsonObject = dict[str, Any]  # an object of JSON, or plain values by name
JsonMapping = Mapping[str, Any]  # the same, not to be changed

Finish = Literal["stop", "length", "content_filter", "limit", "tool_call", "unknown"]
"""Why an answer ended; "limit" is one of the task: of messages, tokens, time or cost.

"tool_call" is no answer: the model asked for a tool. "unknown" is a reason that passband does not
know, so that it cannot tell whether the answer is complete.
"""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Sampling:
    """Sampling parameters; None leaves a parameter to the model's own default."""

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    extra: JsonMapping = field(default_factory=dict)  # sent to the server as it is
    length_name: str = field(default="max_tokens", repr=False)  # of the limit, in a request

    @property
    def spec(self) -> JsonObject:
        """Return what completions depend on, by name, without the name of the length limit."""
        return {name: value for name, value in asdict(self).items() if name != "length_name"}


class Request(NamedTuple):
    """One prompt, and one seed for each completion that is requested."""

    messages: tuple[Message, ...]
    sampling: Sampling
    seeds: tuple[int | None, ...] = (None,)


class Completion(NamedTuple):
    """One answer of the model, unprocessed."""

    text: str | None
    finish: Finish = "stop"
    reasoning: str | None = None  # where the server keeps it apart from the answer
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    seed: int | None = None  # the one that was used, not the one that was requested
    request_id: str | None = None
    transcript: list[JsonObject] | None = None  # messages and tool calls on the way
    cost: float | None = None  # where the model knows it; else tokens times price
    scores: Mapping[str, Score] | None = None  # that the model brings, by name of the scorer
    latency_ms: int | None = None  # where the model knows it; else the time that the call took
    finish_reason: str | None = None  # the server's own word, where it says more than `finish`
    reasoning_tokens: int | None = None  # of `completion_tokens`, where the server counts them
    cached_tokens: int | None = None  # of `prompt_tokens`, where the server counts them


class Backend:
    """Describe how a model is reached and what its answers depend on; everything has a default.

    `config` and `notes` are read again whenever they are needed, because requests may change them.
    """

    batch: int = 1  # completions that one call may ask for
    address: str | None = None  # scheme, host and path of the server, nothing secret
    one_seed: bool = False  # whether a call uses the first of its seeds alone

    # Cached, unlike a property, an attribute can be assigned by a class that derives from this.
    @cached_property
    def spec(self) -> JsonMapping:
        """Return what answers depend on; a resumed run has to have the same."""
        return {}

    @cached_property
    def config(self) -> JsonMapping:
        """Return settings of the requests to record, though answers do not depend on them."""
        return {}

    @cached_property
    def notes(self) -> Sequence[str]:
        """Return what the user should know about the requests so far."""
        return ()

    def ignored(self, sampling: Sampling, *, seeds: bool) -> Sequence[str]:
        """Return sentences on settings that are known to have no effect."""
        return ()

    async def reset(self) -> None:
        """Drop every connection: a sleep of the machine has left them dead."""

    async def close(self) -> None:
        """Release connections, threads and memory."""


class Provider(Backend, ABC):
    """A model that answers requests.

    A provider that shares its requests between several servers has all their addresses, with a
    comma and a space between them.
    """

    name: str = ""  # that trials are recorded under; empty for that of the class

    @abstractmethod
    async def generate(self, request: Request) -> Sequence[Completion]:
        """Make one attempt; return completions, perhaps fewer than seeds, or raise a fault."""

    async def served(self) -> Sequence[ServedModel] | None:
        """Return the models that the server lists; None if it gives no list."""
        return None


class ProviderFault(PassbandError):
    """One attempt gave no completion."""

    def __init__(self, detail: str, *, http: int | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.http = http
        self.elsewhere = False  # whether the request may go to another address at once

    def __reduce__(self) -> tuple[Any, ...]:
        """Let it be pickled whatever its class takes: a fault may come from another machine."""
        return copyreg.__newobj__, (type(self), *self.args), self.__dict__  # type: ignore[attr-defined]


class RateLimited(ProviderFault):
    """The server turned the request away because there were too many."""

    def __init__(
        self, detail: str, *, http: int | None = None, retry_after: float | None = None
    ) -> None:
        super().__init__(detail, http=http)
        self.retry_after = retry_after  # seconds from now, where the server names them


class Unavailable(ProviderFault):
    """The server, or the way to it, is down."""

    def __init__(self, detail: str, *, http: int | None = None, everyone: bool = False) -> None:
        super().__init__(detail, http=http)
        self.everyone = everyone  # whether it cannot be the fault of this one request


class TimedOut(ProviderFault):
    """No complete answer within the deadline."""


class Crashed(ProviderFault):
    """The model itself failed on this request; the next attempt may succeed."""


class InvalidReply(ProviderFault):
    """The reply holds no completion: not JSON, no choices, an error with status 200."""


class Unfinished(InvalidReply):
    """The reply holds completions, but does not say that they are complete."""

    def __init__(
        self, detail: str, completions: Sequence[Completion], *, http: int | None = None
    ) -> None:
        super().__init__(detail, http=http)
        self.completions = completions  # what is recorded if the next reply says no more


class Rejected(ProviderFault):
    """The server will never answer this request; it may answer others."""


class TooLong(Rejected):
    """The prompt, or the prompt and the answer, do not fit into the model's context."""


class Filtered(ProviderFault):
    """The server's content filter rejected the prompt."""


class GaveUp(ProviderFault):
    """The subject makes attempts of its own, and none of them was answered."""


class TaskError(ProviderFault):
    """Code of the task raised: a solver, a tool or a scorer. It would raise again."""


class Hopeless(ProviderFault):
    """The server will answer no request: wrong key, no such model, no credit."""


class UnsupportedSetting(Hopeless):
    """The model does not take a setting that is the same in all requests."""

    def __init__(self, detail: str, setting: str, *, http: int | None = None) -> None:
        super().__init__(detail, http=http)
        self.setting = setting  # by its name in the request
