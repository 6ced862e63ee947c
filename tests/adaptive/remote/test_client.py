"""The client of the Trismik protocol, against a server on loopback."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from aiohttp import web

from passband.adaptive.remote import RemoteError, TrismikClient, create_trismik_async_client
from passband.adaptive.remote.records import Item
from passband.adaptive.remote.service import (
    NotAccepted,
    NotFound,
    OtherProtocol,
    Refused,
    TooManyRequests,
    Unreachable,
    WrongKey,
)
from passband.errors import InvalidInput, UnknownName, WrongType
from passband.system.event_loop import complete
from support.servers.trismik_server import TrismikServer, refused

KEY = "a-key-of-the-test"
Job = Callable[[TrismikClient], Any]


@pytest.fixture
def server() -> Iterator[TrismikServer]:
    with TrismikServer({"x:adaptive": ["validation", "test"], "open:adaptive": ["test"]}) as made:
        yield made


def with_client(server: TrismikServer, job: Job, url: str | None = None, **options: Any) -> Any:
    """Return what a job gets from the server; it is never waited between attempts."""

    async def main() -> Any:
        settings = {"api_key": KEY, "pause": 0.0, **options}
        async with TrismikClient(url or server.url, **settings) as client:
            return await job(client)

    return complete(main())


def always_b(item: Item) -> str:
    return "B" if item.choices else "42"


def test_every_request_of_the_protocol(server: TrismikServer) -> None:
    async def job(client: TrismikClient) -> None:
        assert [info.id for info in await client.list_datasets()] == ["x:adaptive", "open:adaptive"]
        assert (await client.get_dataset_info("x:adaptive")).splits == ("validation", "test")
        reply = await client.start_run("x:adaptive", "test", "p", "e", seed=3)
        item = reply.next_item
        assert item is not None
        reply = await client.continue_run(reply.run_info.id, "B", item=item)
        assert reply.state.responses == (item.id,)
        summary = await client.run_summary(reply.run_info.id)
        assert [one.correct for one in summary.responses] == [True]
        replay = await client.submit_replay(summary.id, [{"itemId": item.id, "itemChoiceId": "A"}])
        assert replay.replay_of_run == summary.id
        assert replay.state.thetas[-1] < summary.state.thetas[-1]
        assert (await client.me()).user.email == "a@b.org"
        assert (await client.create_project("mine", description="d")).name == "mine"
        item_row = {"datasetItemId": "0", "modelOutput": "A", "metrics": {"accuracy": 1.0}}
        uploaded = await client.submit_classic_eval(
            project_id="p", experiment="e", dataset_id="q", model_name="m",
            items=[item_row], metrics={"accuracy": 1.0},
        )  # fmt: skip
        assert uploaded.response_count == 1

    with_client(server, job)
    start = server.bodies[0]
    assert start["datasetId"] == "x:adaptive"
    assert start["split"] == "test"
    assert start["seed"] == 3
    assert start["metadata"]["model_metadata"] == {"name": "unknown"}


@pytest.mark.parametrize("prefix", ["", "/", "/adaptive-testing", "/adaptive-testing/"])
def test_the_prefix_is_joined_as_scorebook_joins_it(server: TrismikServer, prefix: str) -> None:
    async def job(client: TrismikClient) -> Any:
        await client.get_dataset_info("x:adaptive")
        await client.me()

    with_client(server, job, server.url + prefix)
    base = prefix.rstrip("/")
    paths = [path for _, path, _ in server.requests]
    assert paths == [f"{base}/adaptive-testing/datasets/get-dataset", f"{base}/admin/api-keys/me"]


@pytest.mark.parametrize("test_id", ["x:adaptive", "open:adaptive"])
def test_a_test_from_start_to_end(server: TrismikServer, test_id: str) -> None:
    steps: list[str] = []

    async def job(client: TrismikClient) -> Any:
        return await client.run(
            test_id=test_id, split="test", project_id="p", experiment="e",
            run_metadata={"model_metadata": {"name": "mine"}}, item_processor=always_b,
            return_dict=False, seed=1, on_step=lambda item, answer, state: steps.append(item.id),
        )  # fmt: skip

    results = with_client(server, job)
    assert list(results.responses) == steps
    assert len(steps) == 6
    assert results.score.theta == results.state.thetas[-1] > 0.5
    assert 0 < results.score.std_error < 1
    assert server.bodies[0]["metadata"]["model_metadata"] == {"name": "mine"}


def test_an_async_processor_and_plain_results(server: TrismikServer) -> None:
    async def wrong(item: Item) -> str:
        await asyncio.sleep(0)
        return "A"

    async def job(client: TrismikClient) -> Any:
        return await client.run("x:adaptive", "test", item_processor=wrong, return_dict=True)

    results = with_client(server, job)
    assert results["score"]["theta"] < -0.5
    assert results["state"]["thetas"][-1] == results["score"]["theta"]


def test_the_same_seed_gives_the_same_path(server: TrismikServer) -> None:
    async def job(client: TrismikClient) -> Any:
        runs = [
            await client.run("x:adaptive", "test", item_processor=always_b, seed=seed)
            for seed in (5, 5, 6)
        ]
        return [run.responses for run in runs]

    first, second, other = with_client(server, job)
    assert first == second != other


def ask(server: TrismikServer, **options: Any) -> Any:
    return with_client(server, lambda client: client.get_dataset_info("x:adaptive"), **options)


def run_once(server: TrismikServer, processor: Any = always_b, **options: Any) -> Any:
    async def job(client: TrismikClient) -> Any:
        return await client.run("x:adaptive", "test", item_processor=processor)

    return with_client(server, job, **options)


def test_a_server_that_is_down() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(Unreachable, match="cannot be reached"):
        complete(_info(url))


async def _info(url: str) -> Any:
    async with TrismikClient(url, KEY, pause=0.0) as client:
        return await client.get_dataset_info("x:adaptive")


def test_a_server_that_is_slow() -> None:
    async def hang(request: web.Request) -> web.StreamResponse:
        await asyncio.Event().wait()
        raise AssertionError

    with (
        TrismikServer(fault=lambda request, number: hang(request)) as server,  # type: ignore[arg-type,return-value]
        pytest.raises(Unreachable, match=r"has not answered within 0\.05 s"),
    ):
        ask(server, timeout=0.05)


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ("{}", "id (field required); splits"),
        ('{"id": "x"}', "splits (field required)"),
        ('{"id": "x", "splits": "test"}', "splits (input should be a valid"),
        ('{"id": "x", "splits": [1]}', "splits.0"),
        ("[]", "does not allow"),
        ("<html>", "it is not JSON"),
        ("", "it is not JSON"),
        ("null", "does not allow"),
    ],
)
def test_a_server_of_another_protocol(body: str, named: str) -> None:
    def fault(request: web.Request, number: int) -> web.Response:
        return web.Response(text=body)

    with TrismikServer(fault=fault) as server, pytest.raises(OtherProtocol) as caught:
        ask(server)
    assert named in str(caught.value)
    assert "TRISMIK_SERVICE_URL" in str(caught.value)


@pytest.mark.parametrize(
    "reply",
    [
        {"runInfo": {}, "state": {}, "nextItem": None, "completed": True},
        {"runInfo": {"id": "r"}, "state": {"thetas": [None]}, "completed": True},
        {"runInfo": {"id": "r"}, "state": {}, "completed": "yes"},
        {"runInfo": {"id": "r"}, "state": {}, "nextItem": {"id": "i"}, "completed": False},
        {"runInfo": {"id": "r"}, "state": {}, "nextItem": None, "completed": True},
        {"runInfo": {"id": "r"}, "state": {"thetas": [1.0]}, "completed": True},
    ],
)
def test_a_start_of_another_protocol(reply: dict[str, Any]) -> None:
    def fault(request: web.Request, number: int) -> web.Response:
        return web.json_response(reply)

    with TrismikServer(fault=fault) as server, pytest.raises(OtherProtocol):
        run_once(server)


def test_a_theta_that_is_no_number() -> None:
    def fault(request: web.Request, number: int) -> web.Response:
        text = '{"runInfo":{"id":"r"},"state":{"thetas":[NaN]},"nextItem":null,"completed":true}'
        return web.Response(text=text)

    with TrismikServer(fault=fault) as server, pytest.raises(OtherProtocol, match=r"thetas\.0"):
        run_once(server)


@pytest.mark.parametrize(
    ("status", "kind"),
    [(404, NotFound), (422, NotAccepted), (413, Refused), (400, Refused), (500, Refused)],
)
def test_errors_of_the_server(status: int, kind: type[Refused]) -> None:
    def fault(request: web.Request, number: int) -> web.Response:
        return refused(status, "A title", "what is wrong.")

    with TrismikServer(fault=fault) as server, pytest.raises(kind) as caught:
        ask(server)
    assert caught.value.status == status
    assert f"HTTP {status}: A title: what is wrong." in str(caught.value)


def test_a_rate_limit_is_waited_for() -> None:
    def fault(request: web.Request, number: int) -> web.Response | None:
        wait = {"Retry-After": "0"}
        return refused(429, "Slow down", "too many", **wait) if number in (2, 4) else None

    with TrismikServer({"x:adaptive": ["test"]}, fault=fault) as server:
        run_once(server)
        assert [len(run.answers) for run in server.runs.values()] == [6]


def test_a_rate_limit_without_end() -> None:
    def fault(request: web.Request, number: int) -> web.Response:
        return refused(429, "Slow down", "too many", **{"Retry-After": "86400"})

    with TrismikServer(fault=fault) as server, pytest.raises(TooManyRequests) as caught:
        ask(server)
    assert caught.value.wait == 86400


def breaks_connections(request: web.Request, number: int) -> None:
    """Close the connection before every third request is answered, but let it be counted."""
    if number % 3 == 0 and request.transport is not None:
        request.transport.close()


def test_answers_are_sent_again_to_a_server_that_knows_them() -> None:
    with TrismikServer({"x:adaptive": ["test"]}, fault=breaks_connections) as server:
        results = run_once(server)
        (run,) = server.runs.values()
    assert len(run.answers) == 6
    assert results.responses == tuple(run.order)
    assert len(server.requests) > 7


def test_answers_are_not_sent_again_to_a_server_that_does_not() -> None:
    with (
        TrismikServer({"x:adaptive": ["test"]}, fault=breaks_connections, echoes=False) as server,
        pytest.raises(Unreachable),
    ):
        run_once(server)
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("answer", "kind", "named"),
    [
        ("E", UnknownName, "no choice 'E'. Its choices are A, B, C, D."),
        ("b", UnknownName, "no choice 'b'. Did you mean 'B'?"),
        (None, WrongType, "got nothing"),
        (1, WrongType, "got int"),
    ],
)
def test_an_answer_that_the_item_does_not_offer(
    server: TrismikServer, answer: Any, kind: type[Exception], named: str
) -> None:
    with pytest.raises(kind) as caught:
        run_once(server, lambda item: answer)
    assert named in str(caught.value)
    (run,) = server.runs.values()
    assert run.answers == []


def test_the_key_is_in_no_error(server: TrismikServer) -> None:
    secret = "another-key/with-a-slash"
    with pytest.raises(WrongKey, match="Check TRISMIK_API_KEY") as caught:
        ask(server, api_key=secret)
    assert secret not in str(caught.value)
    assert "[redacted]" in str(caught.value)


def test_settings_come_from_the_environment(
    server: TrismikServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRISMIK_SERVICE_URL", server.url)
    monkeypatch.setenv("TRISMIK_API_KEY", KEY)

    async def job() -> Any:
        async with create_trismik_async_client() as client:
            return await client.get_dataset_info("x:adaptive")

    assert complete(job()).splits == ("validation", "test")


def test_what_is_refused_before_any_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRISMIK_API_KEY", raising=False)
    monkeypatch.delenv("TRISMIK_SERVICE_URL", raising=False)
    with pytest.raises(InvalidInput, match=r"TRISMIK_API_KEY is not set; https://api\.trismik"):
        TrismikClient()
    with pytest.raises(InvalidInput, match="line break"):
        TrismikClient(api_key="a\nb")
    for url in ("localhost:80", "ftp://x", "http://u:p@x", "http://x?key=1"):
        with pytest.raises(InvalidInput, match="TRISMIK_SERVICE_URL"):
            TrismikClient(url, "k")


def test_a_request_that_is_no_json(server: TrismikServer) -> None:
    async def job(client: TrismikClient) -> Any:
        return await client.start_run("x:adaptive", "test", metadata={"a": float("nan")})

    with pytest.raises(InvalidInput, match="cannot be written as JSON"):
        with_client(server, job)
    assert issubclass(Unreachable, RemoteError)


def test_a_test_needs_a_processor(server: TrismikServer) -> None:
    with pytest.raises(InvalidInput, match="item_processor"):
        run_once(server, None)
