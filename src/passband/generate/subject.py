"""The seam above the provider: a problem and seeds in, finished trials out.

A provider behind a prompt is one subject. An agent with tools, a sandbox and scorers of its own is
another: it makes as many requests as it needs and returns a `Completion` with its transcript, its
cost and its scores. Either way `answer` makes one attempt. It raises a `ProviderFault` where the
attempt gives nothing, and the caller decides whether there is another. A task may bring the way in
which it is asked: its `SubjectFactory` makes a subject of the model.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Any, Protocol, cast

from passband.generate.problem import Problem
from passband.generate.provider import Completion, Provider, Request, Sampling
from passband.generate.registry import Connection, make_provider

Seeds = tuple[int | None, ...]


class Subject(Protocol):
    """The thing that is evaluated: a model, an agent, a function.

    A subject may also have `address`, the server that it asks (`ProviderSubject.address`),
    `one_seed`, and `async reset()`, which drops connections that died while the machine slept;
    `is_costly`, which counts a trial as in flight until it is on disk, so that a kill loses no more
    than are in flight; `spec`, a mapping of further settings that its answers depend on and that a
    resumed run has to have too, and `config`, a mapping of those that are only recorded; `notes`, a
    list of what the user should know about its requests so far, and `ignored(sampling, seeds=...)`,
    which returns sentences on settings that are known to have no effect.
    """

    @property
    def name(self) -> str:
        """The name that its trials are recorded under."""
        ...

    @property
    def batch(self) -> int:
        """The most trials that one call of `answer` may request."""
        ...

    async def answer(
        self, problem: Problem, sampling: Sampling, seeds: Seeds, trials: Sequence[int]
    ) -> Sequence[Completion]:
        """Make one attempt at these trials, each with its seed.

        Returns their completions in order, perhaps fewer than there are trials.
        """
        ...

    async def close(self) -> None:
        """Release connections, threads and memory."""
        ...


class ProviderSubject:
    """A provider that is sent each problem's messages."""

    def __init__(self, provider: Provider, name: str | None = None) -> None:
        self.provider = provider
        self.name = name or str(getattr(provider, "name", type(provider).__name__))

    @property
    def batch(self) -> int:
        """Completions that one request may ask for."""
        return self.provider.batch

    @property
    def address(self) -> str | None:
        """Scheme, host and path of the server; None for a model in this process."""
        return getattr(self.provider, "address", None)

    @property
    def spec(self) -> Mapping[str, Any]:
        """What answers depend on beyond the model's name: the source of a function, weights."""
        return getattr(self.provider, "spec", {})

    @property
    def one_seed(self) -> bool:
        """Whether a request uses the first of its seeds alone, so that no others are derived."""
        return getattr(self.provider, "one_seed", False)

    @property
    def config(self) -> Mapping[str, Any]:
        """Settings of its requests that the provider has changed, where it says so."""
        config = getattr(self.provider, "config", None)
        return config if isinstance(config, Mapping) else {}

    @property
    def notes(self) -> Sequence[str]:
        """What the user should know about its requests so far."""
        notes = getattr(self.provider, "notes", None)
        return notes if isinstance(notes, list) else []

    def ignored(self, sampling: Sampling, *, seeds: bool) -> Sequence[str]:
        """Return sentences on settings that are known to have no effect on this provider."""
        if not hasattr(self.provider, "ignored"):
            return []
        sentences: Sequence[str] = self.provider.ignored(sampling, seeds=seeds)
        return sentences

    def answer(
        self, problem: Problem, sampling: Sampling, seeds: Seeds, trials: Sequence[int]
    ) -> Coroutine[Any, Any, Sequence[Completion]]:
        """Make one request."""
        return self.provider.generate(Request(problem.messages, sampling, seeds))

    async def reset(self) -> None:
        """Drop connections, where the provider has any."""
        reset: Callable[[], Awaitable[None]] | None = getattr(self.provider, "reset", None)
        if reset is not None:
            await reset()

    async def close(self) -> None:
        await self.provider.close()


Model = str | Subject | Provider | Callable[..., Any]
"""A model as it is named or given: by name, or as an object that answers."""

SubjectFactory = Callable[[Model, Connection], Subject]
"""Makes the subject that a task is to be asked of, from the model that was named."""


def make_subject(model: Model, connection: Connection | None = None) -> Subject:
    """Return the subject of a model's name, a provider or a function.

    >>> make_subject("tiny").name
    'tiny'
    """
    connection = connection or Connection()
    if isinstance(model, str):
        return ProviderSubject(make_provider(model, connection), model)
    if hasattr(model, "answer"):
        return cast("Subject", model)
    if hasattr(model, "generate"):
        return ProviderSubject(cast("Provider", model))
    from passband.generate.function import Function

    provider = Function(model, timeout=connection.timeout, threads=connection.concurrency)
    return ProviderSubject(provider, _function_name(model))


def _function_name(function: Callable[..., Any]) -> str:
    """Return `python:module:function`; a bound or built-in function may lack either."""
    kind = type(function)
    module = getattr(function, "__module__", None) or kind.__module__
    return f"python:{module}:{getattr(function, '__qualname__', kind.__name__)}"
