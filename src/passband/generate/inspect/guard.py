"""A guard around code that may need more than the light engine has: other models, sandboxes.

Inspect finds what belongs to a sample in context variables. While a guard is in place they hold
objects that fire when they are used, before any model is asked. A guard that has fired stays so:
a scorer that catches every exception cannot turn one into a score.

Answers drawn before a task is handed back are kept for the engine that takes over. Were they drawn
again, a task that is handed back because of what an answer is like would get another answer in its
place: recorded trials would be a selection, not the model's.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from typing import TYPE_CHECKING, Any, NoReturn

from passband.generate.provider import Completion, JsonObject, Message, Provider, Request

if TYPE_CHECKING:
    from inspect_ai.model import ModelUsage
    from inspect_ai.solver import TaskState

Key = tuple[tuple[Message, ...], tuple[int | None, ...]]


class KeptAnswers:
    """Completions by the messages and the seed that they answer, each to be given out once."""

    def __init__(self) -> None:
        self._kept: dict[Key, list[Completion]] = defaultdict(list)

    def keep(self, request: Request, completion: Completion) -> None:
        """Keep the answer to a request."""
        self._kept[request.messages, request.seeds].append(completion)

    def take(self, request: Request) -> Completion | None:
        """Return an answer to a request of the same messages and seed, and forget it."""
        kept = self._kept.get((request.messages, request.seeds))
        return kept.pop(0) if kept else None

    def before(self, provider: Provider) -> None:
        """Let a provider return kept answers before it draws new ones."""
        inner = provider.generate

        async def generate(request: Request) -> Sequence[Completion]:
            kept = self.take(request)
            return await inner(request) if kept is None else [kept]

        with suppress(AttributeError):  # a provider with slots draws again
            provider.generate = generate  # type: ignore[method-assign]


class HandedBack(Exception):
    """The light engine cannot do what a task wants; Inspect's own has to run it."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class TaskGuard:
    """Fires when a model or a sandbox is asked for, and remembers why.

    It takes the place of the limit of messages, which every model of Inspect checks before it
    generates, whether it was named or is the one that is evaluated.
    """

    def __init__(self) -> None:
        self.reason: str | None = None
        self.parent: Any = None  # Inspect keeps limits in a tree

    def fire(self, reason: str) -> NoReturn:
        """Remember the first reason, and raise."""
        self.reason = self.reason or reason
        raise HandedBack(self.reason)

    def check(self, count: int, raise_for_equal: bool) -> None:
        """Fire before a model generates; that a conversation grows is no matter."""
        if raise_for_equal:
            self.fire("a scorer asks a model")

    @contextmanager
    def in_place(self, state: TaskState, usage: Mapping[str, ModelUsage]) -> Iterator[None]:
        """Guard a sample's scorers, and let them find its state, store, usage and a transcript."""
        from inspect_ai.log._transcript import Transcript, _transcript
        from inspect_ai.model._model import (
            active_model_context_var,
            sample_model_usage_context_var,
        )
        from inspect_ai.solver._task_state import _sample_state
        from inspect_ai.util._limit import message_limit_tree
        from inspect_ai.util._sandbox.context import (
            sandbox_environments_context_var,
            sandbox_with_environments_context_var,
        )
        from inspect_ai.util._store import _subtask_store

        sandboxes = _Sandboxes(self)
        values = {
            active_model_context_var: _no_model(),
            message_limit_tree._leaf_node: self,
            sandbox_environments_context_var: sandboxes,
            sandbox_with_environments_context_var: sandboxes,
            sample_model_usage_context_var: dict(usage),
            _sample_state: state,
            _subtask_store: state.store,
            _transcript: Transcript(),
        }
        tokens = [(variable, variable.set(value)) for variable, value in values.items()]
        try:
            yield
        finally:
            for variable, token in reversed(tokens):
                variable.reset(token)
        if self.reason is not None:  # a scorer has caught it
            raise HandedBack(self.reason)


class _Sandboxes(JsonObject):
    """Fires when a sandbox is looked for."""

    def __init__(self, guard: TaskGuard) -> None:
        super().__init__()
        self._guard = guard

    def __bool__(self) -> bool:
        self._guard.fire("a scorer uses a sandbox")

    def get(self, *key: Any) -> Any:
        self._guard.fire("a scorer uses a sandbox")

    def values(self) -> Any:
        self._guard.fire("a scorer uses a sandbox")


@cache
def _no_model() -> Any:
    """Return the model that scorers get when they ask for the one that is evaluated."""
    from inspect_ai.model import GenerateConfig, Model, ModelAPI, modelapi

    @modelapi(name="passband-guard")
    class NoModel(ModelAPI):  # type: ignore[misc]  # the package is not followed
        async def generate(self, *arguments: Any, **options: Any) -> Any:
            raise HandedBack("a scorer asks a model")

    return Model(NoModel("guard"), GenerateConfig())
