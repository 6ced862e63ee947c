"""Replies byte by byte, as no library writes them: behaviours of the fault server.

A reply is a function from the body of a good answer to what goes over the wire, and a way to end:
the connection stays, is closed, is reset, is closed in one direction, or hangs.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
from collections.abc import Callable
from functools import cache
from typing import Any, Literal

from support.servers.fault_server import Behaviour, Exchange, completion, encoded, texts_for

Json = dict[str, Any]
End = Literal["stay", "close", "reset", "eof", "hang", "deaf"]

JSON = "Content-Type: application/json"


def head(*lines: str, status: str = "200 OK", version: str = "HTTP/1.1") -> bytes:
    """The lines before a body, as they are."""
    return "\r\n".join([f"{version} {status}", *lines, "", ""]).encode("latin-1")


def whole(body: bytes, *lines: str, status: str = "200 OK") -> bytes:
    """A reply with its length."""
    return head(JSON, f"Content-Length: {len(body)}", *lines, status=status) + body


def chunks(*pieces: bytes, end: bytes = b"0\r\n\r\n") -> bytes:
    """Pieces as chunks, and what stands behind them."""
    return b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + end


def in_chunks(body: bytes, end: bytes = b"0\r\n\r\n") -> bytes:
    """A reply in two chunks."""
    half = len(body) // 2
    return head(JSON, "Transfer-Encoding: chunked") + chunks(body[:half], body[half:], end=end)


def good_body(exchange: Exchange) -> bytes:
    """The body that the request should get."""
    return encoded(completion(exchange.request, texts_for(exchange.request)))


async def finish(exchange: Exchange, end: End) -> None:
    """End an answer in one of the ways."""
    transport = exchange.connection.transport
    if end == "close":
        exchange.close()
    elif end == "reset":
        exchange.reset()
    elif end == "eof":
        transport.write_eof()
    elif end == "deaf":  # closed in the direction from the client, which cannot know it
        transport.pause_reading()
        transport.get_extra_info("socket").shutdown(socket.SHUT_RD)
    if end in ("hang", "deaf"):
        await asyncio.Event().wait()


def wire(make: Callable[[bytes], bytes], end: End = "stay") -> Behaviour:
    """Bytes that are made of a good body."""

    async def play(exchange: Exchange) -> None:
        await exchange.write(make(good_body(exchange)))
        await finish(exchange, end)

    return Behaviour("wire", play)


def body(data: bytes, *lines: str, status: str = "200 OK") -> Behaviour:
    """Always the same body, whose length is said rightly."""
    return wire(lambda _: whole(data, *lines, status=status))


def edited(edit: Callable[[Json], object]) -> Behaviour:
    """A good reply with something changed in place, or replaced by what `edit` returns."""

    def make(data: bytes) -> bytes:
        reply = json.loads(data)
        other = edit(reply)
        return whole(json.dumps(reply if other is None else other).encode("ascii"))

    return wire(make)


def choice(index: int, text: str) -> Json:
    """A choice with a text that ended by itself."""
    return {"index": index, "message": {"content": text}, "finish_reason": "stop"}


def message(finish_reason: str = "stop", **fields: Any) -> Behaviour:
    """A choice with another message and another reason why it ended."""

    def edit(reply: Json) -> None:
        choice = {"index": 0, "message": {"role": "assistant", **fields}}
        reply["choices"] = [choice | {"finish_reason": finish_reason}]

    return edited(edit)


def echo(place: Callable[[str], bytes]) -> Behaviour:
    """What `place` makes of the key that was sent."""

    async def play(exchange: Exchange) -> None:
        key = exchange.request.headers["authorization"].removeprefix("Bearer ")
        await exchange.write(place(key))

    return Behaviour("echo", play)


def escaped(text: str) -> str:
    """Every character as an escape of JSON."""
    return "".join(f"\\u{ord(letter):04x}" for letter in text)


@cache
def bomb(size: int = 45_000_000) -> bytes:
    """Some ten thousand bytes that become many millions."""
    return gzip.compress(b" " * size, compresslevel=9)
