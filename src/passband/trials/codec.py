"""Text as bytes: exactly what the model wrote, half characters and zero bytes included."""

from __future__ import annotations

import zlib

__all__ = ["decoded", "encoded", "readable", "storable"]

_RAW, _DEFLATED = 0, 1
_WORTHWHILE = 1_000  # bytes; shorter texts gain little and cost as much time


def encoded(
    text: str | None, reasoning: str | None = None
) -> tuple[int, bytes | None, bytes | None]:
    """Return a codec and the two texts in it.

    >>> encoded("four")
    (0, b'four', None)
    """
    first, second = _bytes(text), _bytes(reasoning)
    if len(first or b"") + len(second or b"") < _WORTHWHILE:
        return _RAW, first, second
    return _DEFLATED, _deflated(first), _deflated(second)


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


def readable(codec: int, *texts: bytes | None) -> bool:
    """Tell whether all of these can be decoded."""
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


def _deflated(data: bytes | None) -> bytes | None:
    return None if data is None else zlib.compress(data, 1)


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode("utf-8", "surrogatepass")
