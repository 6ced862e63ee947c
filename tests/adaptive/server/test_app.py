"""The server over HTTP: paths, keys, limits, and that no request makes it fail."""

import asyncio
import gzip
import io
import json
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientResponse
from aiohttp.test_utils import TestClient
from hypothesis import given
from hypothesis import strategies as st
from yarl import URL

from passband.adaptive.bank import Bank
from passband.adaptive.server.keys import Keys
from passband.adaptive.server.state import ServerState
from passband.system.event_loop import complete
from support.fuzz.properties import one_in
from support.servers.serving import client_of, make_service, sums

Json = dict[str, Any]
Main = Callable[[TestClient], Coroutine[Any, Any, Any]]
PREFIXES = ("", "/adaptive-testing")
START = {"datasetId": "sums:adaptive", "split": "test", "seed": 1}


@pytest.fixture(scope="module")
def banks(tmp_path_factory: pytest.TempPathFactory) -> list[Bank]:
    folder = tmp_path_factory.mktemp("banks")
    return [sums(folder), sums(folder, "texts", open_ended=True)]


def served(folder: Path, banks: list[Bank], main: Main, **options: Any) -> Any:
    """Return what a coroutine returns that is given a client."""

    async def run() -> Any:
        state = ServerState(folder, low_water=options.pop("low_water", 0))
        try:
            async with client_of(make_service(state, *banks), **options) as client:
                return await main(client)
        finally:
            await state.close()

    return complete(run())


async def checked(response: ClientResponse, status: int) -> Json:
    body: Json = await response.json()
    assert response.status == status, body
    if status >= 400:
        assert body.keys() == {"title", "detail", "status"}
        assert body["status"] == status
    return body


@pytest.mark.parametrize("prefix", PREFIXES)
def test_every_endpoint_is_under_both_prefixes(
    tmp_path: Path, banks: list[Bank], prefix: str
) -> None:
    async def main(client: TestClient) -> None:
        base = prefix + "/adaptive-testing"
        listed = await checked(await client.get(f"{base}/datasets"), 200)
        assert [entry["id"] for entry in listed["data"]] == ["sums:adaptive", "texts:adaptive"]
        asked = client.post(f"{base}/datasets/get-dataset", json={"datasetId": "sums:adaptive"})
        info = await checked(await asked, 200)
        assert info["datacard"]["itemsCount"] == 80
        started = await client.post(f"{base}/runs/start", json=START)
        reply = await checked(started, 201)
        assert started.headers["Idempotency-Key"]
        run = reply["runInfo"]["id"]
        while reply["nextItem"]:
            body = {"itemChoiceId": "B"}
            reply = await checked(await client.post(f"{base}/runs/{run}/continue", json=body), 200)
        summary = await checked(await client.get(f"{base}/runs/adaptive/{run}"), 200)
        assert summary["state"] == reply["state"]
        items = [{"itemId": entry["id"], "itemChoiceId": "A"} for entry in summary["dataset"]]
        for place in (f"{prefix}/runs/{run}/replay", f"{base}/runs/{run}/replay"):
            replay = await checked(await client.post(place, json={"responses": items}), 200)
            assert replay["replayOfRun"] == run
        me = await checked(await client.get(f"{prefix}/admin/api-keys/me"), 200)
        assert me["teams"][0]["accountId"] == me["user"]["accountId"]
        made = await client.post(f"{prefix}/admin/public/projects", json={"name": "one"})
        project = await checked(made, 201)
        path = f"{prefix}/admin/public/projects/{project['id']}"
        assert await checked(await client.get(path), 200) == project
        listed = await checked(await client.get(f"{prefix}/admin/public/projects"), 200)
        assert listed == {"data": [project]}

    served(tmp_path, banks, main)


CLASSIC = {
    "projectId": "p",
    "experimentName": "e",
    "datasetId": "q",
    "modelName": "m",
    "hyperparameters": {"t": 1},
    "items": [
        {
            "datasetItemId": "0",
            "modelInput": "1",
            "modelOutput": {"any": ["thing"]},
            "goldOutput": None,
            "metrics": {"accuracy": 1.0},
        }
    ],
    "metrics": [{"metricId": "accuracy", "valueType": "Float", "value": 0.5}],
}


