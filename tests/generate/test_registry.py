"""Models by name."""

import pytest

from passband.errors import InvalidInput
from passband.generate.function import Function
from passband.generate.provider import Provider
from passband.generate.registry import Connection, make_provider, register_provider
from passband.generate.servers.openai import OpenAIServer

HERE = Connection("http://127.0.0.1:1/v1", batch=5)


@pytest.fixture(autouse=True)
def no_settings_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


@pytest.mark.parametrize("name", ["openai:gpt", "openai-completions:gpt", "gpt", "org/model:free"])
def test_models_of_a_server(name: str) -> None:
    model = make_provider(name, HERE)
    assert isinstance(model, OpenAIServer)
    assert model.batch == 5


def test_the_server_may_be_named_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    assert isinstance(make_provider("gpt"), OpenAIServer)


def test_a_function() -> None:
    assert isinstance(make_provider("python:json:dumps"), Function)


def test_a_provider_of_ones_own_gets_the_rest_of_the_name() -> None:
    got = []

    @register_provider("test-of-providers")
    def make(model: str, connection: Connection) -> Provider:
        got.append((model, connection))
        return OpenAIServer("m", base_url="http://127.0.0.1:1/v1")

    make_provider("test-of-providers:a:b", HERE)
    assert got == [("a:b", HERE)]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("openai:", "needs the name of a model"),
        ("gpt", "openai:NAME with --base-url"),
        ("opnai:gpt", "Did you mean 'openai'"),
        ("openai:gpt", "OPENAI_API_KEY is not set"),
        ("tiny:large", "takes no name after it"),
        ("python:json", "python:module:function"),
        ("", "openai:NAME"),
    ],
)
def test_names_that_say_nothing(name: str, told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        make_provider(name)


@pytest.mark.parametrize("url", ["localhost:8000/v1", "ftp://host/v1", "http:///v1", "/v1", "é"])
def test_addresses_that_are_none(url: str) -> None:
    with pytest.raises(InvalidInput, match="must be an address"):
        make_provider("gpt", Connection(url))


def test_a_password_in_an_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(InvalidInput) as caught:
        make_provider("gpt", Connection("https://me:hunter2@host/v1"))
    assert "hunter2" not in str(caught.value)
