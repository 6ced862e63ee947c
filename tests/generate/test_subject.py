"""Subjects: providers, functions and one's own, and what they bring along."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from passband.generate.problem import Problem
from passband.generate.provider import Completion, Message, Provider, Request, Sampling
from passband.generate.registry import Connection
from passband.generate.subject import ProviderSubject, make_subject
from passband.score.scorer import Reference

PROBLEM = Problem("p", (Message("user", "2 + 2"),), Reference(("4",)))


class Echo(Provider):
    batch = 3

    async def generate(self, request: Request) -> Sequence[Completion]:
        return [Completion(f"{request.messages[0].content} {seed}") for seed in request.seeds]

    async def close(self) -> None:
        pass


def answer(subject: Any, seeds: tuple[int | None, ...] = (7,)) -> list[str | None]:
    completions = asyncio.run(subject.answer(PROBLEM, Sampling(), seeds, range(len(seeds))))
    return [completion.text for completion in completions]


def test_a_provider_is_sent_the_messages_of_a_problem() -> None:
    subject = make_subject(Echo())
    assert (subject.name, subject.batch) == ("Echo", 3)
    assert answer(subject, (1, None)) == ["2 + 2 1", "2 + 2 None"]


def test_a_function_is_a_subject() -> None:
    def doubled(prompt: str, seed: int) -> str:
        return f"{prompt} {2 * seed}"

    subject = make_subject(doubled)
    assert subject.name.startswith("python:")
    assert subject.name.endswith("doubled")
    assert answer(subject) == ["2 + 2 14"]


def test_a_subject_is_taken_as_it_is() -> None:
    subject = ProviderSubject(Echo(), "mine")
    assert make_subject(subject) is subject


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("http://Host:8000/v1/", "http://host:8000/v1"),
        ("https://host/a/b?key=secret#part", "https://host/a/b"),
        ("HTTP://HOST:80/v1", "http://host/v1"),
        ("https://host:443/", "https://host"),
        ("http://[::1]:80/v1", "http://[::1]/v1"),
        ("http://host:443/v1", "http://host:443/v1"),
    ],
)
def test_the_address_of_a_server_holds_nothing_secret(url: str, address: str) -> None:
    subject: Any = make_subject("openai:m", Connection(url))
    assert subject.name == "openai:m"
    assert subject.address == address


@pytest.mark.parametrize("model", ["tiny", "python:json:dumps", Echo()])
def test_a_model_in_this_process_has_no_address(model: Any) -> None:
    subject: Any = make_subject(model)
    assert subject.address is None
    asyncio.run(subject.reset())  # nothing to drop
