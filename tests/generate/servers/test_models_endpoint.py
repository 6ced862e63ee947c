"""What a server says that it serves."""

import asyncio
import json

import pytest

from passband.errors import InvalidInput
from passband.generate.servers.models_endpoint import ServedModel, served_models
from passband.generate.servers.openai import OpenAIServer
from support.servers.fault_server import FaultServer, Json, serving


def test_the_names_of_a_list() -> None:
    with FaultServer() as server:
        server.models = serving("policy", "critic")
        assert served_models(server.url) == ("policy", "critic")


def test_inside_an_event_loop_too() -> None:
    async def ask(url: str) -> tuple[str, ...] | None:
        return served_models(url)

    with FaultServer() as server:
        server.models = serving("policy")
        assert asyncio.run(ask(server.url)) == ("policy",)


@pytest.mark.parametrize(
    "reply",
    [
        b"<html>",
        b"\xff\xfe",
        b"[" * 100_000,
        b"[]",
        b"{}",
        b'{"data": null}',
        b'{"data": []}',
        b'{"data": [3, {"id": 5}]}',
    ],
    ids=["html", "bytes", "nested", "list", "object", "null", "empty", "numbers"],
)
def test_what_is_no_list_is_unknown(reply: bytes) -> None:
    with FaultServer() as server:
        server.models = reply
        assert served_models(server.url) is None


def test_a_server_without_a_list_is_unknown() -> None:
    with FaultServer() as server:
        assert served_models(server.url) is None
        assert server.strays == ["GET /v1/models: no such path"]
    assert served_models(server.url) is None  # nobody listens any more


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://host/v1", "http://"])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput, match="must be an address"):
        served_models(url)


def test_the_client_of_requests_asks_with_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    async def ask(url: str) -> object:
        client = OpenAIServer("policy", base_url=url)
        try:
            return await client.served()
        finally:
            await client.close()

    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-test")
    entry: Json = {"id": "policy", "root": "/checkpoints/100"}
    with FaultServer() as server:
        server.models = json.dumps({"data": [entry]}).encode()
        assert asyncio.run(ask(server.url)) == (ServedModel("policy", "/checkpoints/100"),)
