"""Models at several addresses: told apart by the lists of the servers, or refused."""

import pytest

from passband.errors import InvalidInput
from passband.run.study.build import assign_addresses

ONE, TWO = "http://one:8000/v1", "http://two:8000/v1"


def refused(models: list[str], lists: dict[str, tuple[str, ...] | None]) -> str:
    with pytest.raises(InvalidInput) as error:
        assign_addresses(models, [*lists], lists.get)
    return str(error.value)


def unasked(url: str) -> None:
    raise AssertionError("no list is needed")


@pytest.mark.parametrize(
    ("models", "urls", "expected"),
    [
        (["openai:a"], [ONE, TWO], {"openai:a": (ONE, TWO)}),
        (["openai:a", "openai:b"], [ONE], {"openai:a": (ONE,), "openai:b": (ONE,)}),
        (["openai:a", "openai:b"], [], {"openai:a": (), "openai:b": ()}),
        (["openai:a", "tiny"], [ONE, TWO], {"openai:a": (ONE, TWO), "tiny": ()}),
    ],
)
def test_what_needs_no_list(
    models: list[str], urls: list[str], expected: dict[str, tuple[str, ...]]
) -> None:
    assert assign_addresses(models, urls, unasked) == expected


def test_each_model_goes_where_it_is_served() -> None:
    lists = {ONE: ("a", "c"), TWO: ("b", "a")}
    found = assign_addresses(["openai:a", "openai-completions:b", "c"], [*lists], lists.get)
    assert found == {"openai:a": (ONE, TWO), "openai-completions:b": (TWO,), "c": (ONE,)}


def test_what_cannot_be_told_is_refused() -> None:
    both = ["openai:small", "openai:large"]
    said = refused(both, {ONE: ("small",), TWO: None})
    assert f"{TWO} gives no list of its models" in said
    assert "study file" in said
    said = refused(both, {ONE: ("small",), TWO: ("lagre",)})
    assert "--model openai:large: no address serves it. Did you mean 'lagre'?" in said
    assert f"{ONE} has small. {TWO} has lagre." in said
    said = refused(["openai:a", "anthropic:b"], {ONE: ("a",)})
    assert "openai:a and anthropic:b are asked in different ways, and with different keys" in said
    said = refused(["anthropic:a", "anthropic:b"], {ONE: ("a",), TWO: ("b",)})
    assert "which of several addresses is its own cannot be told" in said
    said = refused(both, {ONE: ("small", "large"), TWO: ("other",)})
    assert f"--base-url {TWO} serves none of the models that are asked" in said
