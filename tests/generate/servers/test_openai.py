"""A server over HTTP: one attempt, whatever happens on the way."""

import asyncio
import base64
import gzip
import json
import socket
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

import pytest

from passband.errors import InvalidInput
from passband.generate.provider import (
    Completion,
    Hopeless,
    InvalidReply,
    Message,
    ProviderFault,
    RateLimited,
    Rejected,
    Request,
    Sampling,
    TimedOut,
    TooLong,
    Unavailable,
    Unfinished,
)
from passband.generate.servers import client
from passband.generate.servers.openai import OpenAIServer
from support.servers import fault_server as faults
from support.servers.fault_server import (
    Behaviour,
    Exchange,
    FaultServer,
    Script,
    behaviour,
    completion,
)

KEY = "sk-test/with+odd=signs"
ASKED = Request((Message("user", "What is 17 + 25?"),), Sampling(), (5,))


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", f" {KEY}\n")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


async def ask(url: str, asked: Request = ASKED, **options: Any) -> Sequence[Completion]:
    model = OpenAIServer("m", base_url=url, **options)
    try:
        return await model.generate(asked)
    finally:
        await model.close()


def answer(script: Script, asked: Request = ASKED, **options: Any) -> Sequence[Completion]:
    with FaultServer(script) as server:
        return asyncio.run(ask(server.url, asked, **options))


def fault(script: Script, **options: Any) -> ProviderFault:
    with pytest.raises(ProviderFault) as caught:
        answer(script, **options)
    return caught.value


# --- what is sent ----------------------------------------------------------------------------


def test_a_request_carries_the_key_and_the_settings() -> None:
    with FaultServer() as server:
        (found,) = asyncio.run(ask(server.url))
    (request,) = server.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body["model"] == "m"
    assert found.seed == request.body["seed"] == 5
    assert "The answer is" in (found.text or "")


def test_without_a_key_none_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with FaultServer() as server:
        asyncio.run(ask(server.url))
    assert "authorization" not in server.requests[0].headers


def test_plain_completions_have_a_path_of_their_own() -> None:
    with FaultServer() as server:
        asyncio.run(ask(server.url + "/", chat=False))
    assert server.requests[0].path == "/v1/completions"
    assert server.requests[0].body["prompt"] == "What is 17 + 25?"


@pytest.mark.parametrize("key", ["sk-a\nb", "sk-a\rb", "sk-a\x7fb"])
def test_a_key_that_cannot_be_sent_is_refused(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(InvalidInput, match="OPENAI_API_KEY") as caught:
        OpenAIServer("m", base_url="http://127.0.0.1:1/v1")
    assert "sk-" not in str(caught.value)


# --- what comes back -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "script",
    [faults.ok, faults.chunked, faults.labelled(None), faults.labelled("text/plain"),
     faults.missing_usage, faults.reasoning],
    ids=str,
)  # fmt: skip
def test_good_replies(script: Behaviour) -> None:
    (found,) = answer(script)
    assert "The answer is" in (found.text or "")


def test_hostile_text_comes_exactly() -> None:
    assert answer(faults.hostile_text)[0].text == faults.HOSTILE


def test_several_completions_and_fewer() -> None:
    asked = Request(ASKED.messages, Sampling(), (1, 2, 3))
    assert len({each.text for each in answer(faults.ok, asked)}) == 3
    assert len(answer(faults.short_n, asked)) == 1


@behaviour
async def zipped(exchange: Exchange) -> None:
    data = gzip.compress(faults.encoded(completion(exchange.request, ["zipped 42"])))
    await exchange.reply(200, data, content_encoding="gzip")


@behaviour
async def badly_zipped(exchange: Exchange) -> None:
    await exchange.reply(200, b"this is not gzip", content_encoding="gzip")


def bomb(size: int) -> Behaviour:
    """A few bytes that become many."""

    async def play(exchange: Exchange) -> None:
        await exchange.reply(200, gzip.compress(b" " * size), content_encoding="gzip")

    return Behaviour("bomb", play)


def test_compressed_replies() -> None:
    assert answer(zipped)[0].text == "zipped 42"
    assert type(fault(badly_zipped)) is Unavailable


def test_ten_million_characters_are_read() -> None:
    assert len(answer(faults.huge)[0].text or "") == 10_000_000


