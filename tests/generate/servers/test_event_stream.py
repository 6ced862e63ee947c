"""Server-sent events, as they come over the wire."""

import pytest

from passband.generate.provider import InvalidReply
from passband.generate.servers import event_stream
from passband.generate.servers.event_stream import EventReader, assembled, parsed_event
from passband.generate.servers.openai_stream import OpenAIStream


def split(raw: bytes, size: int) -> list[bytes]:
    reader = EventReader()
    parts = [raw[start : start + size] for start in range(0, len(raw), size)]
    return [data for part in parts for data in reader.feed(part)] + reader.end()


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"data: 1\n\ndata: 2\n\n", [b"1", b"2"]),
        (b"data:1\r\n\r\ndata:  2\r\n\r\n", [b"1", b" 2"]),
        (b": OPENROUTER PROCESSING\n\n: keep-alive\n\ndata: 1\n\n", [b"1"]),
        (b"event: ping\ndata: 1\nid: 7\nretry: 10\n\n", [b"1"]),
        (b"data: 1\ndata: 2\n\n", [b"1\n2"]),
        (b"\n\n\ndata: 1\n\n\n\n", [b"1"]),
        (b"data: 1\n\ndata: 2", [b"1", b"2"]),
        (b"data\n\nother: 1\n\n", []),
        (b"", []),
    ],
)
def test_events_are_read_however_they_are_split(
    raw: bytes, expected: list[bytes], size: int
) -> None:
    assert split(raw, size) == expected


def test_a_byte_order_mark_is_skipped() -> None:
    assert split(b"\xef\xbb\xbfdata: 1\n\n", 100) == [b"1"]


def test_a_line_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_stream, "_LARGEST", 100)
    with pytest.raises(InvalidReply, match="longer than"):
        split(b"data: " + b"x" * 300, 10)


@pytest.mark.parametrize("data", [b"{", b"[1]", b'"x"', b"[" * 100_000, b"\xff"])
def test_what_is_no_object_is_no_event(data: bytes) -> None:
    with pytest.raises(InvalidReply, match="an event is not"):
        parsed_event(data)


def test_a_stream_that_is_not_named_as_one() -> None:
    assert assembled(b'{"choices": []}', OpenAIStream()) is None
    raw = b': wait\n\ndata: {"error": {"message": "No."}}\n\n'
    assert assembled(raw, OpenAIStream()) == b'{"error": {"message": "No."}}'
