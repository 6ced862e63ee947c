"""The server on a wire without sockets: HTTP/1.1 in memory, cut and delayed as it says."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from email.utils import formatdate
from typing import Any

from simulation.clock import Clock
from simulation.questions import places_of
from simulation.server import Served, Server, reply

_LIMITS = {"limit": None, "limit 0": "0", "limit 3": "3", "limit 5000": "5000",
           "limit garbage": "soon"}  # fmt: skip
_REASONS = {"too long": "context_length_exceeded", "n refused": "unsupported_value"}


class Wire:
    """Accepts connections for the server."""

    def __init__(self, server: Server, clock: Clock) -> None:
        self.server, self.clock = server, clock
        self.replies = 0

    async def connect(self, factory: Callable[[], asyncio.BaseProtocol]) -> tuple[Any, Any]:
        """Connect a client, as `create_unix_connection` of an event loop does."""
        if self.server.outage == "refused":
            self.server.refuse()
            raise ConnectionRefusedError(111, "Connection refused")
        client = factory()
        assert isinstance(client, asyncio.Protocol)
        line = Line(self, client)
        client.connection_made(line)
        return line, client

    def answer(self, line: Line, body: dict[str, Any]) -> None:
        """Answer a request, when its time has come."""
        count = int(body.get("n", 1))
        seeds = (body["seed"], *[None] * (count - 1))
        served = self.server.serve(places_of(body["messages"][0]["content"], seeds))
        if served.fault == "refused":  # the outage began after the connection was made
            line.later(0.0, line.cut)
        elif served.fault != "hang":
            line.later(served.seconds, self._write, line, served)

    def _write(self, line: Line, served: Served) -> None:
        self.replies += 1
        if served.fault == "reset":
            line.cut()
            return
        whole = self._bytes(served)
        line.deliver(whole[: -len(whole) // 3] if served.fault == "reset in body" else whole)
        if served.fault == "reset in body":
            line.cut()

    def _bytes(self, served: Served) -> bytes:
        status, headers, body = self._reply(served)
        fields = {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}
        lines = [f"HTTP/1.1 {status} -", *(f"{name}: {text}" for name, text in fields.items())]
        return "\r\n".join(lines).encode() + b"\r\n\r\n" + body

    def _reply(self, served: Served) -> tuple[int, dict[str, str], bytes]:
        fault = served.fault
        good = json.dumps(reply(served, f"r{self.replies}")).encode()
        if fault in (None, "fewer choices", "more choices", "reset in body"):
            return 200, {}, good
        if fault == "cut json":
            return 200, {}, good[: len(good) // 2]
        if fault == "html":
            return 200, {}, b"<html>Bad gateway</html>"
        if fault == "no choices":
            return 200, {}, b'{"id": "x", "choices": []}'
        if fault == "null bytes":
            return 200, {}, b"\x00" * 64
        if fault == "error in 200":
            return 200, {}, b'{"error": {"message": "worker died", "type": "server_error"}}'
        return self._error(fault)

    def _error(self, fault: str) -> tuple[int, dict[str, str], bytes]:
        if fault in ("limit date", "503 with date"):
            date = formatdate(self.clock.wall() + 40, usegmt=True)
            return 429 if fault == "limit date" else 503, {"Retry-After": date}, _said(fault)
        if fault in _LIMITS:
            after = _LIMITS[fault]
            return 429, {} if after is None else {"Retry-After": after}, _said(fault)
        if fault in _REASONS:
            return 400, {}, _said(_REASONS[fault])
        return int(fault), {}, _said(fault)


class Line(asyncio.Transport):
    """The client's end of a connection; what is written arrives at once, in whole requests."""

    def __init__(self, wire: Wire, client: asyncio.Protocol) -> None:
        super().__init__()
        self._wire, self._client = wire, client
        self._received = b""
        self._is_closing = False
        self._loop = asyncio.get_running_loop()

    def write(self, data: Any) -> None:
        self._received += bytes(data)
        head, gap, rest = self._received.partition(b"\r\n\r\n")
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:] if gap)
        length = int(fields.get(b"content-length", b"0"))
        if gap and len(rest) >= length and not self._is_closing:
            self._received = rest[length:]
            self._wire.answer(self, json.loads(rest[:length]))

    def writelines(self, chunks: Any) -> None:
        self.write(b"".join(chunks))

    def later(self, seconds: float, act: Callable[..., None], *arguments: Any) -> None:
        self._loop.call_later(seconds, self._unless_closed, act, arguments)

    def _unless_closed(self, act: Callable[..., None], arguments: tuple[Any, ...]) -> None:
        if not self._is_closing:
            act(*arguments)

    def deliver(self, data: bytes) -> None:
        self._client.data_received(data)

    def cut(self) -> None:
        """Reset the connection from the server's side."""
        if not self._is_closing:
            self._is_closing = True
            self._client.connection_lost(ConnectionResetError(104, "Connection reset by peer"))

    def close(self) -> None:
        if not self._is_closing:
            self._is_closing = True
            self._loop.call_soon(self._client.connection_lost, None)

    def abort(self) -> None:
        self.close()

    def is_closing(self) -> bool:
        return self._is_closing

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return {"peername": ("127.0.0.1", 80)}.get(name, default)

    def get_write_buffer_size(self) -> int:
        return 0

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass

    def is_reading(self) -> bool:
        return not self._is_closing

    def can_write_eof(self) -> bool:
        return False


def _said(message: str) -> bytes:
    return json.dumps({"error": {"message": message, "code": message}}).encode()