def test_a_classic_evaluation_is_stored_whole(tmp_path: Path, banks: list[Bank]) -> None:
    async def main(client: TestClient) -> None:
        path = "/adaptive-testing/runs/classic"
        reply = await checked(await client.post(path, json=CLASSIC), 200)
        assert reply["responseCount"] == 1
        kept = await checked(await client.get(f"{path}/{reply['id']}"), 200)
        assert {name: kept[name] for name in CLASSIC} == CLASSIC
        assert {name: kept[name] for name in reply} == reply
        await checked(await client.get(f"{path}/none"), 404)
        for name in ("projectId", "items", "metrics", "modelName"):
            broken = {key: value for key, value in CLASSIC.items() if key != name}
            refused = await checked(await client.post(path, json=broken), 422)
            assert name in refused["detail"]

    served(tmp_path, banks, main)


def test_only_the_right_keys_are_let_in(tmp_path: Path, banks: list[Bank]) -> None:
    async def main(client: TestClient) -> None:
        for key in ("", "wrong", "0123456789abcde", "ä"):
            response = await client.get("/adaptive-testing/datasets", headers={"x-api-key": key})
            body = await checked(response, 401)
            assert not key or key not in str(body)
        right = {"x-api-key": "0123456789abcdef", "Host": "eval.example.org"}
        await checked(await client.get("/adaptive-testing/datasets", headers=right), 200)
        await checked(await client.get("/none", headers={"x-api-key": ""}), 401)

    served(tmp_path, banks, main, keys=Keys(["0123456789abcdef"]))


def test_guessing_keys_is_slowed_down(tmp_path: Path, banks: list[Bank]) -> None:
    async def main(client: TestClient) -> None:
        statuses = []
        for number in range(60):
            response = await client.get("/x", headers={"x-api-key": str(number)})
            statuses.append(response.status)
        assert statuses == [401] * 50 + [429] * 10
        assert response.headers["Retry-After"] == "1"

    served(tmp_path, banks, main, keys=Keys(["0123456789abcdef"]), clock=lambda: 0.0)


def test_without_keys_only_this_machine_is_served(tmp_path: Path, banks: list[Bank]) -> None:
    async def main(client: TestClient) -> None:
        for host, status in (
            ("evil.example.org", 403),
            ("127.0.0.1.evil.example.org:80", 403),
            ("localhost:80", 200),
            ("[::1]:80", 200),
        ):
            response = await client.get("/adaptive-testing/datasets", headers={"Host": host})
            await checked(response, status)

    served(tmp_path, banks, main)


def test_too_many_requests_are_told_to_wait(tmp_path: Path, banks: list[Bank]) -> None:
    async def main(client: TestClient) -> None:
        path = "/adaptive-testing/datasets"
        for _ in range(4):
            await checked(await client.get(path), 200)
        response = await client.get(path)
        await checked(response, 429)
        assert response.headers["Retry-After"] == "1"
        await checked(await client.get(path, headers={"x-api-key": "another"}), 200)

    served(tmp_path, banks, main, rate=2.0, clock=lambda: 0.0)


def test_bodies_are_limited(tmp_path: Path, banks: list[Bank]) -> None:
    async def main(client: TestClient) -> None:
        path = "/adaptive-testing/runs/start"
        large = json.dumps({**START, "metadata": {"m": "x" * 10_240}})
        refused = await checked(await client.post(path, data=large), 413)
        assert refused["detail"] == "metadata size must be less than 10KB (10240 bytes)."
        await checked(await client.post(path, data=io.BytesIO(b"x" * (2 << 20))), 413)
        bomb = gzip.compress(b" " * (64 << 20))
        encoded = {"Content-Encoding": "gzip"}
        await checked(await client.post(path, data=bomb, headers=encoded), 413)
        await checked(await client.post(path, data=b"no gzip at all", headers=encoded), 400)

    served(tmp_path, banks, main)


def test_a_full_disk_is_said_and_nothing_counts(tmp_path: Path, banks: list[Bank]) -> None:
    async def main(client: TestClient) -> None:
        await checked(await client.post("/adaptive-testing/runs/start", json=START), 507)

    served(tmp_path, banks, main, low_water=1 << 62)