@pytest.mark.parametrize("script", [faults.huge_over_cap, bomb(40_000_000)], ids=str)
def test_more_than_any_answer_is_not_read_to_the_end(script: Behaviour) -> None:
    found = fault(script)
    assert type(found) is InvalidReply
    assert "longer than 32 MB" in found.detail


# --- what goes wrong -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "kind", "http"),
    [
        (faults.rate_limit("1"), RateLimited, 429),
        (faults.insufficient_quota, Hopeless, 429),
        (faults.unauthorized_401, Hopeless, 401),
        (faults.forbidden_403, Hopeless, 403),
        (faults.model_404, Hopeless, 404),
        (faults.bad_request_400, TooLong, 400),
        (faults.status(500), Unavailable, 500),
        (faults.status(503), Unavailable, 503),
        (faults.truncated_json, InvalidReply, 200),
        (faults.html_200, InvalidReply, 200),
        (faults.html_labelled_json, InvalidReply, 200),
        (faults.no_choices, InvalidReply, 200),
        (faults.error_in_200, InvalidReply, 200),
        (faults.no_reply, Unavailable, None),
        (faults.reset_mid_body, Unavailable, None),
        (faults.close_mid_body, Unavailable, None),
    ],
    ids=str,
)
def test_a_failure_is_a_fault(
    script: Behaviour, kind: type[ProviderFault], http: int | None
) -> None:
    with FaultServer(script) as server, pytest.raises(ProviderFault) as caught:
        asyncio.run(ask(server.url))
    assert type(caught.value) is kind
    assert caught.value.http == http
    assert caught.value.detail
    assert len(server.requests) == 1  # one attempt and no more


@pytest.mark.parametrize(
    ("served", "told"),
    [
        (["large", "small"], "The server has large, small."),
        (["n", *(f"other-{i}" for i in range(9))], ""),
        (["m"], ""),
    ],
)
def test_an_unknown_model_is_told_with_those_that_are_known(served: list[str], told: str) -> None:
    with FaultServer(faults.model_404) as server:
        server.models = faults.serving(*served)
        with pytest.raises(Hopeless) as caught:
            asyncio.run(ask(server.url))
    assert caught.value.http == 404
    assert caught.value.detail.endswith(told)
    assert ("The server has" in caught.value.detail) == bool(told)


def test_an_address_without_its_version_is_told() -> None:
    with FaultServer(faults.status(404)) as server:
        for url, is_told in ((server.url.removesuffix("/v1"), True), (server.url, False)):
            with pytest.raises(Hopeless) as caught:
                asyncio.run(ask(url))
            assert ("Most addresses end in /v1" in caught.value.detail) == is_told
        server.strays.clear()


@pytest.mark.parametrize(
    "script", [faults.hang, faults.hang_mid_body, faults.drip(every=0.02)], ids=str
)
def test_the_deadline_is_for_the_whole_answer(script: Behaviour) -> None:
    found = fault(script, timeout=0.2)
    assert type(found) is TimedOut
    assert "0.2 s" in found.detail


def test_a_redirect_is_not_followed() -> None:
    @behaviour
    async def elsewhere(exchange: Exchange) -> None:
        await exchange.reply(307, b"", location="http://127.0.0.1:1/v1/chat/completions")

    found = fault(elsewhere)
    assert type(found) is Rejected
    assert found.http == 307


def test_a_server_that_is_not_there_is_down_for_everyone() -> None:
    with closing(faults.bound(0)) as place:
        url = f"http://127.0.0.1:{place.getsockname()[1]}/v1"
        with pytest.raises(Unavailable) as caught:
            asyncio.run(ask(url))
    assert caught.value.everyone


def test_a_name_that_is_not_known_is_down_for_everyone() -> None:
    with pytest.raises(Unavailable) as caught:
        asyncio.run(ask("http://no-such-host.invalid/v1"))
    assert caught.value.everyone


