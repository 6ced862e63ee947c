"""Connect to a cluster for the duration of a block."""

from __future__ import annotations

import os
import signal
import socket
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from passband.cluster.address import CLIENT_PORT, VARIABLE, Address, parse_address, resolved
from passband.cluster.nodes import ClusterFailed, NotReached, UnequalNodes, check_nodes
from passband.errors import ExitCode, InvalidInput, describe
from passband.system import available_cpus

_KNOCK = 5.0  # seconds for a port to be opened
_JOIN = 15.0  # for a cluster to answer that nobody named on the command line
_OPEN = 60.0  # for one that was named to answer, or for one to start on a busy machine
_CLOSE = 30.0
_QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".",  # or else pages on standard output about each lost process
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # or else a warning about processors of graphics
}


def ray_module() -> Any:
    """Return the package ray, imported now; raise `InvalidInput` if it is not installed."""
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError as error:
        why = "" if getattr(error, "name", "ray") == "ray" else f" ({describe(error, 200)})"
        raise InvalidInput(
            f"a cluster needs the package ray{why}: pip install 'ray[client]'."
        ) from None
    return ray


@contextmanager
def connect(address: Address, *, seconds: float | None = None) -> Iterator[None]:
    """Connect this process to a cluster; inside the block Ray can be used.

    A process that is connected already stays so, and its cluster is used, unless the address names
    one. Otherwise the connection ends with the block, and so does a cluster that was started for
    it. Every node must have the Ray, the Python and the passband of this process, which is checked
    here. Raises a `PassbandError` within a bounded time if there is no such cluster.
    """
    ray = ray_module()
    if ray.is_initialized():
        if address.kind != "found":
            raise InvalidInput(
                f"this process is connected to a cluster already; {address} cannot be another."
            )
        check_nodes()
        yield
        return
    where = resolved(address)
    head = _running(ray) if where.kind == "found" else where
    if head.host is not None and head.port is not None:
        _knock(head)
    if seconds is None:
        seconds = _JOIN if address.kind == "found" and head.host is not None else _OPEN
    connection = _Connection(lambda: _open(ray, where), ray.shutdown)
    with _terminable() as handled:
        connection.open(head, seconds)
        try:
            handled()
            check_nodes()
            yield
        finally:
            connection.close()


@contextmanager
def _terminable() -> Iterator[Callable[[], None]]:
    """Let SIGTERM end the block in good order, unless something else handles it.

    Ray installs a handler of its own, which prints a trace and leaves what was started to itself;
    what is yielded, called once Ray is connected, takes its place.
    """
    before = signal.getsignal(signal.SIGTERM)
    if before is None or threading.current_thread() is not threading.main_thread():
        yield lambda: None
        return
    action = _terminated if before == signal.SIG_DFL else before

    def handle() -> None:
        signal.signal(signal.SIGTERM, action)

    handle()
    try:
        yield handle
    finally:
        signal.signal(signal.SIGTERM, before)


def _terminated(number: int, frame: object) -> None:
    raise SystemExit(int(ExitCode.TERMINATED))


def _running(ray: Any) -> Address:
    """Return where Ray finds the cluster of this machine; one without a host if it finds none."""
    try:
        text = ray._private.services.get_ray_address_from_environment("auto", None)
        return parse_address(str(text))
    except (AttributeError, ConnectionError, InvalidInput, TypeError):  # or another Ray's services
        return Address("found")


def _knock(where: Address) -> None:
    """Raise `NotReached` if nothing listens at an address: Ray itself would try for minutes."""
    host = (where.host or "").strip("[]")
    try:
        socket.create_connection((host, where.port or 0), _KNOCK).close()
    except OSError as error:
        reason = "no answer" if isinstance(error, TimeoutError) else error.strerror or error
        raise NotReached(
            f"no cluster of Ray answers at {where} ({reason}). Is it running (ray status on its "
            f"head), and is the port right? Clients from outside use ray://HOST:{CLIENT_PORT}, and "
            f"{VARIABLE}=local starts a cluster here."
        ) from None


def _open(ray: Any, where: Address) -> None:
    """Connect to a cluster, or start one of this machine alone."""
    common = {"log_to_driver": False, "logging_level": "ERROR"}
    if where.host is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an error says what matters
            ray.init(str(where), **common)
        return
    if where.kind == "found" and _joined(ray, common):
        return
    ray.init(
        "local",
        num_cpus=available_cpus(),
        include_dashboard=False,
        _node_ip_address="127.0.0.1",  # or else its ports are open to other machines
        **common,
    )


def _joined(ray: Any, options: Mapping[str, Any]) -> bool:
    """Connect to the cluster of this machine; return whether there is a usable one.

    One that only loopback reaches belongs to a process that started it for itself, and ends with
    that process.
    """
    try:
        ray.init("auto", **options)
    except ConnectionError:
        return False
    if not str(ray.get_runtime_context().gcs_address).startswith("127."):
        return True
    ray.shutdown()
    return False


class _Connection(threading.Thread):
    """A thread that opens a connection, waits, and closes it.

    Opening may hang, which must not hang the command. And the processes of a cluster that is
    started here end with the thread that started them, so it has to last as long as they do.
    """

    def __init__(self, open_it: Callable[[], None], close_it: Callable[[], None]) -> None:
        super().__init__(name="ray", daemon=True)
        self._open, self._close = open_it, close_it
        self._opened, self._ending = threading.Event(), threading.Event()
        self._failure: BaseException | None = None

    def run(self) -> None:
        """Open, wait for the end, close."""
        try:
            self._open()
        except BaseException as failure:
            self._failure = failure
        self._opened.set()
        if self._failure is None:
            self._ending.wait()
            self._close()

    def open(self, where: Address, seconds: float) -> None:
        """Wait until the connection is open; raise if it is not in time."""
        self.start()
        is_open = False
        try:
            is_open = self._opened.wait(seconds)
        finally:
            if not is_open:  # it is to be closed as soon as it is open
                self._ending.set()
        if not is_open:
            raise NotReached(
                f"no cluster of Ray was ready within {seconds:g} s{_place(where)}. If a cluster "
                f"that ran on this machine is gone, {VARIABLE}=local starts another."
            )
        if self._failure is not None:
            raise _explained(self._failure, where) from None

    def close(self) -> None:
        """Close the connection."""
        self._ending.set()
        self.join(_CLOSE)


def _explained(failure: BaseException, where: Address) -> Exception:
    """Return the error to raise for a failure of Ray to connect."""
    text = " ".join(str(failure).split())
    if "ersion mismatch" in text:
        return UnequalNodes(
            "the cluster has another version of Ray or of Python, and both must be the same as "
            f"here: {text.partition('ersion mismatch:')[2].strip() or text}"[:500]
        )
    if "ray[client]" in text or (where.kind == "client" and isinstance(failure, ImportError)):
        return InvalidInput(
            f"{where} needs Ray's client: pip install 'ray[client]'. On a machine of the cluster, "
            "--on ray does without."
        )
    if where.host is not None and isinstance(failure, ConnectionError):  # though something listens
        return NotReached(
            f"what answers at {where} does not let this process in. Is it the port of a cluster's "
            "head, and of the kind that the address says? A cluster that needs a token takes it "
            "from RAY_AUTH_TOKEN, with RAY_AUTH_MODE=token, in the environment."
        )
    return ClusterFailed(f"Ray does not connect{_place(where)}: {describe(failure, 400)}")


def _place(where: Address) -> str:
    return "" if where.host is None else f" at {where}"
