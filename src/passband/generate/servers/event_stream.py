"""Server-sent events: the form in which servers stream an answer, piece by piece.

A stream is read to its end and put together, so that what follows reads it like any other reply.
Sources: the HTML standard, 9.2 (event streams); DeepSeek and OpenRouter send comments to keep a
connection open while a request waits.
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Protocol

from passband.generate.provider import InvalidReply, JsonObject
from passband.generate.servers.errors import excerpt

if TYPE_CHECKING:
    import aiohttp


_LARGEST = 32_000_000  # bytes of the answers of a stream, and of one event
_WIRE = 64 * _LARGEST  # bytes of the whole stream: an event for a token has 300 and more
_DRAIN = 1.0  # seconds for what follows the last event
_BOM = b"\xef\xbb\xbf"


class Assembly(Protocol):
    """The reply of a stream, while its events come in."""

    is_complete: bool  # whether the last event was there

    def add(self, data: bytes) -> int:
        """Take in the data of an event; return how many characters of answers it had."""
        ...

    def reply(self) -> JsonObject:
        """Return the whole reply; raise `InvalidReply` if the stream ended too early."""
        ...


class EventReader:
    """Splits a stream of bytes into the data of its events.

    >>> reader = EventReader()
    >>> reader.feed(b": hello" + bytes([10]) + b"data: {")
    []
    >>> reader.feed(b"}" + bytes([10, 10]))
    [b'{}']
    """

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []
        self._is_first = True

    def feed(self, part: bytes) -> list[bytes]:
        """Return the data of the events that this part completes."""
        if self._is_first and self._rest + part:
            self._is_first = False
            part = part.removeprefix(_BOM)
        *lines, self._rest = (self._rest + part).split(b"\n")
        if len(self._rest) > _LARGEST:
            raise InvalidReply(f"an event is longer than {_LARGEST / 1e6:.0f} MB", http=200)
        return [data for line in lines if (data := self._line(line.rstrip(b"\r"))) is not None]

    def end(self) -> list[bytes]:
        """Return the data of an event that no empty line follows."""
        events = self.feed(b"\n\n") if self._rest or self._data else []
        return [event for event in events if event]

    def _line(self, line: bytes) -> bytes | None:
        if not line:
            data, self._data = b"\n".join(self._data), []
            return data or None
        name, _, value = line.partition(b":")
        if name == b"data":
            self._data.append(value.removeprefix(b" "))
        return None


async def read_stream(reply: aiohttp.ClientResponse, assembly: Assembly) -> bytes:
    """Read a stream to its last event; return the reply that it makes, as JSON."""
    reader, size, length = EventReader(), 0, 0
    async for part in reply.content.iter_any():
        size += len(part)
        length += sum(assembly.add(data) for data in reader.feed(part))
        if length > _LARGEST or size > _WIRE:
            reply.close()
            raise InvalidReply(f"the stream is longer than {_LARGEST / 1e6:.0f} MB", http=200)
        if assembly.is_complete:
            await _drain(reply)
            break
    else:
        for data in reader.end():
            assembly.add(data)
    return _encoded(assembly)


def assembled(raw: bytes, assembly: Assembly) -> bytes | None:
    """Return the reply of a stream that is not named as one; None if it is none."""
    if not raw.lstrip().startswith((b"data:", b"event:", b":")):
        return None
    reader = EventReader()
    for data in (*reader.feed(raw.lstrip()), *reader.end()):
        if not assembly.is_complete:
            assembly.add(data)
    return _encoded(assembly)


def parsed_event(data: bytes) -> JsonObject:
    """Return the object of an event; raise `InvalidReply` if it is none."""
    try:
        event = json.loads(data.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):
        raise InvalidReply(f"an event is not JSON: {excerpt(data)}", http=200) from None
    if not isinstance(event, dict):
        raise InvalidReply(f"an event is not a JSON object: {excerpt(data)}", http=200)
    return event


def _encoded(assembly: Assembly) -> bytes:
    try:
        return json.dumps(assembly.reply()).encode()
    except (ValueError, RecursionError):
        raise InvalidReply("the events of a stream cannot be put together", http=200) from None


async def _drain(reply: aiohttp.ClientResponse) -> None:
    """Read the rest of a reply for a short while, so that its connection can be used again."""
    try:
        await asyncio.wait_for(reply.content.readany(), _DRAIN)
    except asyncio.TimeoutError:
        reply.close()