@contextmanager
def full_backlog() -> Iterator[int]:
    """A port at which connections are neither taken nor refused."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        waiting = []
        for _ in range(4):
            line = socket.socket()
            line.setblocking(False)
            line.connect_ex(listener.getsockname())
            waiting.append(line)
        yield listener.getsockname()[1]
        for line in waiting:
            line.close()


def test_a_connection_that_does_not_come_about_is_no_slow_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(client, "_CONNECT", 0.1)
    with full_backlog() as port, pytest.raises(Unavailable) as caught:
        asyncio.run(ask(f"http://127.0.0.1:{port}/v1"))
    assert caught.value.everyone


# --- connections -----------------------------------------------------------------------------


def test_connections_are_kept_and_dropped_on_reset() -> None:
    async def talk(url: str) -> None:
        model = OpenAIServer("m", base_url=url)
        for _ in range(3):
            await model.generate(ASKED)
        await model.reset()
        await model.generate(ASKED)
        await model.close()
        await model.close()

    with FaultServer() as server:
        asyncio.run(talk(server.url))
    assert server.connections == 2


def test_who_asks_during_a_reset_is_answered() -> None:
    async def talk(server: FaultServer) -> list[Any]:
        model = OpenAIServer("m", base_url=server.url)
        waiting = [asyncio.ensure_future(model.generate(ASKED)) for _ in range(4)]
        await asyncio.to_thread(server.wait_for, 4)
        reset = asyncio.ensure_future(model.reset())
        asked = [asyncio.ensure_future(model.generate(ASKED)) for _ in range(4)]
        await reset
        asked += [asyncio.ensure_future(model.generate(ASKED)) for _ in range(4)]
        server.release()
        cut = await asyncio.gather(*waiting, return_exceptions=True)
        await asyncio.gather(*asked)
        await model.close()
        return cut

    with FaultServer(faults.held()) as server:
        cut = asyncio.run(talk(server))
    assert [type(error) for error in cut] == [Unavailable] * 4


# --- the key ---------------------------------------------------------------------------------


def echo(code: int, *, escaped: bool = False) -> Behaviour:
    """Say the key, where it can be said."""

    async def play(exchange: Exchange) -> None:
        said = exchange.request.headers["authorization"].removeprefix("Bearer ")
        body = faults.error(f"Wrong key: {said}") if code != 200 else None
        data = faults.encoded(body or completion(exchange.request, [f"The key is {said}."]))
        await exchange.reply(code, data.replace(b"/", b"\\/") if escaped else data)

    return Behaviour(f"echo {code}", play)


@pytest.mark.parametrize("escaped", [False, True])
@pytest.mark.parametrize("code", [401, 400, 429, 500, 302])
def test_the_key_is_taken_out_of_errors(code: int, escaped: bool) -> None:
    found = fault(echo(code, escaped=escaped))
    assert KEY not in found.detail
    assert "[redacted]" in found.detail


@pytest.mark.parametrize("escaped", [False, True])
def test_the_key_is_taken_out_of_completions(escaped: bool) -> None:
    assert answer(echo(200, escaped=escaped))[0].text == "The key is [redacted]."


PLACES = {
    "finish reason": {"message": {"content": "42"}, "finish_reason": "KEY"},
    "finish reason, nested": {"message": {"content": "42"}, "finish_reason": {"KEY": 1}},
    "answer without end": {"message": {"content": "KEY"}, "finish_reason": None},
    "name of an argument": {
        "message": {"tool_calls": [{"function": {"name": "f", "arguments": {"KEY": 1}}}]},
        "finish_reason": "tool_calls",
    },
    "base64": {"message": {"content": "BASE64"}, "finish_reason": "stop"},
}


@pytest.mark.parametrize("place", PLACES)
def test_a_key_in_escapes_is_redacted_wherever_it_is(place: str) -> None:
    raw = json.dumps({"choices": [PLACES[place]]})
    in_base64 = base64.b64encode(KEY.encode()).decode()
    for word, secret in (("KEY", KEY), ("BASE64", in_base64)):
        raw = raw.replace(word, "".join(f"\\u{ord(character):04x}" for character in secret))

    async def play(exchange: Exchange) -> None:
        await exchange.reply(200, raw.encode())

    try:
        found = repr(answer(Behaviour("echo", play)))
    except Unfinished as fault:
        found = repr(fault.completions)
    assert "[redacted]" in found
    assert KEY not in found
    assert in_base64 not in found


def test_the_key_is_in_no_representation() -> None:
    model = OpenAIServer("m", base_url="http://127.0.0.1:1/v1")
    assert KEY not in repr(model)
    assert KEY not in json.dumps(str(model))


def test_a_client_with_a_key_is_never_pickled(monkeypatch: pytest.MonkeyPatch) -> None:
    import copy
    import pickle

    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-of-this-machine")
    server = OpenAIServer("m", base_url="http://127.0.0.1:9/v1")
    for dump in (pickle.dumps, copy.deepcopy):
        with pytest.raises(TypeError, match="holds a key"):
            dump(server)
