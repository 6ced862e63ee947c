"""Who may read: only this machine's own pages, with the token."""

import socket

import pytest

from passband.view.server.guard import new_token
from support.samples.stores import filled
from support.servers.viewing import Viewing, viewing


@pytest.fixture(scope="module")
def viewer(tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("runs")
    filled(folder / "a", [[1, 0], [0, 0]])
    with viewing(folder) as viewer:
        yield viewer


def test_tokens_are_256_random_bits() -> None:
    tokens = {new_token() for _ in range(50)}
    assert len(tokens) == 50
    assert {len(token) for token in tokens} == {43}  # 43 letters of 6 bits


@pytest.mark.parametrize("host", ["evil.com", "127.0.0.1", "127.0.0.1:1", "localhost.evil:{port}"])
def test_another_host_is_misdirected(viewer: Viewing, host: str) -> None:
    answer = viewer.ask("", Host=host.format(port=viewer.port))
    assert answer.status == 421
    assert "sums" not in answer.text


def test_the_name_localhost_is_ours(viewer: Viewing) -> None:
    assert viewer.ask("", Host=f"localhost:{viewer.port}").status == 200


@pytest.mark.parametrize("origin", ["null", "https://evil.com", "http://127.0.0.1:1", ""])
def test_another_origin_is_refused(viewer: Viewing, origin: str) -> None:
    answer = viewer.ask("", Origin=origin)
    assert answer.status == 403
    assert "sums" not in answer.text


def test_our_own_origin_is_not(viewer: Viewing) -> None:
    assert viewer.ask("", Origin=f"http://127.0.0.1:{viewer.port}").status == 200


@pytest.mark.parametrize("path", ["/", "//", "/runs/a/1", "/x/", "/%ff%fe/", "/events", "*"])
def test_without_the_token_nothing_is_said(viewer: Viewing, path: str) -> None:
    answer = viewer.ask(path, token=False) if path != "*" else viewer.ask("/*")
    assert answer.status == 403
    assert "sums" not in answer.text
    assert viewer.view.home not in answer.text


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"])
def test_nothing_can_be_changed(viewer: Viewing, method: str) -> None:
    answer = viewer.ask("", method, Content_Type="text/plain")
    assert answer.status == 405
    assert not [name for name in answer.headers if name.startswith("Access-Control")]


@pytest.mark.parametrize("path", ["", "runs/a/1", "nothing", "runs/a/1/search?q=x", "/elsewhere"])
def test_every_answer_is_strict(viewer: Viewing, path: str) -> None:
    headers = viewer.ask(path).headers
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "base-uri 'none'" in policy
    assert "unsafe" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cache-Control"] == "no-store"
    assert "Set-Cookie" not in headers
    assert "Access-Control-Allow-Origin" not in headers


@pytest.mark.parametrize("name", ["..", "%2e%2e", "..%2f..%2fetc", "a%2f..%2fa", "a%00", "/etc"])
def test_no_path_is_a_name(viewer: Viewing, name: str) -> None:
    assert viewer.ask(f"runs/{name}/1").status in (400, 403, 404)


def sent(viewer: Viewing, request: str) -> bytes:
    """Send bytes that no client would, and return what comes back."""
    with socket.create_connection(("127.0.0.1", viewer.port), timeout=30) as connection:
        connection.sendall(request.encode())
        return b"".join(iter(lambda: connection.recv(65536), b""))


@pytest.mark.parametrize("host", ["LOCALHOST", "localhost.", "127.0.0.1.", "[::1]", "127.1"])
def test_no_other_spelling_of_the_host_is_ours(viewer: Viewing, host: str) -> None:
    assert viewer.ask("", Host=f"{host}:{viewer.port}").status == 421


def test_an_address_with_a_host_of_its_own_is_misdirected(viewer: Viewing) -> None:
    head = f"GET http://evil.com{viewer.view.home} HTTP/1.1\r\nHost: 127.0.0.1:{viewer.port}\r\n"
    assert b" 421 " in sent(viewer, f"{head}Connection: close\r\n\r\n").split(b"\r\n")[0]


def test_the_token_is_not_logged(viewer: Viewing, caplog: pytest.LogCaptureFixture) -> None:
    assert b" 400 " in sent(viewer, f"GET {viewer.view.home}{'x' * 20_000} HTTP/1.1\r\n\r\n")
    assert viewer.view.home not in caplog.text
