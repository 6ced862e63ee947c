"""Answers that were drawn before a task was handed back, for the engine that takes over.

Were they drawn anew, a task that is handed back because of what an answer is like would get another
answer in its place: recorded trials would be a selection, not the model's.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress

from passband.generate.provider import Completion, Message, Provider, Request

Key = tuple[tuple[Message, ...], tuple[int | None, ...]]


class Replay:
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
        """Let a provider give out what is kept before it draws anything."""
        inner = provider.generate

        async def generate(request: Request) -> Sequence[Completion]:
            kept = self.take(request)
            return await inner(request) if kept is None else [kept]

        with suppress(AttributeError):  # a provider with slots draws again
            provider.generate = generate  # type: ignore[method-assign]
