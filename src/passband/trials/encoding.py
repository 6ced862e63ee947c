"""Encode text as bytes without loss, lone surrogates and zero bytes included."""

from __future__ import annotations

import json
import zlib
from typing import Any

from passband.errors import InvalidInput

_RAW, _DEFLATED = 0, 1
WORTHWHILE = 1_000  # bytes; shorter texts gain little and cost as much time


def encoded(
    text: str | None, reasoning: str | None = None, transcript: bytes | None = None
) -> tuple[int, bytes | None, bytes | None, bytes | None]:
    """Return a codec and the three texts in it.

    >>> encoded("four")
    (0, b'four', None, None)
    """
    first, second = _bytes(text), _bytes(reasoning)
    if len(first or b"") + len(second or b"") + len(transcript or b"") < WORTHWHILE:
        return _RAW, first, second, transcript
    return _DEFLATED, _deflated(first), _deflated(second), _deflated(transcript)


def decoded(codec: int, data: bytes | None) -> str | None:
    """Return the text again.

    >>> decoded(*encoded("\\ud800 half a character")[:2])
    '\\ud800 half a character'
    """
    if data is None:
        return None
    if codec not in (_RAW, _DEFLATED):
        raise ValueError(f"no codec has the number {codec}")
    raw = zlib.decompress(data) if codec == _DEFLATED else data
    return raw.decode("utf-8", "surrogatepass")


def encoded_transcript(transcript: list[dict[str, Any]] | None) -> bytes | None:
    """Return the messages of a trial as JSON.

    >>> encoded_transcript([{"role": "user", "content": "2+2"}])
    b'[{"role":"user","content":"2+2"}]'
    """
    if transcript is None:
        return None
    try:
        return json.dumps(transcript, separators=(",", ":"), allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"a transcript must be a list of JSON objects: {error}.") from None


def decoded_transcript(codec: int, data: bytes | None) -> list[dict[str, Any]] | None:
    """Return the messages of a trial again."""
    text = decoded(codec, data)
    if text is None:
        return None
    messages: list[dict[str, Any]] = json.loads(text)
    return messages


def readable(codec: int, *texts: bytes | None) -> bool:
    """Return whether all of these can be decoded."""
    try:
        return all(text is None or decoded(codec, text) is not None for text in texts)
    except (TypeError, ValueError, zlib.error):
        return False


def storable(text: str | None) -> str | bytes | None:
    """Return text as SQLite takes it: half a character only as bytes, which CAST makes text.

    >>> storable("half"), storable("\\ud800")
    ('half', b'\\xed\\xa0\\x80')
    """
    if text is None or text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return _bytes(text)
    return text


def canonical_json(value: Any) -> str:
    """Return JSON that is the same text for the same value."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)


def _deflated(data: bytes | None) -> bytes | None:
    return None if data is None else zlib.compress(data, 1)


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode("utf-8", "surrogatepass")
