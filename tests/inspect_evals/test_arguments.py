"""`key=value` words, and what is refused among them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pytest

from passband.errors import InvalidInput, UnknownName
from passband.inspect_evals.arguments import parse_arguments


@dataclass(frozen=True, kw_only=True)
class Options:
    tasks: str | Sequence[str]
    limit: int | None = None
    temperature: float = 1.0
    bootstrap_stderr: bool = True
    metadata: Mapping[str, str] | None = None


def parse(*words: str) -> Options:
    return parse_arguments(Options, ["tasks=t", *words])


def test_the_first_equals_sign_splits() -> None:
    assert parse("tasks=file.py@t=1").tasks == "file.py@t=1"


def test_the_last_of_equal_keys_holds() -> None:
    assert parse("limit=3", "limit=5").limit == 5


@pytest.mark.parametrize("word", ["True", "true", "1"])
def test_true(word: str) -> None:
    assert parse(f"bootstrap_stderr={word}").bootstrap_stderr is True


@pytest.mark.parametrize("word", ["False", "false", "0"])
def test_false(word: str) -> None:
    assert parse(f"bootstrap_stderr={word}").bootstrap_stderr is False


def test_none_is_nothing() -> None:
    assert parse("limit=3", "limit=None").limit is None
    with pytest.raises(InvalidInput, match="temperature must have a value"):
        parse("temperature=None")


def test_parts_of_a_mapping() -> None:
    assert parse("metadata.step=100", "metadata.run=a=b").metadata == {"step": "100", "run": "a=b"}


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("limit=1.5", "limit must be a whole number; got '1.5'"),
        ("bootstrap_stderr=no", "must be True or False; got 'no'"),
        ("temperature=hot", "must be a number"),
        ("metadata=x", "give metadata.KEY=VALUE"),
        ("limit.x=1", "limit has no parts"),
        ("--limit=3", "take no dashes; write limit=3"),
        ("limit", "form key=value; got 'limit'"),
    ],
)
def test_what_does_not_fit_is_refused(word: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        parse(word)


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'limit'"):
        parse("limt=3")


def test_a_required_option_is_missed() -> None:
    with pytest.raises(InvalidInput, match="tasks is required"):
        parse_arguments(Options, ["limit=3"])
