"""PNG files of two colours, written with the standard library."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence

_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def two_colour_png(rows: Sequence[str], colour: str = "#000000") -> bytes:
    """Return a picture with a pixel for each letter: "1" in the colour, all else transparent.

    >>> two_colour_png(["101", "010"])[:4]
    b'\\x89PNG'
    """
    width = max(map(len, rows), default=0)
    if width == 0:
        rows, width = ["0"], 1
    raw = b"".join(b"\x00" + _bits(row, width) for row in rows)
    header = struct.pack(">IIBBBBB", width, len(rows), 1, 3, 0, 0, 0)
    palette = b"\xff\xff\xff" + bytes.fromhex(colour.removeprefix("#"))
    chunks = [(b"IHDR", header), (b"PLTE", palette), (b"tRNS", b"\x00\xff")]
    chunks += [(b"IDAT", zlib.compress(raw, 9)), (b"IEND", b"")]
    return _SIGNATURE + b"".join(_chunk(kind, data) for kind, data in chunks)


def _bits(row: str, width: int) -> bytes:
    """Return a row as bits, padded to whole bytes."""
    size = (width + 7) // 8
    bits = "".join("1" if letter == "1" else "0" for letter in row).ljust(8 * size, "0")
    return int(bits, 2).to_bytes(size, "big")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def data_uri(png: bytes) -> str:
    """Return a picture as an address that holds it."""
    return "data:image/png;base64," + base64.b64encode(png).decode("ascii")