def test_other_paths_and_methods_are_refused_alike(tmp_path: Path, banks: list[Bank]) -> None:
    async def main(client: TestClient) -> None:
        await checked(await client.get("/"), 404)
        await checked(await client.get("/adaptive-testing/runs/../../etc/passwd"), 404)
        response = await client.put("/adaptive-testing/datasets")
        await checked(response, 405)
        assert "GET" in response.headers["Allow"]

    served(tmp_path, banks, main)


# -- whatever comes ------------------------------------------------------------------------

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.just(10**400)
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(["sums:adaptive", "texts:adaptive", "test", "B", "id-1", "\ud800", "\0"]),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=8,
)
NAMES = (
    "datasetId", "split", "projectId", "experiment", "metadata", "seed", "itemChoiceId", "itemId",
    "textResponse", "responses", "name", "teamId", "description", "items", "metrics", "modelName",
    "experimentName", "hyperparameters",
)  # fmt: skip
RIGHT = {"datasetId": "sums:adaptive", "split": "test", "name": "n", "itemChoiceId": "B"}
OBJECTS = st.builds(
    lambda base, more: {**{name: RIGHT[name] for name in base}, **more},
    st.sets(st.sampled_from(sorted(RIGHT))),
    st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=4),
)
BODIES = st.one_of(
    st.binary(max_size=60),
    (OBJECTS | VALUES).map(lambda value: json.dumps(value).encode()),
    st.integers(1, 3000).map(lambda depth: b'{"metadata":' + b"[" * depth + b"]" * depth + b"}"),
)
PATHS = st.sampled_from(
    [
        "/adaptive-testing/datasets",
        "/adaptive-testing/datasets/get-dataset",
        "/adaptive-testing/runs/start",
        "/adaptive-testing/runs/{id}/continue",
        "/adaptive-testing/runs/adaptive/{id}",
        "/runs/{id}/replay",
        "/adaptive-testing/runs/classic",
        "/admin/public/projects",
        "/admin/api-keys/me",
    ]
)
IDS = st.sampled_from(
    ["id-1", "id-2", "..", "%2e%2e", "%00", "%ff%fe", "a%2fb", "%F0%9F%98%80", "'; DROP", "x" * 500]
)
HEADERS = st.dictionaries(
    st.sampled_from(["Idempotency-Key", "Content-Type", "X-Other"]),
    st.sampled_from(["0", "a b", "text/html; charset=bogus", "x" * 300, "ä"]),
    max_size=2,
)
REQUESTS = st.tuples(st.sampled_from(["GET", "POST"]), PATHS, IDS, BODIES, HEADERS)


@one_in(3)
@given(requests=st.lists(REQUESTS, min_size=8, max_size=24))
def test_no_request_makes_the_server_fail(
    tmp_path_factory: pytest.TempPathFactory, banks: list[Bank], requests: list[Any]
) -> None:
    async def main(client: TestClient) -> None:
        for dataset in ("sums:adaptive", "texts:adaptive"):
            body = {**START, "datasetId": dataset}
            await checked(await client.post("/adaptive-testing/runs/start", json=body), 201)
        for method, path, run, body, headers in requests:
            url = URL(path.replace("{id}", run), encoded=True)
            response = await client.request(method, url, data=body, headers=headers)
            await response.read()
            assert response.status < 500, (method, url, body, await response.text())
        await checked(await client.get("/adaptive-testing/runs/adaptive/id-1"), 200)

    served(tmp_path_factory.mktemp("state"), banks, main, rate=0)


def test_bytes_that_are_no_http_do_not_stop_the_server(tmp_path: Path, banks: list[Bank]) -> None:
    async def main(client: TestClient) -> None:
        for said in (
            b"\x16\x03\x01\x02\x00\x01",
            b"GET /\xff HTTP/1.1\r\nHost: x\r\n\r\n",
            b"\r\n",
        ):
            reader, writer = await asyncio.open_connection(client.host, client.port)
            writer.write(said)
            writer.write_eof()
            answer = await reader.read()
            assert b" 500 " not in answer.partition(b"\r\n")[0]
            writer.close()
            await writer.wait_closed()
        await checked(await client.get("/adaptive-testing/datasets"), 200)

    served(tmp_path, banks, main)
