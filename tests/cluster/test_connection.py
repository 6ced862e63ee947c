"""Connections to clusters: those that fail do so soon, in plain words, and without secrets."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from passband.cluster import connection as connecting
from passband.cluster.address import Address, parse_address
from passband.cluster.connection import connect, ray_module
from passband.cluster.nodes import ClusterFailed, NotReached, UnequalNodes
from passband.errors import InvalidInput, PassbandError
from support.runs.commands import run

NEW = Address("new")
MISMATCH = """Version mismatch: The cluster was started with:
    Ray: 2.9.0
    Python: 3.10.1
This process on node 10.0.0.8 was started with:
    Ray: 2.60.0"""


class FakeRay:
    """What `connect` uses of the package ray."""

    def __init__(self, init: Callable[[], None] = lambda: None, *, is_connected: bool = False):
        self._init, self.is_connected = init, is_connected
        self.closed = threading.Event()
        self.where: list[str] = []

    def is_initialized(self) -> bool:
        return self.is_connected

    def init(self, where: str, **options: Any) -> None:
        self.where.append(where)
        self._init()

    def shutdown(self) -> None:
        self.closed.set()


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Callable[[FakeRay], FakeRay]:
    def use(fake: FakeRay) -> FakeRay:
        monkeypatch.setattr(connecting, "ray_module", lambda: fake)
        monkeypatch.setattr(connecting, "check_nodes", lambda: None)
        return fake

    return use


def raises(error: Exception) -> Callable[[], None]:
    def init() -> None:
        raise error

    return init


def test_a_connection_ends_with_the_block(use: Callable[[FakeRay], FakeRay]) -> None:
    fake = use(FakeRay())
    with connect(NEW):
        assert not fake.closed.is_set()
    assert fake.closed.is_set()
    assert fake.where == ["local"]


def test_a_process_that_is_connected_stays_so(use: Callable[[FakeRay], FakeRay]) -> None:
    fake = use(FakeRay(is_connected=True))
    with connect(Address("found")):
        pass
    assert not fake.closed.is_set()
    with pytest.raises(InvalidInput, match="connected to a cluster already"), connect(NEW):
        pass


def test_another_version_of_ray_is_refused(use: Callable[[FakeRay], FakeRay]) -> None:
    use(FakeRay(raises(RuntimeError(MISMATCH))))
    with pytest.raises(UnequalNodes, match=r"another version .* Ray: 2\.9\.0"), connect(NEW):
        pass


def test_other_failures_are_one_line(use: Callable[[FakeRay], FakeRay]) -> None:
    use(FakeRay(raises(ConnectionError("no\nraylet " + "x" * 9999))))
    with pytest.raises(ClusterFailed, match="Ray does not connect: ") as failed, connect(NEW):
        pass
    assert len(str(failed.value)) < 500


def test_a_cluster_that_lets_nobody_in_may_need_a_token(
    use: Callable[[FakeRay], FakeRay],
) -> None:
    use(FakeRay(raises(ConnectionError("Failed to connect to Ray cluster at 127.0.0.1:1"))))
    with socket.create_server(("127.0.0.1", 0)) as other:
        address = Address("gcs", "127.0.0.1", other.getsockname()[1])
        with pytest.raises(NotReached, match="RAY_AUTH_TOKEN"), connect(address):
            pass


def test_a_cluster_that_does_not_answer_does_not_hang(use: Callable[[FakeRay], FakeRay]) -> None:
    goes_on = threading.Event()
    fake = use(FakeRay(lambda: assert_set(goes_on)))
    with pytest.raises(NotReached, match=r"ready within 0\.01 s"), connect(NEW, seconds=0.01):
        pass
    goes_on.set()
    assert fake.closed.wait(30), "what was opened too late is closed"


def assert_set(event: threading.Event) -> None:
    assert event.wait(30)


def test_nobody_listens(use: Callable[[FakeRay], FakeRay]) -> None:
    fake = use(FakeRay())
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    for text in (f"127.0.0.1:{port}", f"ray://127.0.0.1:{port}"):
        address = parse_address(text)
        with pytest.raises(NotReached, match="no cluster of Ray answers at"), connect(address):
            pass
    assert fake.where == []  # Ray itself would try for minutes


def test_sigterm_closes_the_connection(use: Callable[[FakeRay], FakeRay]) -> None:
    fake, before = use(FakeRay()), signal.getsignal(signal.SIGTERM)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        with pytest.raises(SystemExit) as ended, connect(NEW):
            signal.raise_signal(signal.SIGTERM)
        assert ended.value.code == 143
        assert fake.closed.is_set()
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    finally:
        signal.signal(signal.SIGTERM, before)


def test_ray_is_asked_to_be_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray")
    monkeypatch.delenv("RAY_DEDUP_LOGS_SKIP_REGEX", raising=False)
    ray_module()
    assert os.environ["RAY_DEDUP_LOGS_SKIP_REGEX"] == "."


def test_without_ray_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(PassbandError, match=r"pip install 'ray\[client\]'"):
        ray_module()


@pytest.mark.parametrize("place", ["option", "variable"])
def test_the_command_prints_no_credentials(
    place: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ray")
    secret = "ray://me:pa55word@head:10001"
    monkeypatch.setenv("RAY_ADDRESS", secret if place == "variable" else "")
    on = secret if place == "option" else "ray"
    words = ("run", "arithmetic", "--model", "tiny", "-n", "1", "--shards", "2", "-q")
    done = run(*words, "--out", tmp_path / "run", "--on", on)
    assert done.code == 2
    assert "pa55word" not in done.out + done.err
    assert "a user, a password" in done.err


def found(ray: FakeRay, place: str) -> FakeRay:
    """Return a Ray that finds a cluster of this machine at a place."""
    find = SimpleNamespace(get_ray_address_from_environment=lambda address, folder: place)
    ray._private = SimpleNamespace(services=find)  # type: ignore[attr-defined]
    return ray


def test_a_cluster_that_is_found_and_gone_is_named(
    use: Callable[[FakeRay], FakeRay], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    with socket.create_server(("127.0.0.1", 0)) as closed:
        place = f"127.0.0.1:{closed.getsockname()[1]}"
    fake = use(found(FakeRay(), place))
    with pytest.raises(NotReached, match=f"{place}.*RAY_ADDRESS=local"), connect(Address("found")):
        pass
    assert not fake.where  # Ray itself would have tried for minutes


def test_a_cluster_that_is_found_and_does_not_answer_is_named(
    use: Callable[[FakeRay], FakeRay], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    goes_on = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        place = f"127.0.0.1:{silent.getsockname()[1]}"
        use(found(FakeRay(lambda: assert_set(goes_on)), place))
        monkeypatch.setattr(connecting, "_JOIN", 0.01)
        with pytest.raises(NotReached, match=rf"0\.01 s at {place}"), connect(Address("found")):
            pass
    goes_on.set()
    assert connecting._KNOCK + 15.0 <= 20.0
