"""Send and receive frames: four bytes of length, then JSON; files may travel with a frame."""

from __future__ import annotations

import array
import json
import socket
import struct
from collections.abc import Iterable
from typing import Any, Dict, Protocol  # noqa: UP035  an alias is made below, by Python 3.8 too

Message = Dict[str, Any]  # noqa: UP006
LARGEST = 16 << 20  # bytes of a frame
_MOST_FILES = 8


class Channel(Protocol):
    """A socket, or an object with the two methods that frames need."""

    def recv(self, length: int, /) -> bytes:
        """Return some bytes, at most that many; none at the end."""
        ...

    def sendall(self, data: bytes, /) -> None:
        """Send all bytes."""
        ...


class BadFrame(Exception):
    """The bytes on the socket are no frame."""


def send(channel: Any, message: object, files: Iterable[int] = ()) -> None:
    """Send a message and copies of some open files."""
    text = json.dumps(message, separators=(",", ":")).encode()
    if len(text) > LARGEST:
        raise BadFrame(f"a message of {len(text)} bytes is too long")
    data = struct.pack(">I", len(text)) + text
    numbers = array.array("i", files)
    if numbers:
        rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, numbers.tobytes())
        data = data[channel.sendmsg([data], [rights]) :]
    if data:
        channel.sendall(data)


def receive(channel: Channel) -> Any:
    """Return the next message, or None at the end."""
    head = _exactly(channel, 4, b"")
    return None if head is None else _message(channel, head)


def receive_with_files(channel: socket.socket) -> tuple[Any, list[int]]:
    """Return the next message and the files that came with it; None at the end."""
    numbers = array.array("i")
    head, extra, _, _ = channel.recvmsg(4, socket.CMSG_SPACE(_MOST_FILES * numbers.itemsize))
    for level, kind, data in extra:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            numbers.frombytes(data[: len(data) - len(data) % numbers.itemsize])
    whole = _exactly(channel, 4, head) if head else None
    return (None if whole is None else _message(channel, whole)), list(numbers)


def _message(channel: Channel, head: bytes) -> Any:
    (length,) = struct.unpack(">I", head)
    if length > LARGEST:
        raise BadFrame(f"a message of {length} bytes is too long")
    text = _exactly(channel, length, b"")
    if text is None:
        raise BadFrame("the message ends too early")
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadFrame(str(error)) from None


def _exactly(channel: Channel, length: int, start: bytes) -> bytes | None:
    """Return that many bytes, or None where the channel ends before."""
    pieces, missing = [start], length - len(start)
    while missing:
        piece = channel.recv(min(missing, 1 << 20))
        if not piece:
            return None
        pieces.append(piece)
        missing -= len(piece)
    return b"".join(pieces)
