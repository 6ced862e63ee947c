"""The seam above the provider: a problem and seeds in, finished trials out.

A provider behind a prompt is one subject. An agent with tools, a sandbox and scorers of its own is
another: it makes as many requests as it needs and returns a `Completion` with its transcript, its
cost and its scores. Either way `answer` makes one attempt. It raises a `ProviderFault` where the
attempt gives nothing, and the caller decides whether there is another. A task may bring the way in
which it is asked: its `SubjectFactory` makes a subject of the model.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Sequence
from functools import cached_property
from typing import Any, cast

from passband.errors import InvalidInput
from passband.generate.adapters import Adapted, adapted_provider
from passband.generate.problem import Problem
from passband.generate.provider import Backend, Completion, JsonMapping, Provider, Request, Sampling
from passband.generate.registry import Connection, make_provider

Seeds = tuple[int | None, ...]


class Subject(Backend, ABC):
    """The thing that is evaluated: a model, an agent, a function."""

    name: str  # that its trials are recorded under
    is_costly: bool = False  # whether a trial is in flight until it is on disk, for a kill to spare

    @abstractmethod
    async def answer(
        self, problem: Problem, sampling: Sampling, seeds: Seeds, trials: Sequence[int]
    ) -> Sequence[Completion]:
        """Make one attempt at these trials, each with its seed; `batch` is the most of them.

        Returns their completions in order, perhaps fewer than there are trials.
        """


class ProviderSubject(Subject):
    """A provider that is sent each problem's messages."""

    def __init__(self, provider: Provider, name: str | None = None) -> None:
        self.provider = provider
        self.name = name or provider.name or type(provider).__name__
        self.batch, self.address = provider.batch, provider.address
        self.one_seed = provider.one_seed

    @cached_property
    def spec(self) -> JsonMapping:
        """Return what answers depend on beyond the model's name, such as weights."""
        return self.provider.spec

    @property
    def config(self) -> JsonMapping:
        """Return settings of its requests that the provider has changed."""
        return self.provider.config

    @property
    def notes(self) -> Sequence[str]:
        """Return what the user should know about its requests so far."""
        return self.provider.notes

    def ignored(self, sampling: Sampling, *, seeds: bool) -> Sequence[str]:
        """Return sentences on settings that are known to have no effect on this provider."""
        return self.provider.ignored(sampling, seeds=seeds)

    def answer(
        self, problem: Problem, sampling: Sampling, seeds: Seeds, trials: Sequence[int]
    ) -> Coroutine[Any, Any, Sequence[Completion]]:
        """Make one request."""
        return self.provider.generate(Request(problem.messages, sampling, seeds))

    async def reset(self) -> None:
        await self.provider.reset()

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
    backend = adapted(model)
    if isinstance(backend, Subject):
        return backend
    if isinstance(backend, Provider):
        return ProviderSubject(backend, backend.name or type(model).__name__)
    from passband.generate.function import Function

    function = cast("Callable[..., Any]", model)
    provider = Function(function, timeout=connection.timeout, threads=connection.concurrency)
    return ProviderSubject(provider, _function_name(function))


def adapted(model: Model) -> Model:
    """Return an object with `answer` or `generate` as a `Subject` or `Provider`; others as is."""
    if isinstance(model, (str, Backend)):
        return model
    if hasattr(model, "answer"):
        return _AdaptedSubject(model)
    return adapted_provider(model) if hasattr(model, "generate") else model


class _AdaptedSubject(Adapted, Subject):
    """An object with `answer` whose class does not derive from `Subject`."""

    def __init__(self, subject: Any) -> None:
        super().__init__(subject)
        if not self.name:
            raise InvalidInput(
                f"{type(subject).__name__} has no name, which its trials are recorded under: give "
                "it an attribute `name`."
            )
        self.is_costly = self._attribute("is_costly", False)

    async def answer(
        self, problem: Problem, sampling: Sampling, seeds: Seeds, trials: Sequence[int]
    ) -> Sequence[Completion]:
        completions: Sequence[Completion] = await self.wrapped.answer(
            problem, sampling, seeds, trials
        )
        return completions


def _function_name(function: Callable[..., Any]) -> str:
    """Return `python:module:function`; a bound or built-in function may lack either."""
    kind = type(function)
    module = getattr(function, "__module__", None) or kind.__module__
    return f"python:{module}:{getattr(function, '__qualname__', kind.__name__)}"
