"""Frames between processes."""

import os
import socket
import struct
from collections.abc import Iterator

import pytest

from passband.score.sandbox.box import wire

Pair = tuple[socket.socket, socket.socket]


@pytest.fixture
def pair() -> Iterator[Pair]:
    one, other = socket.socketpair()
    with one, other:
        yield one, other


def test_messages_and_files(pair: Pair, tmp_path: os.PathLike[str]) -> None:
    one, other = pair
    path = os.path.join(tmp_path, "file")
    with open(path, "w") as file:
        file.write("content")
    with open(path) as file:
        wire.send(one, {"with": "a file"}, [file.fileno()])
        wire.send(one, [1, "two", None])
    message, (number,) = wire.receive_with_files(other)
    assert message == {"with": "a file"}
    assert os.pread(number, 100, 0) == b"content"
    os.close(number)
    assert wire.receive_with_files(other) == ([1, "two", None], [])
    one.close()
    assert wire.receive(other) is None
    assert wire.receive_with_files(other) == (None, [])


@pytest.mark.parametrize(
    "data",
    [
        b"\xff\xff\xff\xff{}",
        struct.pack(">I", 5) + b"{}",
        struct.pack(">I", 2) + b"{]",
        struct.pack(">I", 2) + b"\xff\xff",
        struct.pack(">I", 200_000) + b"[" * 200_000,
    ],
)
def test_what_is_no_frame(pair: Pair, data: bytes) -> None:
    one, other = pair
    one.sendall(data)
    one.close()
    with pytest.raises(wire.BadFrame):
        wire.receive(other)


def test_messages_that_are_too_long(pair: Pair) -> None:
    with pytest.raises(wire.BadFrame, match="too long"):
        wire.send(pair[0], "x" * wire.LARGEST)
