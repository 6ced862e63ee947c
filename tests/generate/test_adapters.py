"""Providers and subjects whose classes do not derive from the base classes."""

import asyncio
from typing import Any

import pytest

from passband.errors import InvalidInput, WrongType
from passband.generate.adapters import adapted_provider
from passband.generate.problem import Problem
from passband.generate.provider import Completion, Message, Provider, Request, Sampling
from passband.generate.registry import Connection, make_provider, providers, register_provider
from passband.generate.subject import Subject, make_subject
from passband.score.scorer import Reference

PROBLEM = Problem("p", (Message("user", "2 + 2"),), Reference(("4",)))


class Parrot:
    def __init__(self, word: str = "4", connection: Connection | None = None) -> None:
        self.word = word

    async def generate(self, request: Request) -> list[Completion]:
        return [Completion(self.word)]


class Full(Parrot):
    name, batch, address, one_seed = "full", 3, "http://host/v1", True

    def __init__(self) -> None:
        super().__init__()
        self.spec = {"weights": 1}
        self.notes: list[str] = []
        self.config: Any = {"length_name": "max_tokens"}
        self.calls: list[str] = []

    def ignored(self, sampling: Sampling, *, seeds: bool) -> list[str]:
        return ["no seed"] * seeds

    async def reset(self) -> None:
        self.calls.append("reset")

    async def close(self) -> None:
        self.calls.append("close")


class Agent:
    name, batch, is_costly = "agent", 2, True

    async def answer(self, *arguments: Any) -> list[Completion]:
        return [Completion("4"), Completion("5")]


def test_what_a_provider_does_not_define_has_a_default() -> None:
    subject = make_subject(Parrot())  # type: ignore[arg-type]
    assert (subject.name, subject.batch, subject.address) == ("Parrot", 1, None)
    assert (subject.spec, subject.config, list(subject.notes)) == ({}, {}, [])
    assert not subject.one_seed
    assert not subject.is_costly
    assert list(subject.ignored(Sampling(), seeds=True)) == []
    (completion,) = asyncio.run(subject.answer(PROBLEM, Sampling(), (7,), (0,)))
    assert completion.text == "4"
    asyncio.run(subject.reset())
    asyncio.run(subject.close())


def test_what_a_provider_defines_is_used_also_where_it_changes_later() -> None:
    provider = Full()
    subject = make_subject(provider)  # type: ignore[arg-type]
    assert (subject.name, subject.batch, subject.address) == ("full", 3, "http://host/v1")
    assert (subject.spec, subject.one_seed) == ({"weights": 1}, True)
    assert subject.config == {"length_name": "max_tokens"}
    assert list(subject.ignored(Sampling(), seeds=True)) == ["no seed"]
    assert list(subject.notes) == []
    provider.notes.append("sent twice")
    provider.config = object()  # some clients have a config of another kind
    assert list(subject.notes) == ["sent twice"]
    assert subject.config == {}
    asyncio.run(subject.reset())
    asyncio.run(subject.close())
    assert provider.calls == ["reset", "close"]


def test_a_registered_class_need_not_derive_from_provider() -> None:
    register_provider("adapted-parrot")(Parrot)  # type: ignore[arg-type]
    try:
        provider = make_provider("adapted-parrot:5")
    finally:
        providers.remove("adapted-parrot")
    assert isinstance(provider, Provider)
    request = Request((Message("user", "?"),), Sampling())
    assert [one.text for one in asyncio.run(provider.generate(request))] == ["5"]
    assert asyncio.run(provider.served()) is None


def test_an_object_that_answers_problems_is_a_subject() -> None:
    subject = make_subject(Agent())  # type: ignore[arg-type]
    assert isinstance(subject, Subject)
    assert (subject.name, subject.batch, subject.is_costly) == ("agent", 2, True)
    answers = asyncio.run(subject.answer(PROBLEM, Sampling(), (1, 2), (0, 1)))
    assert [one.text for one in answers] == ["4", "5"]


def test_a_subject_without_a_name_is_refused() -> None:
    class Nameless:
        async def answer(self, *arguments: Any) -> list[Completion]:
            return []

    with pytest.raises(InvalidInput, match="Nameless has no name"):
        make_subject(Nameless())  # type: ignore[arg-type]


def test_an_object_that_generates_nothing_is_no_provider() -> None:
    with pytest.raises(WrongType, match=r"int is no provider: it has no method `generate`"):
        adapted_provider(3)
