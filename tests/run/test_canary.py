"""The key is sent, and found nowhere else: not on the screen, not in any file."""

import base64
import json
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.runs.commands import Done, run
from support.servers import fault_server as faults
from support.servers.fault_server import (
    Behaviour,
    Exchange,
    FaultServer,
    Script,
    behaviour,
    completion,
    error,
)

pytestmark = pytest.mark.process

FORMS = ("jsonl", "csv", "parquet")


@pytest.fixture
def canary(monkeypatch: pytest.MonkeyPatch) -> str:
    key = f"sk-canary-{secrets.token_hex(16)}"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    return key


def said(exchange: Exchange) -> str:
    return exchange.request.headers["authorization"].removeprefix("Bearer ")


@behaviour
async def completion_with_key(exchange: Exchange) -> None:
    """The key in all that is kept of an answer."""
    key = said(exchange)
    texts = [f"Your key is {key}. The answer is 42."] * exchange.request.n
    body = completion(exchange.request, texts, reasoning_content=f"I know {key}")
    await exchange.reply(200, body | {"id": f"chat-{key}"}, x_key=key)


def escaped(key: str) -> str:
    return "".join(f"\\u{ord(character):04x}" for character in key)


def written(exchange: Exchange) -> list[str]:
    """The key as servers and their libraries may write it."""
    key = said(exchange)
    encoded = base64.b64encode(f"Bearer {key}".encode()).decode()
    return [escaped(key), f"{escaped(key[:9])}{key[9:]}", encoded, key.encode().hex()]


@behaviour
async def completion_with_hidden_key(exchange: Exchange) -> None:
    """The key in JSON escapes and in base64, in all that is kept of an answer."""
    hidden = written(exchange)[exchange.request.number % 3]
    body = completion(exchange.request, ["It is KEY: 42."], reasoning_content="I know KEY")
    raw = json.dumps(body | {"id": "chat-KEY"}).replace("KEY", hidden)
    await exchange.reply(200, raw.encode())


@behaviour
async def error_with_hidden_key(exchange: Exchange) -> None:
    raw = json.dumps(error("Not with KEY!", "odd")).replace("KEY", " ".join(written(exchange)))
    await exchange.reply(400, raw.encode())


@behaviour
async def html_with_hidden_key(exchange: Exchange) -> None:
    await exchange.reply(200, f"<html>{' '.join(written(exchange))}</html>".encode())


@behaviour
async def error_in_200_with_key(exchange: Exchange) -> None:
    await exchange.reply(200, error(f"{said(exchange)} is overloaded"))


@behaviour
async def redirect_with_key(exchange: Exchange) -> None:
    place = f"http://127.0.0.1:1/?key={said(exchange)}"
    await exchange.reply(302, f"<a href='{place}'>".encode(), location=place)


@behaviour
async def html_with_key(exchange: Exchange) -> None:
    await exchange.reply(200, f"<html>{said(exchange)}</html>".encode())


@behaviour
async def broken_headers_with_key(exchange: Exchange) -> None:
    await exchange.write(f"HTTP/1.1 200 OK\r\nx {said(exchange)}: \0\r\n\r\n".encode())


def failing(code: int) -> Behaviour:
    async def play(exchange: Exchange) -> None:
        await exchange.reply(code, error(f"Not with {said(exchange)}!", "odd"))

    return Behaviour(f"failing {code}", play)


SCRIPTS: list[Script] = [
    faults.unauthorized_401,
    failing(400),
    failing(403),
    completion_with_key,
    redirect_with_key,
    completion_with_hidden_key,
    [faults.ok, error_with_hidden_key],
    [faults.ok, html_with_hidden_key],
    [faults.ok, failing(429)],
    [faults.ok, failing(500)],
    [faults.ok, error_in_200_with_key],
    [faults.ok, html_with_key],
    [faults.ok, broken_headers_with_key],
]


def outputs(done: Done, directory: Path) -> Iterator[tuple[str, bytes]]:
    yield "stdout", done.out.encode()
    yield "stderr", done.err.encode()
    for path in directory.rglob("*"):
        if path.is_file():
            yield str(path), path.read_bytes()


CASES = [(script, ["--json"] if at % 2 else []) for at, script in enumerate(SCRIPTS)]
CASES += [(SCRIPTS[0], ["--json"]), (completion_with_key, []), (completion_with_key, ["--quiet"])]


def described(script: Script) -> str:
    return "+".join(map(str, script)) if isinstance(script, list) else str(script)


@pytest.mark.parametrize(
    ("script", "form"), CASES, ids=[" ".join([described(s), *form]) for s, form in CASES]
)
def test_the_key_is_nowhere(
    tmp_path: Path, task_file: Path, canary: str, script: Script, form: list[str]
) -> None:
    directory = tmp_path / "run"
    with FaultServer(script) as server:
        words = ["--model", "openai:m", "--base-url", server.url, "--out", directory]
        done = run("run", task_file, *words, "--limit", 1, "-n", 2, "--batch", 1, *form)
    assert all(canary in request.headers["authorization"] for request in server.requests)
    exports = tmp_path / "exports"
    exports.mkdir()
    for kind in FORMS:
        made = run("export", directory, "--timing", "-o", exports / f"trials.{kind}")
        assert canary not in made.out + made.err
    found = [*outputs(done, directory), *outputs(done, exports)]
    assert sum(name.endswith("trials.sqlite") for name, _ in found) == 1
    assert [name for name, data in found if canary.encode() in data] == []
    assert [name for name, data in found if canary[3:].encode() in data] == []
    in_base64 = base64.b64encode(f"Bearer {canary}".encode())[12:40]
    for spelling in (escaped(canary)[6:].encode(), in_base64, canary.encode().hex().encode()):
        assert [name for name, data in found if spelling in data] == []


def test_the_key_is_not_in_the_log_of_a_run_that_is_under_way(
    tmp_path: Path, task_file: Path, canary: str
) -> None:
    directory, looked = tmp_path / "run", []

    def script(request: faults.Received) -> Behaviour:
        for path in directory.rglob("*"):  # also what is not yet in the main file
            looked.append(path.name)
            assert canary.encode() not in path.read_bytes()
        return completion_with_key

    with FaultServer(script) as server:
        words = ["--model", "openai:m", "--base-url", server.url, "--out", directory]
        assert run("run", task_file, *words, "--concurrency", 1).code == 0
    assert "trials.sqlite-wal" in looked
