"""The fault server does what its behaviours say, and counts rightly."""

import http.client
import json
import runpy
import socket
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from support.servers import fault_server as faults
from support.servers.fault_server import Behaviour, FaultServer, Received

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"
CHAT, TEXT = "/v1/chat/completions", "/v1/completions"
QUESTION = "What is 17 + 25?"
KEY = "sk-not-a-key"


@dataclass(frozen=True)
class Reply:
    """A response, read to its end."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def contents(self) -> list[Any]:
        return [choice["message"]["content"] for choice in self.json["choices"]]

    @property
    def error(self) -> Any:
        return self.json["error"]


def question(prompt: str = QUESTION, **options: Any) -> bytes:
    message = {"role": "user", "content": prompt}
    return json.dumps({"model": "m", "messages": [message]} | options).encode()


def send(line: http.client.HTTPConnection, body: bytes, path: str = CHAT) -> Reply:
    line.request("POST", path, body, {"Authorization": f"Bearer {KEY}"})
    got = line.getresponse()
    return Reply(got.status, {k.lower(): v for k, v in got.getheaders()}, got.read())


def connect(port: int) -> closing[http.client.HTTPConnection]:
    return closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30))


def ask(server: FaultServer, body: bytes | None = None, path: str = CHAT, **options: Any) -> Reply:
    with connect(server.port) as line:
        return send(line, body or question(**options), path)


def play(behaviour: Behaviour, **options: Any) -> Reply:
    with FaultServer(behaviour) as server:
        return ask(server, **options)


def plain(server: FaultServer) -> socket.socket:
    """A connection on which a request has been sent."""
    line = socket.create_connection(("127.0.0.1", server.port), timeout=30)
    body = question()
    line.sendall(b"POST %b HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % (CHAT.encode(), len(body)))
    line.sendall(body)
    return line


def read_all(line: socket.socket) -> bytes:
    return b"".join(iter(lambda: line.recv(65_536), b""))


# --- good answers ----------------------------------------------------------------------------


def test_a_good_reply_has_everything() -> None:
    reply = play(faults.ok, n=2, seed=1)
    assert (reply.status, reply.headers["content-type"]) == (200, "application/json")
    assert reply.headers["x-request-id"] == "req-0"
    assert reply.json["object"] == "chat.completion"
    assert [choice["index"] for choice in reply.json["choices"]] == [0, 1]
    assert {choice["finish_reason"] for choice in reply.json["choices"]} == {"stop"}
    given = sum(len(text) // 4 for text in reply.contents)
    usage = {"prompt_tokens": 4, "completion_tokens": given, "total_tokens": 4 + given}
    assert reply.json["usage"] == usage


def test_the_older_api_answers_the_same() -> None:
    with FaultServer() as server:
        chat = ask(server, question(seed=5))
        text = ask(server, json.dumps({"prompt": QUESTION, "seed": 5}).encode(), TEXT)
    assert text.json["object"] == "text_completion"
    assert [choice["text"] for choice in text.json["choices"]] == chat.contents


def test_answers_follow_the_seed() -> None:
    with FaultServer() as server:
        seeded = [ask(server, seed=seed, n=2).contents for seed in range(5)]
        again = [ask(server, seed=seed, n=2).contents for seed in range(5)]
        unseeded = [ask(server, n=2).contents for _ in range(5)]
    assert seeded == again
    assert len({text for pair in seeded + unseeded for text in pair}) == 20


def test_rate_of_success_is_the_first_byte_of_the_hash() -> None:
    prompt = "What is 20 + 22?"  # sha256 begins with 0xb4
    answers = [answer(faults.text_of(prompt, seed, 0)) for seed in range(4000)]
    assert answers.count("42.") / 4000 == pytest.approx(0xB4 / 255, abs=0.03)
    assert set(answers) == {f"{number}." for number in range(42, 52)}


def test_the_same_answer_whatever_is_asked() -> None:
    with FaultServer(faults.same_answer) as server:
        replies = [ask(server, seed=seed, temperature=seed / 10, n=10) for seed in range(10)]
    texts = [text for reply in replies for text in reply.contents]
    assert len(texts) == 100
    assert len(set(texts)) == 1


def test_says_goes_round() -> None:
    assert play(faults.says("a", None), n=3).contents == ["a", None, "a"]


# --- refusals --------------------------------------------------------------------------------


def test_rate_limit() -> None:
    reply = play(faults.rate_limit("1"))
    assert (reply.status, reply.headers["retry-after"]) == (429, "1")
    assert reply.error["code"] == "rate_limit_exceeded"
    assert "retry-after-ms" not in reply.headers


def test_rate_limit_by_date() -> None:
    reply = play(faults.rate_limit(faults.http_date(3600)))
    ahead = parsedate_to_datetime(reply.headers["retry-after"]).timestamp() - time.time()
    assert 3000 < ahead <= 3600


def test_rate_limit_in_milliseconds_or_not_at_all() -> None:
    exact = play(faults.rate_limit(None, retry_after_ms="250"))
    assert exact.headers["retry-after-ms"] == "250"
    assert "retry-after" not in exact.headers
    assert "retry-after" not in play(faults.rate_limit(None)).headers


@pytest.mark.parametrize(
    ("behaviour", "status", "code"),
    [
        (faults.insufficient_quota, 429, "insufficient_quota"),
        (faults.unauthorized_401, 401, "invalid_api_key"),
        (faults.forbidden_403, 403, "permission_denied"),
        (faults.model_404, 404, "model_not_found"),
        (faults.bad_request_400, 400, "context_length_exceeded"),
        (faults.odd_request_400, 400, "invalid_value"),
        (faults.content_filter_400, 400, "content_filter"),
    ],
    ids=str,
)
def test_refusals(behaviour: Behaviour, status: int, code: str) -> None:
    reply = play(behaviour)
    assert (reply.status, reply.error["code"]) == (status, code)
    assert reply.headers["content-type"] == "application/json"


def test_the_key_comes_back() -> None:
    assert KEY in play(faults.unauthorized_401).error["message"]


def test_the_inner_error_of_a_filter() -> None:
    inner = play(faults.content_filter_400).error["innererror"]
    assert inner["code"] == "ResponsibleAIPolicyViolation"


def test_reject_n() -> None:
    refused = play(faults.reject_n, n=4)
    assert (refused.status, refused.error["param"]) == (400, "n")
    assert len(play(faults.reject_n, n=1).contents) == 1


@pytest.mark.parametrize("code", [500, 502, 503])
def test_status(code: int) -> None:
    reply = play(faults.status(code))
    assert reply.status == code
    assert reply.headers["content-type"].startswith("text/html")
    assert reply.body.startswith(b"<html>")


# --- replies that are none -------------------------------------------------------------------


def test_truncated_json_has_its_length() -> None:
    reply = play(faults.truncated_json)
    assert int(reply.headers["content-length"]) == len(reply.body)
    assert reply.body.startswith(b'{"id": "chatcmpl-0"')
    with pytest.raises(json.JSONDecodeError):
        json.loads(reply.body)


@pytest.mark.parametrize(
    ("behaviour", "kind"),
    [(faults.html_200, "text/html"), (faults.html_labelled_json, "application/json")],
    ids=str,
)
def test_html(behaviour: Behaviour, kind: str) -> None:
    reply = play(behaviour)
    assert reply.status == 200
    assert reply.headers["content-type"].startswith(kind)
    assert reply.body.startswith(b"<html>")


def test_no_choices() -> None:
    reply = play(faults.no_choices, n=4)
    assert (reply.status, reply.json["choices"]) == (200, [])


def test_error_in_200() -> None:
    reply = play(faults.error_in_200)
    assert (reply.status, list(reply.json)) == (200, ["error"])


# --- replies that are good but odd -----------------------------------------------------------


def test_null_content() -> None:
    assert play(faults.null_content, n=2).contents == [None, None]


@pytest.mark.parametrize("behaviour", [faults.content_filter, faults.length], ids=str)
def test_finish_reason(behaviour: Behaviour) -> None:
    reply = play(behaviour, n=2)
    assert reply.status == 200
    assert [c["finish_reason"] for c in reply.json["choices"]] == [behaviour.name] * 2


def test_short_n() -> None:
    assert len(play(faults.short_n, n=4).contents) == 1


def test_missing_usage() -> None:
    reply = play(faults.missing_usage)
    assert "usage" not in reply.json
    assert reply.contents


def test_reasoning() -> None:
    message = play(faults.reasoning).json["choices"][0]["message"]
    assert message["reasoning_content"] != message["content"]


def test_hostile_text() -> None:
    reply = play(faults.hostile_text)
    assert reply.body.isascii()
    for escaped in (rb"\u0000", rb"\ud800", rb"\u001b[31m", rb"\u001b]52;c;", rb"\u202e"):
        assert escaped in reply.body
    assert reply.contents == [faults.HOSTILE]


@pytest.mark.parametrize("kind", ["text/plain", "application/octet-stream", None])
def test_labelled(kind: str | None) -> None:
    reply = play(faults.labelled(kind))
    assert reply.headers.get("content-type") == kind
    assert reply.contents


# --- how it travels --------------------------------------------------------------------------


def test_chunked() -> None:
    reply = play(faults.chunked, seed=1)
    assert reply.headers["transfer-encoding"] == "chunked"
    assert "content-length" not in reply.headers
    assert reply.contents == play(faults.ok, seed=1).contents


def test_hang_sends_nothing_until_the_client_leaves() -> None:
    with FaultServer(faults.hang) as server:
        with plain(server) as line:
            server.wait_for(1)
            line.settimeout(0.05)
            with pytest.raises(TimeoutError):
                line.recv(1)
            assert server.in_flight == 1
        server.wait_until(lambda server: server.in_flight == 0)
    assert server.abandoned == server.requests


def test_no_reply() -> None:
    with FaultServer(faults.no_reply) as server, plain(server) as line:
        assert read_all(line) == b""
    assert not server.abandoned


def head_and_part(line: socket.socket, size: int) -> tuple[bytes, bytes]:
    """The head, and the first bytes of the body."""
    got = b""
    while len(got.partition(b"\r\n\r\n")[2]) < size:
        piece = line.recv(65_536)
        assert piece
        got += piece
    head, _, part = got.partition(b"\r\n\r\n")
    return head, part


@pytest.mark.parametrize("behaviour", [faults.reset_mid_body, faults.close_mid_body], ids=str)
def test_end_mid_body(behaviour: Behaviour) -> None:
    with FaultServer(behaviour) as server, plain(server) as line:
        head, part = head_and_part(line, 2000)
        assert b"\r\ncontent-length: 5200" in head
        assert len(part) == 2000
        if behaviour is faults.reset_mid_body:
            with pytest.raises(ConnectionResetError):
                line.recv(1)
        else:
            assert line.recv(1) == b""
    assert not server.abandoned


def test_hang_mid_body() -> None:
    with FaultServer(faults.hang_mid_body) as server:
        with plain(server) as line:
            assert len(head_and_part(line, 2000)[1]) == 2000
        server.wait_until(lambda server: len(server.abandoned) == 1)


def test_the_body_that_is_cut_would_have_been_good() -> None:
    request = Received(0, CHAT, {}, json.loads(question(seed=1)), 0.0, 0)
    whole = faults.padded(request, 5200)
    assert len(whole) == 5200
    assert json.loads(whole)["choices"][0]["message"]["content"].endswith("The answer is 42.")


def test_drip_comes_in_drops() -> None:
    began = time.monotonic()
    reply = play(faults.drip(size=20, every=0.001))
    assert time.monotonic() - began >= 0.1  # 110 drops; sleeping is never shorter than asked
    assert len(reply.body) == 2200
    assert reply.contents


def test_drip_can_be_left() -> None:
    with FaultServer(faults.drip()) as server:
        with plain(server) as line:
            head_and_part(line, 40)
        server.wait_until(lambda server: len(server.abandoned) == 1)


def test_huge() -> None:
    reply = play(faults.huge)
    assert int(reply.headers["content-length"]) == len(reply.body)
    assert len(reply.contents[0]) == 10_000_000


def test_huge_over_cap() -> None:
    reply = play(faults.huge_over_cap)
    assert "content-length" not in reply.headers
    assert len(reply.contents[0]) == 40_000_000


def test_huge_can_be_left() -> None:
    with FaultServer(faults.huge_over_cap) as server:
        with plain(server) as line:
            head_and_part(line, 1_000_000)
        server.wait_until(lambda server: len(server.abandoned) == 1)


# --- scripts ---------------------------------------------------------------------------------


def test_a_list_is_played_once_and_then_all_is_well() -> None:
    with FaultServer([faults.status(500), faults.rate_limit()]) as server:
        assert [ask(server).status for _ in range(4)] == [500, 429, 200, 200]
        server.play([faults.status(503)])
        assert [ask(server).status for _ in range(2)] == [503, 200]


def test_a_function_sees_the_request() -> None:
    def choose(request: Received) -> Behaviour:
        return faults.model_404 if "17" in request.prompt else faults.ok

    with FaultServer(choose) as server:
        assert ask(server).status == 404
        assert ask(server, prompt="What is 1 + 1?").status == 200


def test_first_time() -> None:
    with FaultServer(faults.first_time(faults.status(503))) as server:
        assert [ask(server, seed=seed).status for seed in (1, 2, 1, 2)] == [503, 503, 200, 200]


def test_a_script_that_gives_no_behaviour_is_a_mistake() -> None:
    def broken() -> None:
        with FaultServer([faults.status]) as server, plain(server) as line:  # type: ignore[list-item]
            assert read_all(line) == b""

    with pytest.raises(TypeError, match="is a call missing"):
        broken()


def test_a_script_cannot_wait_for_its_own_server() -> None:
    def choose(request: Received) -> Behaviour:
        server.down()
        return faults.ok

    with (
        pytest.raises(RuntimeError, match="use restart"),
        FaultServer(choose) as server,
        plain(server) as line,
    ):
        assert read_all(line) == b""


# --- what is counted -------------------------------------------------------------------------


def test_requests_are_recorded() -> None:
    before = time.monotonic()
    with FaultServer() as server:
        ask(server, seed=1)
        ask(server, seed=2)
    assert [request.body["seed"] for request in server.requests] == [1, 2]
    assert [request.number for request in server.requests] == [0, 1]
    assert {request.headers["authorization"] for request in server.requests} == {f"Bearer {KEY}"}
    first, second = (request.arrived for request in server.requests)
    assert before <= first <= second <= time.monotonic()


def test_connections_are_kept() -> None:
    with FaultServer([faults.status(500), faults.chunked]) as server, connect(server.port) as line:
        assert [send(line, question()).status for _ in range(3)] == [500, 200, 200]
    assert server.connections == 1
    assert {request.connection for request in server.requests} == {0}


def test_pipelined_requests_are_answered_in_order() -> None:
    def wait(request: Received) -> float:
        return 0.02 if request.number == 0 else 0.0

    with FaultServer(latency=wait) as server, plain(server) as line:
        body = question()
        top = f"POST {CHAT} HTTP/1.1\r\nContent-Length: {len(body)}\r\nConnection: close"
        line.sendall(top.encode() + b"\r\n\r\n" + body)
        got = read_all(line)
    assert got.index(b"req-0") < got.index(b"req-1")
    assert server.max_in_flight == 1


def in_threads(count: int, work: Callable[[], object]) -> list[threading.Thread]:
    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    return threads


def test_held_requests_are_in_flight_together() -> None:
    replies: list[Reply] = []
    with FaultServer(faults.held(faults.short_n)) as server:
        threads = in_threads(8, lambda: replies.append(ask(server)))
        server.wait_for(8)
        assert (server.in_flight, replies) == (8, [])
        server.release()
        for thread in threads:
            thread.join()
        assert [reply.status for reply in replies] == [200] * 8
        assert ask(server).status == 200
    assert (server.max_in_flight, server.in_flight) == (8, 0)


def test_latency_is_waited_for() -> None:
    began = time.monotonic()
    with FaultServer(faults.after(0.02), latency=0.03) as server:
        ask(server)
    assert time.monotonic() - began >= 0.05


def test_strays_are_refused_and_not_counted() -> None:
    with FaultServer([faults.status(500)]) as server:
        with connect(server.port) as line:
            line.request("GET", "/v1/models")
            reply = line.getresponse()
            assert (reply.status, "error" in json.load(reply)) == (404, True)
            line.request("GET", CHAT)
            assert line.getresponse().status == 405
        assert ask(server, b"not json").status == 400
        assert ask(server).status == 500
    assert len(server.requests) == 1
    assert [stray.split(":")[0] for stray in server.strays] == [
        "GET /v1/models",
        f"GET {CHAT}",
        f"POST {CHAT}",
    ]


# --- down and up -----------------------------------------------------------------------------


def test_down_refuses_and_up_listens_on_the_same_port() -> None:
    with FaultServer() as server:
        url = server.url
        for _ in range(3):
            server.down()
            with pytest.raises(ConnectionRefusedError):
                ask(server)
            server.up()
            assert ask(server).status == 200
        assert server.url == url
    assert len(server.requests) == 3


def test_down_cuts_what_is_under_way() -> None:
    with FaultServer(faults.hang) as server, plain(server) as line:
        server.wait_for(1)
        server.down()
        with line:
            assert ended(line)
    assert not server.abandoned
    assert server.in_flight == 0


def ended(line: socket.socket) -> bool:
    """Whether the other side has hung up, in whichever way."""
    try:
        return line.recv(1) == b""
    except ConnectionResetError:
        return True


def test_restart() -> None:
    with FaultServer([faults.restart(0.05)]) as server:
        with plain(server) as line:
            assert ended(line)
        while not reachable(server):
            pass
        assert ask(server).status == 200


def reachable(server: FaultServer) -> bool:
    try:
        socket.create_connection(("127.0.0.1", server.port), timeout=30).close()
    except (ConnectionRefusedError, ConnectionResetError):
        return False
    return True


def test_a_server_may_be_left_while_it_is_down() -> None:
    with FaultServer([faults.restart(1000)]) as server, plain(server) as line:
        assert ended(line)
        assert not reachable(server)
    with FaultServer() as server:
        server.down()


# --- the fast server -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def loopback() -> dict[str, Any]:
    return runpy.run_path(str(BENCHMARKS / "loopback.py"))


def test_the_fast_server_gives_the_same_answers(loopback: dict[str, Any]) -> None:
    bodies = [
        question(f"What is {number} + {seed}?", seed=seed, n=3)
        for number in range(5)
        for seed in range(5)
    ]
    with FaultServer() as slow, loopback["started"]() as url, connect(port_of(url)) as line:
        for body in bodies:
            fast = send(line, body).contents
            assert {len(text) for text in fast} == {330}
            assert list(map(answer, fast)) == list(map(answer, ask(slow, body).contents))
        line.request("GET", "/stats")
        stats = json.load(line.getresponse())
    assert stats == {"requests": 25, "completions": 75, "max_in_flight": 1, "connections": 1}


def answer(text: str) -> str:
    return text.rpartition("The answer is ")[2]


def port_of(url: str) -> int:
    return urlsplit(url).port or 0


def test_the_fast_server_pipelines_with_latency_and_without_n(loopback: dict[str, Any]) -> None:
    body = question(n=4)
    request = b"POST %b HTTP/1.1\r\nContent-Length: %d\r\n" % (CHAT.encode(), len(body))
    stream = (request + b"\r\n" + body) * 9 + request + b"Connection: close\r\n\r\n" + body
    with (
        loopback["started"](latency=0.01, several=False) as url,
        socket.create_connection(("127.0.0.1", port_of(url)), timeout=30) as line,
    ):
        for start in range(0, len(stream), 100):
            line.sendall(stream[start : start + 100])
        got = read_all(line)
    assert got.count(b'"finish_reason":"stop"') == 10
    ids = [b'"chatcmpl-%016x"' % number for number in range(1, 11)]
    assert [got.index(name) for name in ids] == sorted(got.index(name) for name in ids)
