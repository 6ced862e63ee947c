"""Answers that are kept for the engine that takes over."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from passband.generate.inspect.guard import KeptAnswers
from passband.generate.provider import Completion, Message, Provider, Request, Sampling

ASKED = Request((Message("user", "2+2"),), Sampling(), (7,))


class Fresh(Provider):
    batch = 1

    async def generate(self, request: Request) -> Sequence[Completion]:
        return [Completion("fresh")]

    async def close(self) -> None:
        """Nothing to close."""


def texts(provider: Fresh, *requests: Request) -> list[str | None]:
    async def ask() -> list[str | None]:
        return [(await provider.generate(request))[0].text for request in requests]

    return asyncio.run(ask())


def test_each_answer_is_given_once_in_order() -> None:
    replay, provider = KeptAnswers(), Fresh()
    replay.keep(ASKED, Completion("first"))
    replay.keep(ASKED, Completion("second"))
    replay.before(provider)
    assert texts(provider, ASKED, ASKED, ASKED) == ["first", "second", "fresh"]


def test_an_answer_belongs_to_its_messages_and_its_seed() -> None:
    replay, provider = KeptAnswers(), Fresh()
    replay.keep(ASKED, Completion("kept"))
    replay.before(provider)
    others = [
        ASKED._replace(seeds=(8,)),
        ASKED._replace(messages=(Message("user", "2+3"),)),
        ASKED._replace(messages=tuple(ASKED.messages)),
    ]
    assert texts(provider, *others) == ["fresh", "fresh", "kept"]


def test_what_is_kept_later_is_given_too() -> None:
    replay, provider = KeptAnswers(), Fresh()
    replay.before(provider)
    replay.keep(ASKED, Completion("kept"))
    assert texts(provider, ASKED) == ["kept"]
